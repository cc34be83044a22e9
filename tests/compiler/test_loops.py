"""Loops and choices in compiled functions: they compute what they do eagerly, as one step."""

from __future__ import annotations

import functools
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from frames import frames
from loops_table import DIRECTION, LOOPS, POINT, TRANSFORMS, Function, chosen, close, grown, scanned
from rows import crossed, over, rotated

import arraygrad as ag
from arraygrad.compiler.run import loop_steps, small_loops
from arraygrad.errors import DataDependentError
from arraygrad.func import associative_scan, cond, fori_loop, scan, vmap, while_loop

rng = np.random.default_rng(0)
FUNCTIONS: dict[str, Function] = {name: pair[0] for name, pair in LOOPS.items()}
FUNCTIONS["while_loop"] = grown
FUNCTIONS["cond, not taken"] = lambda x: chosen(-x)
FUNCTIONS["scan of scans"] = lambda x: ag.sum(
    scan(
        lambda s, a: (scan(lambda t, b: (ag.sin(t * b) + x, None), s, a)[0], s * 2),
        x,
        np.linspace(-1, 1, 12).reshape(4, 3),
    )[1]
)
FUNCTIONS["choice in a loop"] = lambda x: fori_loop(
    0, 5, lambda i, s: cond(i % 2 == 0, lambda s: s * ag.sum(x), lambda s: ag.exp(s) - i, s), x[0]
)
FUNCTIONS["associative_scan"] = lambda x: ag.sum(associative_scan(ag.multiply, x) ** 2)


FEW = ("value", "grad", "grad of grad")
CASES = [
    (name, transform)
    for name in FUNCTIONS
    for transform in (FEW if "memory" in name or "reversed" in name else TRANSFORMS)
]


@over("name, transform", rotated(CASES))
def test_compiled_as_eager(name: str, transform: str) -> None:
    """The transform of a loop, compiled."""
    function = TRANSFORMS[transform](FUNCTIONS[name])
    close(ag.compile(function)(POINT), function(POINT), rtol=1e-9)


@crossed(
    name=["scan", "scan of captured arrays", "while_loop", "cond"],
    transform=["grad", "hessian", "jvp", "tensor"],
)
def test_a_compiled_loop_is_transformed(name: str, transform: str) -> None:
    """The transform of a compiled loop."""
    make, function = TRANSFORMS[transform], FUNCTIONS[name]
    close(make(ag.compile(function))(POINT), make(function)(POINT), rtol=1e-9)


@crossed(
    name=["scan", "while_loop", "cond", "scan with little memory"],
    transform=["value", "grad", "hessian"],
)
def test_a_batch(name: str, transform: str) -> None:
    rows = np.array([POINT, -POINT, 3 * POINT])
    one = TRANSFORMS[transform](FUNCTIONS[name])
    close(ag.compile(vmap(one))(rows), vmap(one)(rows), rtol=1e-9)
    total = ag.func.grad(lambda rows: ag.sum(vmap(FUNCTIONS[name])(rows) ** 2))
    close(ag.compile(total)(rows), total(rows), rtol=1e-9)


def test_a_batch_of_elements_and_of_one_branch() -> None:
    def last(xs: Any) -> Any:
        return scan(lambda s, x: (s * 0.5 + x, s), np.zeros(2), xs, reverse=True)

    batch = rng.normal(size=(4, 6, 2))
    close(ag.compile(vmap(last))(batch), vmap(last)(batch))

    def either(flag: Any, rows: Any) -> Any:
        return vmap(lambda row: cond(flag, lambda: (row * 2, 0.0), lambda: (row, row[0])))(rows)

    for flag in (np.array(True), np.array(False)):
        close(ag.compile(either)(flag, batch[0]), either(flag, batch[0]))


def test_members_that_have_ended_stay_finite() -> None:
    def countdown(x: Any) -> Any:
        return while_loop(lambda s: s[0] > 0, lambda s: (s[0] - 1, s[1] / s[0]), (x, x))[1]

    starts = np.array([1.0, 4.0, 2.0, 0.0])
    function = vmap(ag.func.value_and_grad(countdown))
    close(ag.compile(function)(starts), function(starts))
    summed = ag.func.grad(lambda x: ag.sum(vmap(countdown)(x)))
    close(ag.compile(summed)(starts), summed(starts))


