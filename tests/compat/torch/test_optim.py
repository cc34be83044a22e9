"""`torch.optim` beside PyTorch's own: steps, groups, states, and schedules that work together."""

import copy
import inspect
import io

import numpy as np
import pytest

from arraygrad.compat import torch as ours

torch = pytest.importorskip("torch", minversion="2.12")

OPTIMISERS = [
    ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "foreach": False}),
    ("AdamW", {"lr": 0.1, "maximize": True}),
    ("NAdam", {"lr": 0.1}),
    ("RAdam", {"lr": 0.1, "differentiable": False, "capturable": False}),
    ("Adamax", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1}),
    ("Adadelta", {}),
    ("RMSprop", {"lr": 0.1, "centered": True, "momentum": 0.5}),
    ("Rprop", {"lr": 0.1}),
    ("ASGD", {"lr": 0.1, "t0": 3.0}),
    ("Adafactor", {"lr": 0.1}),
    ("LBFGS", {"lr": 0.5, "line_search_fn": "strong_wolfe", "max_iter": 4}),
]


def trained(lib, name, options, start, steps=10, state=None):
    p = lib.tensor(start, requires_grad=True)
    optimizer = getattr(lib.optim, name)([p], **options)
    if state is not None:
        optimizer.load_state_dict(state)

    def closure():
        optimizer.zero_grad()
        loss = ((p * p.conj()).real ** 2 / 4).sum() + (p.real * 0.3).sum()
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    return p, optimizer


@pytest.mark.parametrize("kind", ["float64", "complex128"])
@pytest.mark.parametrize(("name", "options"), OPTIMISERS, ids=[n for n, _ in OPTIMISERS])
def test_steps_are_pytorchs(name, options, kind):
    if kind == "complex128" and name == "Adafactor":
        return  # PyTorch's takes no complex numbers
    rng = np.random.default_rng(0)
    start = rng.standard_normal((3, 2))
    if kind == "complex128":
        start = start + 1j * rng.standard_normal((3, 2))
    found, theirs = (trained(lib, name, options, start)[0] for lib in (ours, torch))
    np.testing.assert_allclose(found.detach().numpy(), theirs.detach().numpy(), 1e-6, 1e-8)


@pytest.mark.parametrize(("name", "options"), OPTIMISERS[:-1], ids=[n for n, _ in OPTIMISERS[:-1]])
def test_a_checkpoint_of_pytorch_is_gone_on_from(name, options):
    start = np.random.default_rng(1).standard_normal((3, 2))
    p, optimizer = trained(torch, name, options, start, 5)
    file = io.BytesIO()
    torch.save({"p": p.detach(), "state": optimizer.state_dict()}, file)
    file.seek(0)
    read = ours.load(file)
    found, _ = trained(ours, name, options, read["p"].numpy(), 5, read["state"])
    whole, _ = trained(torch, name, options, start, 10)
    np.testing.assert_allclose(found.detach().numpy(), whole.detach().numpy(), 1e-6, 1e-8)


def test_a_state_that_does_not_fit_is_refused_and_changes_nothing():
    p, q = ours.ones(2, requires_grad=True), ours.ones(3, requires_grad=True)
    source = ours.optim.Adam([p], lr=0.5)
    p.sum().backward()
    source.step()
    one = source.state_dict()
    for target, word in [
        (ours.optim.Adam([q], lr=0.1), "shape"),
        (ours.optim.Adam([q, p], lr=0.1), "size of"),
        (ours.optim.Adam([{"params": [q]}, {"params": [p]}], lr=0.1), "number of parameter groups"),
    ]:
        with pytest.raises(ValueError, match=word):
            target.load_state_dict(one)
        assert target.param_groups[0]["lr"] == 0.1
        assert not target.state


