"""The rules of `ag.optim`: PyTorch's steps, as functions and in place, differentiable, compiled."""

import math

import numpy as np
import pytest

import arraygrad as ag
from arraygrad import optim
from arraygrad.backends.numpy.native import SMALL, compiler
from arraygrad.func.trees import flatten

CASES = [
    ("SGD", "sgd", {"lr": 0.05}),
    ("SGD", "sgd", {"lr": 0.05, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", "sgd", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", "adam", {"lr": 0.05}),
    ("Adam", "adam", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.1, "betas": (0.8, 0.95)}),
    ("AdamW", "adamw", {"lr": 0.05, "maximize": True}),
    ("NAdam", "nadam", {"lr": 0.05, "weight_decay": 0.1}),
    ("NAdam", "nadam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", "radam", {"lr": 0.05, "weight_decay": 0.1}),
    ("RAdam", "radam", {"lr": 0.05, "betas": (0.9, 0.6)}),
    ("Adamax", "adamax", {"lr": 0.05, "weight_decay": 0.1}),
    ("Adagrad", "adagrad", {"lr": 0.05, "lr_decay": 0.1, "initial_accumulator_value": 0.2}),
    ("Adadelta", "adadelta", {"lr": 0.5, "weight_decay": 0.1}),
    ("RMSprop", "rmsprop", {"lr": 0.05, "weight_decay": 0.1}),
    ("RMSprop", "rmsprop", {"lr": 0.05, "momentum": 0.9, "centered": True}),
    ("Rprop", "rprop", {"lr": 0.05}),
    ("ASGD", "asgd", {"lr": 0.05, "lambd": 0.01, "t0": 20, "weight_decay": 0.1}),
    ("Adafactor", "adafactor", {"lr": 0.05, "weight_decay": 0.1}),
]
NAMES = [f"{native}-{i}" for i, (_, native, _) in enumerate(CASES)]
REAL = [case for case in CASES if case[1] != "adafactor"]


def start(dtype, rng):
    w, b = rng.standard_normal((4, 3)), rng.standard_normal(5)
    if np.dtype(dtype).kind == "c":
        w, b = w + 1j * rng.standard_normal((4, 3)), b + 1j * rng.standard_normal(5)
    return {"w": w.astype(dtype), "b": b.astype(dtype)}


def gradients(params, xp, step=0):
    """Of a convex function of real and imaginary parts, that changes from step to step."""

    def one(p):
        if "complex" in str(p.dtype):
            return one(p.real) + 1j * one(p.imag)
        return p + 0.3 * xp.cos(3 * p) + math.sin(0.7 * step + 0.1)

    return {name: one(p) for name, p in params.items()}


def by_functions(rule, params, steps=100):
    state = rule.init(params)
    for step in range(steps):
        changes, state = rule.update(gradients(params, np, step), state, params)
        params = optim.apply(params, changes)
    return params


def in_place(rule, params, steps=100):
    tensors = {name: ag.tensor(p, requires_grad=True) for name, p in params.items()}
    optimizer = optim.Optimizer(tensors, rule)
    for step in range(steps):
        optimizer.step(gradients({n: p.detach().array for n, p in tensors.items()}, np, step))
    return {name: p.detach().array for name, p in tensors.items()}


@pytest.fixture
def torch():
    """PyTorch, with numbers such as NAdam's product of momenta in double precision."""
    module = pytest.importorskip("torch", minversion="2.12")
    module.set_default_dtype(module.float64)
    yield module
    module.set_default_dtype(module.float32)


@pytest.mark.parametrize("run", [by_functions, in_place])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize(("theirs", "ours", "options"), CASES, ids=NAMES)
def test_a_hundred_steps_are_pytorchs(theirs, ours, options, dtype, run, torch):
    if dtype == "complex128" and ours == "adafactor":
        return  # PyTorch's takes no complex numbers
    params = start(dtype, np.random.default_rng(0))
    expected = {n: torch.tensor(p, requires_grad=True) for n, p in params.items()}
    optimizer = getattr(torch.optim, theirs)(list(expected.values()), **options)
    for step in range(100):
        grads = gradients({n: p.detach() for n, p in expected.items()}, torch, step)
        for name, p in expected.items():
            p.grad = grads[name].to(p.dtype)
        optimizer.step()
    found = run(getattr(optim, ours)(**options), params)
    tolerance = 1e-5 if dtype == "float32" else 1e-11
    for name, p in expected.items():
        assert found[name].dtype == params[name].dtype
        np.testing.assert_allclose(found[name], p.detach().numpy(), tolerance, tolerance)