# What is only defined where it is run: its value or derivative is infinite, or it raises an error.
NOT_RUN: dict[str, Function] = {
    "an operand": lambda x: cond(x > 0, ag.log, lambda x: 3 * x, x),
    "a variable": lambda x: cond(x > 0, lambda: ag.log(x), lambda: 3 * x),
    "a default": lambda x: cond(x > 0, lambda y=x: ag.log(y), lambda *, y=x: 3 * y),
    "a structure": lambda x: cond(
        x > 0, lambda d: ag.log(d["x"][0]), lambda d: 3 * d["x"][0], {"x": (x, 1)}
    ),
    "a matrix": lambda x: cond(x > 0, lambda: ag.sum(ag.linalg.inv(x * ag.eye(2))), lambda: 3 * x),
    "no steps": lambda x: while_loop(lambda s: s < 0, lambda s: s + ag.log(x), 3 * x),
    "no elements": lambda x: scan(lambda s, _: (s + ag.log(x), s), 3 * x, length=0)[0],
    "a choice in a loop": lambda x: fori_loop(
        0, 3, lambda i, s: cond(x > 0, lambda: s + ag.log(x), lambda: s + x), x * 0
    ),
}


def _through_others(x: Any) -> Any:
    variables = {"x": [x, 2.0]}

    def inner() -> Any:
        return ag.log(variables["x"][0])

    partly = functools.partial(lambda f: f(), inner)
    return cond(x > 0, lambda: partly(), lambda: variables["x"][0] * 3)


class _Model:
    def __init__(self, x: Any) -> None:
        self.x = x

    def log(self) -> Any:
        return ag.log(self.x)

    def tripled(self) -> Any:
        return 3 * self.x


def _by_attributes(x: Any) -> Any:
    model = _Model(x)
    return cond(x > 0, lambda: ag.log(model.x), lambda: 3 * model.x)


def _by_methods(x: Any) -> Any:
    model = _Model(x)
    return cond(x > 0, model.log, model.tripled)


def _by_class(x: Any) -> Any:
    class Held:
        scale = x

    return cond(x > 0, lambda: ag.log(Held.scale), lambda: 3 * Held.scale)


def _in_loops_and_choices(x: Any) -> Any:
    model = _Model(x)

    def step(i: Any, s: Any) -> Any:
        return s + cond(model.x > 5, lambda: ag.log(model.x - 5), lambda: model.x)

    return cond(x > 0, lambda: cond(model.x > 5, model.log, model.log), lambda: 3 * x) + cond(
        x > 0, model.log, lambda: fori_loop(0, 3, step, 0 * x) - 3 * model.x
    )


NOT_RUN |= {
    "variables of other functions": _through_others,
    "attributes": _by_attributes,
    "methods": _by_methods,
    "a class": _by_class,
    "loops and choices": _in_loops_and_choices,
}


@pytest.mark.parametrize("name", NOT_RUN)
def test_what_is_not_run_does_not_matter(name: str) -> None:
    f = NOT_RUN[name]
    zero = np.array(0.0)
    value, slope = ag.compile(ag.func.value_and_grad(f))(zero)
    np.testing.assert_allclose((value, slope), (0, 3))
    np.testing.assert_allclose(ag.compile(lambda x: ag.func.jvp(f, (x,), (x + 1,))[1])(zero), 3)
    np.testing.assert_allclose(ag.compile(ag.func.grad(ag.func.grad(f)))(zero), 0)
    np.testing.assert_allclose(ag.func.grad(ag.compile(f))(zero), 3)
    both = vmap(lambda s, x: ag.func.grad(lambda y: s * f(y))(x), in_axes=(0, None))
    np.testing.assert_allclose(ag.compile(both)(np.array([1.0, 2.0]), zero), [3, 6])
    of_batch = ag.func.grad(lambda s, x: ag.sum(vmap(lambda t: t * f(x))(s)), argnums=1)
    np.testing.assert_allclose(ag.compile(of_batch)(np.array([1.0, 2.0]), zero), 9)
    one = np.array(1.0)
    np.testing.assert_allclose(ag.compile(ag.func.grad(f))(one), ag.func.grad(f)(one))


def _set(y: Any) -> None:
    y[0] = 1.0


def _set_in_view(y: Any) -> None:
    y[1:][0] = 1.0


def _add(y: Any) -> None:
    y += 1.0