def test_groups_are_checked():
    p = ours.ones(2, requires_grad=True)
    optimizer = ours.optim.SGD([("weight", p)], lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight"]
    for wrong, kind in [({"params": [p]}, ValueError), ({"params": [p * 2]}, ValueError),
                        ({"params": [3]}, TypeError), ({"params": {p}}, TypeError)]:  # fmt: skip
        with pytest.raises(kind):
            optimizer.add_param_group(wrong)
    with pytest.raises(TypeError, match="iterable"):
        ours.optim.SGD(p)
    with pytest.raises(ValueError, match="Invalid learning rate"):
        ours.optim.Adam([p], lr=-1.0)
    with pytest.raises(TypeError, match="no_such"):
        ours.optim.Adam([p], no_such=1)
    assert "lr: 0.1" in repr(optimizer)
    assert "fused" in inspect.signature(ours.optim.AdamW).parameters  # programs ask for it


def test_hooks_and_subclasses():
    p, seen = ours.ones(2, requires_grad=True), []

    class Plain(ours.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @ours.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p]["n"] = self.state[p].get("n", 0) + 1
                    p -= group["lr"] * p.grad

    p.sum().backward()
    mine = Plain([p], 0.5)
    mine.step()
    assert p.tolist() == [0.5, 0.5]
    assert mine.state_dict()["state"] == {0: {"n": 1}}
    sgd = ours.optim.SGD([p], lr=0.5)
    sgd.register_step_pre_hook(lambda *args: seen.append("pre"))
    handle = sgd.register_step_post_hook(lambda *args: seen.append("post"))
    sgd.step()
    handle.remove()
    sgd.step()
    assert seen == ["pre", "post", "pre"]


def test_a_differentiable_step():
    start, lr = (ours.tensor(v, requires_grad=True) for v in ([1.0, 2.0], 0.1))
    p = start.clone()
    p.retain_grad()
    optimizer = ours.optim.SGD([p], lr=lr, differentiable=True)
    p.grad = (3 * start).clone()
    optimizer.step()
    found = ours.autograd.grad(p.sum(), [start, lr])
    np.testing.assert_allclose(found[0].numpy(), [0.7, 0.7], 1e-6)
    np.testing.assert_allclose(found[1].item(), -9.0, 1e-6)


SCHEDULES = {
    "StepLR": lambda s, o: s.StepLR(o, 3, 0.5),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 5, 5], 0.5),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.5, 4),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.1, 0.8, 6),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 8, 2.0),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda e: 1 / (1 + e)),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.9),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 4, 0.01),
    "CosineAnnealingWarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, 2, mode="triangular2"),
    "CyclicLR-exp": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, mode="exp_range", gamma=0.9),
    "CyclicLR-own": lambda s, o: s.CyclicLR(o, 0.1, 1.0, 3, scale_fn=lambda x: 1 / x),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 1.0, total_steps=13),
    "OneCycleLR-three": lambda s, o: s.OneCycleLR(
        o, 1.0, epochs=2, steps_per_epoch=7, three_phase=True, anneal_strategy="linear"
    ),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)], [3]
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.1, 3), s.ExponentialLR(o, 0.9)]
    ),
}


def started(lib, rate=0.5):
    p, q = (lib.ones(1, requires_grad=True) for _ in range(2))
    return lib.optim.SGD([{"params": [p]}, {"params": [q], "lr": 2 * rate}], lr=rate, momentum=0.3)


def rates(lib, make, change=None, steps=13):
    optimizer = started(lib)
    schedule = make(lib.optim.lr_scheduler, optimizer)
    found = []
    for i in range(steps):
        found.append([g[k] for g in optimizer.param_groups for k in ("lr", "momentum")])
        assert schedule.get_last_lr() == [g["lr"] for g in optimizer.param_groups]
        optimizer.step()
        schedule.step()
        if change == i:
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
            schedule._last_lr = [g["lr"] for g in optimizer.param_groups]
    return found


@pytest.mark.parametrize("change", [None, 5])
@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_are_pytorchs(name, change):
    """Also after a rate was set by hand."""
    found, theirs = (rates(lib, SCHEDULES[name], change) for lib in (ours, torch))
    np.testing.assert_allclose(found, theirs, 1e-12, 1e-14)


def test_two_schedules_on_one_optimiser():
    def run(lib):
        optimizer = started(lib)
        both = [
            lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.9),
            lib.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 5),
            lib.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6),
        ]
        found = []
        for _ in range(9):
            optimizer.step()
            for schedule in both:
                schedule.step()
            found.append([g["lr"] for g in optimizer.param_groups])
        return found

    np.testing.assert_allclose(run(ours), run(torch), 1e-12, 1e-14)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_a_closure_of_lbfgs_may_keep_parameters_within_bounds(search):
    """As the transfer of style does with the values of its picture."""
    found = []
    for lib in (ours, torch):
        x = lib.tensor([3.0, -2.5, 0.5, 1.0], dtype=lib.float64, requires_grad=True)
        target = lib.tensor([1.5, -4.0, 0.2, 2.5], dtype=lib.float64)
        optimizer = lib.optim.LBFGS([x], lr=0.7, max_iter=4, line_search_fn=search)

        def closure(lib=lib, x=x, target=target, optimizer=optimizer):
            with lib.no_grad():
                x.clamp_(-2, 2)
            optimizer.zero_grad()
            loss = ((x - target) ** 4).sum() + (x.sum() - 1) ** 2
            loss.backward()
            return loss

        losses = [float(optimizer.step(closure).detach()) for _ in range(3)]
        found.append([*losses, *x.detach().tolist()])
    np.testing.assert_allclose(*found, 1e-9)