@pytest.mark.parametrize(("theirs", "ours", "options"), REAL, ids=NAMES[:-1])
def test_blocks_give_what_the_whole_array_gives(theirs, ours, options, monkeypatch):
    params = start("float64", np.random.default_rng(1))
    rule = getattr(optim, ours)(**options)
    whole = in_place(rule, params, 10)
    monkeypatch.setattr("arraygrad.optim.rules.BLOCK", 5)
    for name, p in in_place(rule, params, 10).items():
        np.testing.assert_allclose(p, whole[name], 1e-13)
        np.testing.assert_allclose(by_functions(rule, params, 10)[name], whole[name], 1e-12)


@pytest.mark.skipif(compiler() is None, reason="no native code in eager mode")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("theirs", "ours", "options"), REAL, ids=NAMES[:-1])
def test_one_pass_gives_what_many_give(theirs, ours, options, dtype, by_numpy, monkeypatch):
    """From `SMALL` elements of all together. Gradients are in columns, of another dtype, too."""
    rng = np.random.default_rng(0)
    shapes = [(SMALL,), (7,), (41, 25), (2, 3, 500), (50, 30), (60, 20), (1,), ()]
    apart = []

    def write_by_numpy(self, p, *given, original=optim.rules.Rule._write_by_numpy):
        apart.append(p.shape)
        original(self, p, *given)

    monkeypatch.setattr(optim.rules.Rule, "_write_by_numpy", write_by_numpy)
    params = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    params[4] = np.asfortranarray(params[4])

    def run():
        rule = getattr(optim, ours)(**options)
        tensors = [ag.tensor(p, requires_grad=True) for p in params]
        optimizer = optim.Optimizer(tensors, rule)
        for step in range(5):
            arrays = [p.detach().array for p in tensors]
            grads = [np.cos(3 * a) + math.sin(0.7 * step) for a in arrays]
            grads[2], grads[3] = np.asfortranarray(grads[2]), grads[3].astype("float64")
            optimizer.step(grads)
        return [p.detach().array for p in tensors], optimizer.state

    found, state = run()
    if ours in ("sgd", "adam", "adamw", "rmsprop", "adagrad", "adadelta", "adamax"):
        assert set(apart) <= {(), (2, 3, 500), (50, 30)}
    wanted, other = by_numpy(run)
    close = {"rtol": 2e-4, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-11, "atol": 1e-12}
    for one, another in zip(found, wanted, strict=True):
        assert one.dtype == another.dtype
        np.testing.assert_allclose(one, another, **close)
    for name in state:
        for one, another in zip(flatten(state[name])[0], flatten(other[name])[0], strict=True):
            np.testing.assert_allclose(one, another, **close)