TRANSFORMED: dict[str, Callable[[Any], Any]] = {
    "the function": lambda f: f,
    "grad": lambda f: ag.func.grad(lambda x: ag.sum(f(x))),
    "jvp": lambda f: lambda x: ag.func.jvp(f, (x,), (x,)),
    "vmap": lambda f: lambda x: vmap(f)(ag.stack([x, x])),
    "vmap of grad": lambda f: lambda x: vmap(ag.func.grad(lambda x: ag.sum(f(x))))(x[None]),
}


@pytest.mark.parametrize("transform", TRANSFORMED)
@pytest.mark.parametrize("write", [_set, _set_in_view, _add])
def test_a_branch_cannot_write_to_arrays_from_outside(write: Any, transform: str) -> None:
    def f(x: Any) -> Any:
        model = _Model(x * 2)

        def branch() -> Any:
            write(model.x)
            return model.x

        return cond(x[0] > 0, branch, lambda: x)

    with pytest.raises(TypeError, match="writes to an array from outside"):
        ag.compile(TRANSFORMED[transform](f))(np.ones(3))


# --- what the program is ---


def test_a_loop_is_one_value_of_the_program() -> None:
    def program(steps: int) -> str:
        f = ag.func.grad(lambda x: scan(lambda s, _: (ag.sin(s) * x, None), x, length=steps)[0])
        return ag.compile(f).program(np.array(1.0)).replace(f"{steps}", "N")

    assert program(77) == program(1234)
    assert program(77).count("scan(") == 2


def test_compiling_takes_no_more_calls_with_more_steps() -> None:
    def calls(steps: int) -> int:
        f = ag.compile(ag.func.grad(lambda x: scan(lambda s, _: (s * x, s), x, length=steps)[0]))
        return frames(lambda: f(np.array(0.5)))[0]

    calls(10)
    assert calls(100_000) < 1.5 * calls(20)


def test_steps_of_small_arrays_run_without_python() -> None:
    """A million steps of a few numbers, with their gradient."""

    def f(x: Any) -> Any:
        return ag.sum(scan(lambda s, _: (s + 1e-7 * ag.sin(s), None), x, length=1_000_000)[0])

    compiled = ag.compile(ag.func.value_and_grad(f))
    x = np.array([0.1, 0.2])
    for _ in range(2):  # the second call makes the native entry point
        compiled(x)
    calls, (value, gradient) = frames(lambda: compiled(x))
    assert calls < 100
    exact = 2 * np.arctan(np.tan(x / 2) * np.exp(0.1))
    np.testing.assert_allclose(value, exact.sum(), rtol=1e-6)
    np.testing.assert_allclose(gradient, np.sin(exact) / np.sin(x), rtol=1e-6)


def test_results_that_nobody_uses_are_not_computed() -> None:
    calls = []

    @ag.func.custom(vjp=lambda g: g)
    def noted(x: Any) -> Any:
        calls.append(None)
        return np.array(x)

    def f(x: Any) -> Any:
        state, _ = scan(lambda s, _: ((s[0] * 2, noted(s[1])), noted(s[0])), (x, x), length=5)
        return state[0]

    compiled = ag.compile(f)
    assert compiled(np.array(1.0)) == 32
    calls.clear()
    assert compiled(np.array(2.0)) == 64
    assert not calls


def test_a_loop_by_numpy_s_kernels() -> None:
    """Solving, complex numbers, long products: steps that are not native."""
    a = rng.normal(size=(3, 3)) + 4 * np.eye(3)

    def f(x: Any) -> Any:
        state, ys = scan(
            lambda s, row: ((ag.linalg.solve(a, s[0] + row), s[1] * 1j + s[0]), s[0]),
            (x, x + 0j),
            np.ones((4, 3)),
        )
        return ag.sum(ys) + ag.sum(ag.abs(state[1]) ** 2)

    for function in (f, ag.func.grad(f), ag.func.grad(lambda x: ag.sum(ag.func.grad(f)(x) ** 2))):
        close(ag.compile(function)(POINT), function(POINT), rtol=1e-9)
        close(ag.compile(function, check=True)(POINT), function(POINT), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.bool_, np.complex128])
def test_dtypes(dtype: Any) -> None:
    """States that are exchanged, passed on, and returned twice."""

    def f(x: Any, y: Any) -> Any:
        return scan(lambda s, x: ((s[1], s[0], s[0]), (s[2], s[2], x)), (x[0], y, x[1]), x)

    x, y = rng.normal(size=(2, 5, 2)).astype(dtype)
    y = y[0]
    close(ag.compile(f)(x, y), f(x, y))
    close(ag.compile(f)(x[:3], y), f(x[:3], y))
    close(ag.compile(f)(x[::-1], y[::-1]), f(x[::-1], y[::-1]))