@pytest.mark.filterwarnings("ignore:Detected call of")
@pytest.mark.parametrize("saver", [ours, torch])
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_goes_on_from_the_state_of_the_other_library(name, saver):
    loader = torch if saver is ours else ours
    first, second = started(saver), started(loader)
    schedule = SCHEDULES[name](saver.optim.lr_scheduler, first)
    for _ in range(4):
        schedule.step()
    other = SCHEDULES[name](loader.optim.lr_scheduler, second)
    second.load_state_dict(first.state_dict())
    other.load_state_dict(copy.deepcopy(schedule.state_dict()))
    for _ in range(4):
        schedule.step()
        other.step()
        found, wanted = ([g["lr"] for g in o.param_groups] for o in (second, first))
        np.testing.assert_allclose(found, wanted, 1e-12, 1e-14)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_goes_on_from_its_state(name):
    optimizer = started(ours)
    schedule = SCHEDULES[name](ours.optim.lr_scheduler, optimizer)
    for _ in range(4):
        schedule.step()
    state, held = copy.deepcopy(schedule.state_dict()), copy.deepcopy(optimizer.state_dict())
    for _ in range(4):
        schedule.step()
    other = started(ours)
    again = SCHEDULES[name](ours.optim.lr_scheduler, other)
    other.load_state_dict(held)
    again.load_state_dict(state)
    for _ in range(4):
        again.step()
    assert [g["lr"] for g in other.param_groups] == [g["lr"] for g in optimizer.param_groups]


@pytest.mark.parametrize("name", ["StepLR", "CosineAnnealingLR", "LinearLR", "OneCycleLR"])
def test_an_epoch_can_be_given(name):
    def run(lib):
        optimizer = started(lib)
        schedule = SCHEDULES[name](lib.optim.lr_scheduler, optimizer)
        optimizer.step()
        found = []
        for epoch in (3, 7, 2):
            schedule.step(epoch)
            found.append([g["lr"] for g in optimizer.param_groups])
        return found

    with pytest.warns(UserWarning, match="epoch"):
        theirs = run(torch)
    np.testing.assert_allclose(run(ours), theirs, 1e-12)


def test_resuming_by_last_epoch():
    def run(lib):
        optimizer = started(lib)
        first = lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        for _ in range(3):
            optimizer.step()
            first.step()
        second = lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.9, last_epoch=3)
        optimizer.step()
        second.step()
        return [g["lr"] for g in optimizer.param_groups]

    np.testing.assert_allclose(run(ours), run(torch), 1e-12)
    with pytest.raises(KeyError, match="initial_lr"):
        ours.optim.lr_scheduler.ExponentialLR(started(ours), 0.9, last_epoch=3)


def test_a_schedule_of_a_user():
    class Halves(ours.optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            return [base / 2**self.last_epoch for base in self.base_lrs]

    optimizer = started(ours)
    schedule = Halves(optimizer)
    schedule.step()
    assert schedule.get_last_lr() == [0.25, 0.5]


def test_one_cycle_allows_as_many_steps_as_it_says():
    for lib in (ours, torch):
        optimizer = started(lib)
        schedule = lib.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=4)
        for _ in range(4):
            optimizer.step()
            schedule.step()
        with pytest.raises(ValueError, match="Tried to step 5 times"):
            schedule.step()


def test_plateaus():
    def run(lib):
        optimizer = started(lib)
        schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer, patience=1, cooldown=1, factor=0.5, min_lr=[0.2, 0.1]
        )
        found = []
        for value in (3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0):
            schedule.step(lib.tensor(value))
            found.append(schedule.get_last_lr())
        return found

    np.testing.assert_allclose(run(ours), run(torch), 1e-12)


def test_a_parameter_given_twice_warns():
    p = ours.nn.Parameter(ours.ones(1))
    with pytest.warns(UserWarning, match="a parameter group with duplicate parameters"):
        ours.optim.SGD([p, p], lr=0.1)