@pytest.mark.skipif(compiler() is None, reason="no native code in eager mode")
def test_few_elements_are_left_to_numpy(by_numpy):
    def run():
        tensors = [ag.tensor(np.linspace(0, 1, n), requires_grad=True) for n in (SMALL - 3, 2)]
        optimizer = optim.Optimizer(tensors, optim.adam(0.1))
        for _ in range(3):
            optimizer.step([np.cos(p.detach().array) for p in tensors])
        return [p.detach().array for p in tensors]

    for found, wanted in zip(run(), by_numpy(run), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_lion_by_hand():
    rule = optim.lion(0.1, weight_decay=0.5)
    p, mean = np.array([1.0, -2.0]), np.zeros(2)
    state = rule.init(p)
    expected = p
    for g in (np.array([1.0, -1.0]), np.array([-3.0, 2.0]), np.array([0.5, 0.5])):
        change, state = rule.update(g, state, p)
        p = p + change
        direction = np.sign(0.9 * mean + 0.1 * g)
        mean = 0.99 * mean + 0.01 * g
        expected = expected - 0.1 * (direction + 0.5 * expected)
    np.testing.assert_allclose(p, expected, 1e-14)


def test_sgd_on_a_parabola_is_a_power():
    """Without PyTorch: gradient descent on x²/2 multiplies by 1 - lr."""
    x = ag.tensor(np.ones(3), requires_grad=True)
    optimizer = optim.Optimizer([x], optim.sgd(0.1))
    for _ in range(100):
        optimizer.zero_grad()
        (x**2 / 2).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(x.detach().array, 0.9**100 * np.ones(3), 1e-12)


def test_adam_of_a_constant_gradient_goes_in_steps_of_the_rate():
    found = optim.adam(0.1, eps=0.0)
    p, state = np.zeros(2), found.init(np.zeros(2))
    for _ in range(100):
        change, state = found.update(np.array([2.0, -5.0]), state, p)
        p = p + change
    np.testing.assert_allclose(p, [-10.0, 10.0], 1e-12)


def test_nothing_is_written_by_functions():
    params = start("float64", np.random.default_rng(2))
    before = {name: p.copy() for name, p in params.items()}
    for _, name, options in CASES:
        rule = getattr(optim, name)(**options)
        state = rule.init(params)
        _, state = rule.update(gradients(params, np), state, params)
        kept = {
            n: v if n == "step" else {k: np.copy(a) for k, a in v.items() if a is not None}
            for n, v in state.items()
        }
        rule.update(gradients(params, np), state, params)
        for slot, tree in kept.items():
            if slot != "step":
                for key, array in tree.items():
                    np.testing.assert_array_equal(state[slot][key], array)
    for name, p in params.items():
        np.testing.assert_array_equal(p, before[name])


@pytest.mark.parametrize(
    ("theirs", "ours", "options"),
    [case for case in REAL if case[1] not in ("rprop",)],
    ids=[name for name in NAMES[:-1] if "rprop" not in name],
)
def test_steps_can_be_differentiated(theirs, ours, options):
    """The result of three steps, with respect to the learning rate and to the start."""

    def train(lr, p):
        rule = getattr(optim, ours)(**{**options, "lr": lr})
        state = rule.init(p)
        for _ in range(3):
            change, state = rule.update(3 * ag.cos(3 * p) + p, state, p)
            p = p + change
        return (p**2).sum()

    lr = ag.tensor(0.05, dtype=ag.float64, requires_grad=True)
    p = ag.tensor(np.random.default_rng(3).standard_normal(4), requires_grad=True)
    assert ag.testing.gradcheck(train, (lr, p))


def test_batches_of_parameters():
    rule = optim.adam(0.1)
    params = np.random.default_rng(4).standard_normal((5, 3))

    def train(p):
        state = rule.init(p)
        for _ in range(3):
            change, state = rule.update(p**3, state, p)
            p = p + change
        return p

    found = ag.func.vmap(train)(params)
    np.testing.assert_allclose(found, np.stack([train(p) for p in params]), 1e-13)


@pytest.mark.parametrize("name", ["sgd", "adam", "nadam", "radam", "asgd", "adafactor"])
def test_a_compiled_step_counts_on(name):
    rule = getattr(optim, name)(optim.cosine(0.1, 8))
    params = {"w": np.random.default_rng(5).standard_normal((4, 3))}

    def step(params, state):
        changes, state = rule.update({"w": params["w"] ** 3}, state, params)
        return optim.apply(params, changes), state

    compiled, ours, state = ag.compile(step), params, rule.init(params)
    theirs, other = params, rule.init(params)
    for _ in range(6):
        ours, state = compiled(ours, state)
        theirs, other = step(theirs, other)
    assert int(state["step"]) == 6
    np.testing.assert_allclose(ours["w"], theirs["w"], 1e-10)


@pytest.mark.parametrize("library", ["torch", "jax.numpy", "array_api_strict"])
def test_other_libraries(library):
    xp = pytest.importorskip(library)
    if library == "jax.numpy":
        kind = xp.float32
    else:
        kind = xp.float64
    p = np.random.default_rng(6).standard_normal((4, 3))
    for name in ("sgd", "adam", "radam", "rprop", "adafactor"):
        rule = getattr(optim, name)(0.1)
        theirs = xp.asarray(p, dtype=kind)
        ours, states = p, [rule.init(p), rule.init(theirs)]
        for _ in range(3):
            change, states[0] = rule.update(ours, states[0], ours)
            ours = ours + change
            change, states[1] = rule.update(theirs, states[1], theirs)
            theirs = theirs + change
        assert theirs.dtype == kind
        np.testing.assert_allclose(np.asarray(theirs), ours, 1e-5, 1e-6)


def test_a_tensor_over_another_library_is_written():
    jnp = pytest.importorskip("jax.numpy")
    x = ag.tensor(jnp.ones(3), requires_grad=True)
    optimizer = optim.Optimizer(x, optim.sgd(0.5))
    optimizer.step(ag.grad((x**2).sum(), x))
    assert x.detach().tolist() == [0.0, 0.0, 0.0]


def test_a_graph_from_before_a_step_is_refused():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    y = (x**2).sum()
    optim.Optimizer(x, optim.sgd(0.5)).step(np.ones(2))
    with pytest.raises(RuntimeError, match="increment_version"):
        ag.grad(y, x)


def test_errors():
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        optim.adam(-1)
    with pytest.raises(ValueError, match="Invalid beta parameter at index 1"):
        optim.adam(betas=(0.9, 1.0))
    with pytest.raises(ValueError, match="Nesterov"):
        optim.sgd(nesterov=True)
    with pytest.raises(TypeError, match="number 0 must be a leaf"):
        optim.Optimizer([np.ones(2)], optim.sgd())
    with pytest.raises(TypeError, match="transform must be one"):
        optim.Optimizer(ag.tensor([1.0], requires_grad=True), "adam")
    x = ag.tensor([1.0], requires_grad=True)
    with pytest.raises(ValueError, match="number 0 has no gradient"):
        optim.Optimizer(x, optim.sgd()).step()
    with pytest.raises(ValueError, match="grads has 2 arrays for 1 tensors"):
        optim.Optimizer(x, optim.sgd()).step([np.ones(1)] * 2)
    with pytest.raises(ValueError, match="params has a tensor twice"):
        optim.Optimizer({"a": x, "b": x}, optim.sgd())
    row = ag.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(ValueError, match=r"number 0 has shape \(1,\) for parameters of shape \(2"):
        optim.Optimizer(row, optim.sgd()).step(np.ones(1))
    rule = optim.adam()
    with pytest.raises(ValueError, match=r"number 0 has shape \(\) for"):
        rule.update([np.ones(())], rule.init([np.ones(2)]), [np.ones(2)])
    with pytest.raises(ValueError, match="structure of grads"):
        rule.update([np.ones(1)], rule.init([np.ones(1)]), {"a": np.ones(1)})
    with pytest.raises(ValueError, match="belongs to 2 arrays"):
        rule.update([np.ones(1)], rule.init([np.ones(1)] * 2))
    with pytest.raises(ValueError, match="no arrays"):
        rule.init({})
    with pytest.raises(TypeError, match=r"params\['w'\] has dtype int64: only floating-point"):
        rule.init({"w": np.ones(2, int)})
    with pytest.raises(TypeError, match=r"params\[0\] is of type str"):
        rule.init(["w"])
    for rule in (optim.adamw(), optim.sgd(weight_decay=0.1), optim.asgd(), optim.adafactor()):
        with pytest.raises(ValueError, match=r"needs the parameters: update\(grads, state, params"):
            rule.update(np.ones(2), rule.init(np.ones(2)))
    x, state = np.ones(2), optim.adam().init(np.ones(2))
    for wrong in (None, {}, optim.sgd().init(x), {**state, "more": x}, x):
        with pytest.raises(ValueError, match=r"state must be what init\(\)"):
            optim.adam().update(x, wrong, x)
    for call in (
        lambda: optim.adam().update("a", state, x),
        lambda: optim.Optimizer(ag.tensor(x, requires_grad=True), optim.adam()).step("a"),
    ):
        with pytest.raises(TypeError, match="grads: number 0 must be an array, not str"):
            call()
    for wrong in (3, "a", optim.adam):
        with pytest.raises(TypeError, match="transform must be one, such as adam"):
            optim.chain(wrong)
    for call in (
        optim.apply,
        lambda p, u: optim.ema(p, u, 0.5),
        lambda p, u: optim.average(p, u, 1),
    ):
        with pytest.raises(ValueError, match=r"number 0 has shape \(3, 1\) for .* of shape \(3,\)"):
            call(np.ones(3), np.ones((3, 1)))
    with pytest.raises(TypeError, match="steps must be a number, not 'a'"):
        optim.linear(0.0, 0.1, "a")
    with pytest.raises(ValueError, match="at least one schedule"):
        optim.join([], [])
    with pytest.raises(TypeError, match=r"params\['a'\] is of type str"):
        optim.lbfgs(lambda p: p["a"], {"a": "b"})
    found, _ = optim.lbfgs(lambda p: (p["a"] - 1) ** 2, {"a": 2.0})
    assert abs(found["a"] - 1) < 1e-6
    for wrong in (lambda: optim.adam("a"), lambda: optim.sgd(None), lambda: optim.lion("a")):
        with pytest.raises(TypeError, match="lr must be a number, not"):
            wrong()
    with pytest.raises(TypeError, match="weight_decay must be a number, not 'a'"):
        optim.adamw(weight_decay="a")
    with pytest.raises(TypeError, match=r"betas must be a pair of numbers, not 0\.9"):
        optim.adam(betas=0.9)
    with pytest.raises(TypeError, match="max_norm must be a number, not 'a'"):
        optim.clip_by_norm("a")


def test_chains_clipping_and_decay():
    rule = optim.chain(optim.clip_by_norm(1.0), optim.decay_weights(0.5), optim.sgd(0.1))
    params = [np.array([1.0, 2.0])]
    x = [ag.tensor(params[0], requires_grad=True)]
    state, optimizer = rule.init(params), optim.Optimizer(x, rule)
    for _ in range(3):
        g = [np.array([30.0, 40.0])]
        optimizer.step(g)
        changes, state = rule.update(g, state, params)
        params = optim.apply(params, changes)
    np.testing.assert_allclose(x[0].detach().array, params[0], 1e-14)
    clip = optim.clip_by_value(1.0)
    assert clip.update(np.array([-3.0, 0.5]), ())[0].tolist() == [-1.0, 0.5]
    assert optim.scale(2.0).update([np.ones(1)], ())[0][0] == 2
    small = optim.clip_by_norm(10.0).update(np.array([3.0, 4.0]), ())[0]
    assert small.tolist() == [3.0, 4.0]
    assert float(optim.norm([np.array([-3.0]), np.array([2.0])], ord=np.inf)) == 3
    with pytest.raises(ValueError, match="update\\(grads, state, params\\)"):
        optim.decay_weights(0.1).update(np.ones(2), ())


def test_averages():
    values = [np.array([1.0]), np.array([4.0]), np.array([7.0])]
    mean = values[0]
    for i, value in enumerate(values[1:], 1):
        mean = optim.average(mean, value, i)
    assert mean.tolist() == [4.0]
    assert optim.ema({"a": values[0]}, {"a": values[1]}, 0.5)["a"].tolist() == [2.5]
    with pytest.raises(ValueError, match="decay"):
        optim.ema(values[0], values[1], 2.0)


def test_the_state_of_an_optimizer_can_be_saved(tmp_path):
    def made():
        x = ag.tensor([1.0, 2.0], requires_grad=True)
        return x, optim.Optimizer(x, optim.nadam(0.1))

    (x, first), (y, second) = made(), made()
    for _ in range(3):
        first.step(np.ones(2))
    ag.save({"x": x, "state": first.state}, tmp_path / "file.npz")
    read = ag.load(tmp_path / "file.npz")
    second.state = read["state"]
    with ag.no_grad():
        y.copy_(read["x"])
    first.step(np.ones(2))
    second.step(np.ones(2))
    assert x.tolist() == y.tolist()


def test_one_pass_follows_options_that_change(by_numpy):
    """The native function is the same one for all steps: what a scheduler changes, it is given."""
    changes = [
        {},
        {"lr": 0.5},
        {"weight_decay": 0.0},
        {"lr": 0.1, "eps": 0.3},
        {"betas": (0.5, 0.6)},
    ]

    def run():
        betas = [0.9, 0.99]  # which is written between the steps
        rule = optim.adamw(0.2, betas, weight_decay=0.1)
        p, slots = np.linspace(-1, 1, SMALL), {}
        slots.update(rule.slots_of(p))
        for step, options in enumerate(changes * 2):
            rule.write_arrays([(p, np.cos(3 * p), slots)], step + 1, options)
            betas[0] -= 0.1 * (step % 3)
        return p

    np.testing.assert_allclose(run(), by_numpy(run), 1e-12)