def test_large_arrays_and_sums_over_columns() -> None:
    x = rng.normal(size=(300, 400))

    def f(x: Any) -> Any:
        step = lambda s, _: (s - 0.01 * ag.sum(s, axis=0) + ag.mean(s, axis=1, keepdims=True), s[0])  # noqa: E731
        state, rows = scan(step, x, length=5)
        return ag.sum(state**2) + ag.sum(rows)

    close(ag.compile(ag.func.value_and_grad(f))(x), ag.func.value_and_grad(f)(x), rtol=1e-9)


def test_no_steps() -> None:
    def f(x: Any, xs: Any) -> Any:
        return scan(lambda s, a: (s * a, (s, a)), x, xs)

    for xs in (np.ones((0, 3)), np.ones((1, 3))):
        close(ag.compile(f)(POINT, xs), f(POINT, xs))
        g = ag.func.grad(lambda x, xs: ag.sum(f(x, xs)[0]), (0, 1))
        close(ag.compile(g)(POINT, xs), g(POINT, xs))
    never = ag.compile(lambda x: while_loop(lambda s: ag.sum(s) < -100, lambda s: s * 2, x))
    close(never(POINT), POINT)
    assert never(POINT) is not POINT


def test_a_number_of_steps_that_is_an_argument() -> None:
    def power(x: Any, n: Any) -> Any:
        return fori_loop(0, n, lambda i, s: s * x, 1.0)

    compiled, slope = ag.compile(power), ag.compile(ag.func.grad(power))
    for n in (0, 1, 2, 7, 50):
        count = np.array(n)
        close(compiled(np.array(1.1), count), np.array(1.1**n), rtol=1e-12)
        close(slope(np.array(1.1), count), np.array(n * 1.1 ** (n - 1) if n else 0.0), rtol=1e-12)


# --- what happens inside a body ---


def test_detach_and_no_grad_inside_a_loop() -> None:
    def f(x: Any) -> Any:
        def step(s: Any, _: Any) -> Any:
            with ag.no_grad():
                factor = ag.exp(s)
            return s * factor + x * x.detach(), None

        return ag.sum(scan(step, x, length=3)[0])

    def gradient(x: Any) -> Any:
        leaf = ag.tensor(x, requires_grad=True)
        return ag.grad(f(leaf), leaf)

    close(ag.compile(gradient)(POINT * 0.1), gradient(POINT * 0.1))

    def pushed(x: Any) -> Any:
        return ag.func.jvp(f, (x,), (DIRECTION,))

    close(ag.compile(pushed)(POINT * 0.1), pushed(POINT * 0.1))


def test_derivatives_and_batches_inside_a_loop() -> None:
    def energy(x: Any) -> Any:
        return ag.sum(x**4) / 4

    def f(x: Any) -> Any:
        def step(s: Any, _: Any) -> Any:
            rate = ag.func.hessian(energy)(s) @ s
            return s - 0.01 * ag.func.grad(energy)(s) - 1e-3 * rate, vmap(ag.sin)(s)

        state, rows = scan(step, x, length=4)
        return ag.sum(state) + ag.sum(rows**2)

    for function in (f, ag.func.grad(f)):
        close(ag.compile(function)(POINT), function(POINT), rtol=1e-9)


def test_new_arrays_meet_arrays_from_outside() -> None:
    def f(x: Any) -> Any:
        def step(s: Any, _: Any) -> Any:
            return s + (ag.zeros_like(s) + x) * ag.ones_like(x), ag.full_like(s, 2.0) * x

        state, rows = scan(step, x * 2, length=4)
        return ag.sum(state * rows)

    close(ag.compile(ag.func.grad(f))(POINT), ag.func.grad(f)(POINT))


def test_writes_inside_a_loop() -> None:
    def f(x: Any) -> Any:
        def step(s: Any, i: Any) -> Any:
            s = s * 1.0
            s[0] += s[1] * x[2]
            s[1:] = s[:-1]
            return s, s[0]

        return ag.sum(scan(step, x, np.arange(3))[1])

    def gradient(x: Any) -> Any:
        return ag.func.grad(f)(x)

    close(ag.compile(gradient)(POINT), gradient(POINT))


def test_reading_and_writing_at_the_number_of_a_step() -> None:
    def read(x: Any) -> Any:
        return ag.sum(fori_loop(0, 3, lambda i, s: s * 0.5 + x[i] * s[i], x))

    def written(x: Any) -> Any:
        places = np.arange(3)
        return ag.sum(fori_loop(0, 3, lambda i, s: ag.where(places == i, s * x[0], s), x) ** 2)

    for f in (read, written):
        close(ag.compile(f)(POINT), f(POINT))
        close(ag.compile(ag.func.grad(f))(POINT), ag.func.grad(f)(POINT))

    def by_index(i: Any, s: Any) -> Any:
        s = s * 1.0
        s[i] = 0.0
        return s

    close(ag.compile(lambda x: fori_loop(0, 2, by_index, x))(POINT), np.array([0.0, 0.0, POINT[2]]))


def test_tensors_from_outside_are_differentiated() -> None:
    w = ag.tensor([0.5, 2.0, 1.0], requires_grad=True)

    def f(x: Any) -> Any:
        return ag.sum(scan(lambda s, _: (s * ag.sin(w) + x, None), x, length=4)[0])

    close(ag.grad(ag.compile(f)(POINT), w), ag.grad(f(POINT), w))


def test_rules_of_a_user_hold_inside_a_loop() -> None:
    @ag.func.custom(vjp=lambda g, x: g * 100.0)
    def odd(x: Any) -> Any:
        return np.sin(x)

    def f(x: Any) -> Any:
        return ag.sum(scan(lambda s, _: (odd(s), None), x, length=2)[0])

    found = ag.compile(ag.func.grad(f))(POINT)
    close(found, np.full(3, 1e4))

    class Twice(ag.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 7

    with pytest.raises(TypeError, match=r"autograd\.Function, cannot be called inside a loop"):
        ag.compile(lambda x: scan(lambda s, _: (Twice.apply(s), None), x, length=2)[0])(POINT)


def test_errors_inside_a_loop() -> None:
    with pytest.raises(ag.errors.DataDependentError, match="cond"):
        ag.compile(lambda x: scan(lambda s, _: (s if s[0] > 0 else -s, None), x, length=2))(POINT)
    with pytest.raises(TypeError, match=r"init\['a'\] has shape \(3,\)"):
        ag.compile(lambda x: scan(lambda s, _: ({"a": s["a"][0]}, None), {"a": x}, length=2))(POINT)
    with pytest.raises(TypeError, match=r"the result of true_fun has shape \(3,\)"):
        ag.compile(lambda x: cond(x[0] > 0, lambda: x, lambda: x[0]))(POINT)
    kept = []

    def leaking(s: Any, _: Any) -> Any:
        kept.append(s)
        return s, None

    with pytest.raises(RuntimeError, match="after the function had been compiled"):
        ag.compile(lambda x: (scan(leaking, x, length=2), kept[0] * 2))(POINT)


def test_values_are_those_of_the_call() -> None:
    """Nothing of one call is left in the memory of the next."""
    compiled = ag.compile(lambda x: scan(lambda s, a: (s + a, s * a), x[0], x))
    first = compiled(np.ones((4, 3)))
    second = compiled(np.full((4, 3), 2.0))
    close(first, scan(lambda s, a: (s + a, s * a), np.ones(3), np.ones((4, 3))))
    close(second, scan(lambda s, a: (s + a, s * a), np.full(3, 2.0), np.full((4, 3), 2.0)))


WAYS = ["numbers", "kernels", "steps"]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How loops are run: as numbers in registers, by kernels in native code, or from Python."""
    if request.param != "numbers":
        monkeypatch.setattr(small_loops, "LARGEST", 0)
    if request.param == "steps":
        monkeypatch.setattr(loop_steps, "is_native", lambda program: False)
    return str(request.param)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_way_to_run_a_loop(name: str, way: str) -> None:
    function = ag.func.value_and_grad(FUNCTIONS[name])
    close(ag.compile(function)(POINT), function(POINT), rtol=1e-9)


@pytest.mark.parametrize("steps", [0, 1, 64, 65, 200])
@pytest.mark.parametrize("check", [False, True])
def test_the_reverse_pass_of_any_number_of_steps(steps: int, check: bool, way: str) -> None:
    """The states are kept in pieces, of which the first has 64 steps."""

    def repeated(x: Any, w: Any) -> Any:
        state = (x, 0)
        body = lambda s: (ag.sin(s[0] * w) + 0.01 * s[1] * x, s[1] + 1)  # noqa: E731
        return while_loop(lambda s: s[1] < steps, body, state)[0].sum()

    def unrolled(x: Any, w: Any) -> Any:
        y = x
        for i in range(steps):
            y = ag.sin(y * w) + 0.01 * i * x
        return y.sum()

    x, w = np.array([0.3, 0.4, 1.2]), np.array(1.1)
    gradient = ag.func.grad(repeated, argnums=(0, 1))
    expected = ag.func.grad(unrolled, argnums=(0, 1))(x, w)
    for found in (gradient(x, w), ag.compile(gradient, check=check)(x, w)):
        for a, b in zip(found, expected, strict=True):
            close(a, b, rtol=1e-9)


def test_the_code_of_each_way(way: str) -> None:
    executable = ag.compile(scanned)._program((POINT,), {})[0].executable
    (step,) = [s for s in executable.steps if isinstance(s, loop_steps.ScanStep)]
    kinds = {
        "numbers": small_loops.SmallLoop,
        "kernels": loop_steps.LoopCode,
        "steps": loop_steps.StepLoop,
    }
    assert type(step.code) is kinds[way]
    told = {"numbers": "numbers in registers", "kernels": "kernels in native", "steps": "Python"}
    assert told[way] in ag.compile(scanned).explain(POINT)


def test_random_loops(way: str) -> None:
    """Bodies of random ops on states of several shapes, with gradients by all arguments."""
    names = ("sin", "tanh", "exp", "abs", "negative", "square")
    for seed in range(6):
        draw = np.random.default_rng(seed)
        picks = draw.integers(0, len(names), 6)
        flags = draw.random(4) < 0.5

        def body(s: Any, x: Any, w: Any, picks: Any = picks, flags: Any = flags) -> Any:
            one, two = s
            for k in picks[:3]:
                one = getattr(ag, names[k])(one) * 0.3 + x
            two = ag.sum(one[None] * w, axis=int(flags[0])) * 0.1 + two[::-1]
            if flags[1]:
                one, two = two, one
            y = ag.max(w @ one) if flags[2] else one[1:] * two[:-1]
            return (ag.tanh(one), two), (y, x)

        def f(a: Any, b: Any, xs: Any, w: Any, body: Any = body, flags: Any = flags) -> Any:
            state, (y, x) = scan(lambda s, x: body(s, x, w), (a, b), xs, reverse=bool(flags[3]))
            return ag.sum(state[0] * state[1]) + ag.sum(y) * ag.sum(x * x)

        arrays = [draw.normal(size=n) for n in (3, 3, (5, 3), (3, 3))]
        for function in (f, ag.func.grad(f, (0, 1, 2, 3))):
            close(ag.compile(function)(*arrays), function(*arrays), rtol=1e-9)


def test_the_value_of_scanned_has_a_loop() -> None:
    assert "scan(" in ag.compile(scanned).program(POINT)


def test_calls_at_the_same_time() -> None:
    """Threads share a compiled loop, but not its memory."""
    f = ag.compile(lambda x: scan(lambda s, _: (ag.roll(s, 1) * 0.5 + x, None), x, length=200)[0])
    arrays = [np.full((40, 30), float(i)) for i in range(4)]
    wanted = [f(a) for a in arrays]
    wrong: list[int] = []

    def work(i: int) -> None:
        wrong.extend(i for _ in range(30) if not np.array_equal(f(arrays[i]), wanted[i]))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_memory_stays_flat() -> None:
    f = ag.compile(ag.func.grad(lambda x: ag.sum(scan(lambda s, _: (s * x, s), x, length=50)[1])))
    x = np.linspace(0.1, 0.9, 100)
    f(x)
    tracemalloc.start()
    try:
        f(x)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            f(x)
        assert tracemalloc.get_traced_memory()[0] - before < 50_000
    finally:
        tracemalloc.stop()


def test_a_table_of_numpy_says_how_to_index_it() -> None:
    table = np.arange(5.0)
    loop = ag.compile(lambda x: fori_loop(0, 3, lambda i, s: s + table[i], x))
    with pytest.raises(DataDependentError, match=r"ag\.asarray\(table\)\[i\]"):
        loop(np.ones(2))


def test_numbers_do_not_come_by_specialize() -> None:
    for read in (float, lambda x: x.item(), lambda x: f"{x:.2f}"):
        with pytest.raises(DataDependentError) as raised:
            ag.compile(lambda x: x * read(x.sum()), specialize=True)(np.ones(2))  # noqa: B023
        assert "few decisions" not in str(raised.value)
