"""`explain`, `program`, `llvm`, `assembly`, and `check=True`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import optree
import pytest

import arraygrad as ag
from arraygrad.compiler.lower import scalars
from arraygrad.compiler.lower.core import Scalar
from arraygrad.func import cond, scan, while_loop


def f(x: Any) -> Any:
    return ag.special.softmax(ag.sin(x) * 2, axis=1) @ x.T


x = np.random.default_rng(0).normal(size=(4, 7))


def test_explain() -> None:
    text = ag.compile(f).explain(x)
    assert re.search(r"step 0: kernel over 4 × 7 elements, \d passes over each line: .*sin", text)
    assert "step 1: product of matrices 4 × 7 and 7 × 4, by tiles of" in text
    assert "NumPy computes argsort" in ag.compile(ag.sort).explain(x)
    assert re.search(r"in all: 2 steps, [\d,.]+ µs; kernels read and write .* op by op", text)


def test_explain_says_why() -> None:
    def steps(x: Any) -> Any:
        y = ag.tanh(x)
        z = y / ag.sum(y * y)  # a sum that must be complete
        w = ag.exp(z[1:] * z[:-1])  # neighbours
        return ag.sort(w, axis=0), ag.sin(x + 1j)

    text = ag.compile(steps).explain(x)
    assert "divide needs the result of sum over [0, 1], known only after the whole loop" in text
    assert "reads the result of divide at other places than its own" in text
    assert "not native: there is none for argsort" in text
    assert "not native: there is none for sin of complex numbers" in text
    assert re.search(r"µs, [\d.,]+ GB/s, [\d.,]+ Gop/s", text)


def test_traffic() -> None:
    ops, kernels = ag.compile(lambda x: ag.exp(ag.sin(x) * 2)).traffic(x)
    assert [name for name, _, _ in ops] == ["sin", "multiply", "exp"]
    assert {step for _, _, step in ops} == {0}
    assert [size for _, size, _ in ops] == [2 * x.nbytes] * 3
    assert kernels == 2 * x.nbytes


def test_program() -> None:
    lines = ag.compile(f).program(x).splitlines()
    assert lines[0] == "%0 = input 0: float64[4, 7]"
    assert any(" = sin(%0)" in line for line in lines)
    assert lines[-1].startswith("return %")


def test_llvm_and_assembly() -> None:
    g = ag.compile(lambda x: ag.sqrt(x * x + 1))
    assert "define void @step0(" in g.llvm(x)
    assert "sqrt" in g.assembly(x)


def test_the_code_of_loops() -> None:
    small = ag.compile(lambda x: scan(lambda s, _: (ag.sqrt(s), None), x, length=5)[0])
    for code in (small.llvm(np.ones(3)), small.assembly(np.ones(3))):
        assert "the loop of step 0" in code
        assert "sqrt" in code
    large = ag.compile(
        lambda x: cond(
            x[0] > 0, lambda: scan(lambda s, _: (ag.sqrt(s), None), x, length=5)[0], lambda: x
        )
    )
    text = large.llvm(np.ones(99))
    assert "the loop of step 0 of the true branch of step" in text
    assert "define i64 @loop(" in text
    walks = ag.compile(
        ag.func.grad(lambda x: while_loop(lambda s: s < 9, lambda s: s * ag.sqrt(s), x))
    )
    assert "the reverse loop of step" in walks.assembly(np.array(2.0))


def test_only_plain_arrays() -> None:
    with pytest.raises(TypeError, match="NumPy arrays"):
        ag.compile(f).explain(ag.tensor(x))


def test_check_is_silent_where_all_is_right() -> None:
    for function in (f, ag.func.grad(lambda x: f(x).sum())):
        np.testing.assert_allclose(ag.compile(function, check=True)(x), function(x), rtol=1e-12)
    t = ag.tensor(x, requires_grad=True)
    (g,) = ag.grad(ag.compile(f, check=True)(t).sum(), [t])
    np.testing.assert_allclose(g.numpy(), ag.func.grad(lambda x: f(x).sum())(x), rtol=1e-12)


def test_check_finds_a_wrong_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Scalar("sin", lambda w, x: w.multiply(x, w.like(x, 1.5)))
    monkeypatch.setitem(scalars.FLOATS, ag.sin.op, wrong)
    with pytest.raises(AssertionError, match=r"step 0 .*the element at \(0, 0\) is"):
        ag.compile(lambda x: ag.sin(x), check=True)(x)


def _sines(s: Any, x: Any) -> Any:
    return ag.sin(s), None


def _by_numpy(s: Any) -> Any:
    return ag.linalg.solve(2 * np.eye(3), s)


# A function with a loop of the sine of its argument, and where the error is found.
LOOPS: dict[str, tuple[Any, Any, str]] = {
    "numbers in registers": (
        lambda x: scan(_sines, x, length=5)[0],
        np.ones(3),
        "step 0 of a loop",
    ),
    "kernels": (lambda x: scan(_sines, x, length=5, reverse=True), np.ones(99), "step 0 of a loop"),
    "by Python": (
        lambda x: scan(lambda s, _: (_by_numpy(ag.sin(s)), None), x, length=5),
        np.ones(3),
        "step 0 of a loop",
    ),
    "a result of each step": (
        lambda x: scan(lambda s, x: (s + 1, ag.sin(s - 3)), 0.0, x),
        np.ones(6),
        "step 0 of a loop",
    ),
    "while": (
        lambda x: while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, ag.sin(s[1])), (0, x))[1],
        np.ones(3),
        "step 0 of a while loop",
    ),
    "while, a condition": (
        lambda x: while_loop(lambda s: ag.sin(s) < 0.99, lambda s: s + 0.5, x),
        np.array(0.0),
        "the condition before step 2 of a while loop",
    ),
    "while, backwards": (
        ag.func.grad(lambda x: while_loop(lambda s: s < 10, lambda s: s * (2 - ag.cos(x)), x)),
        np.array(1.0),
        "step",
    ),
    "cond": (lambda x: cond(x[0] > 0, ag.sin, ag.cos, x), np.ones(3), "step 0 of a compiled"),
}


@pytest.mark.parametrize("name", LOOPS)
def test_check_finds_a_wrong_step_of_a_loop(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, argument, where = LOOPS[name]
    right = ag.compile(function, check=True)(argument)
    for found, wanted in zip(
        *(optree.tree_leaves(found) for found in (right, function(argument))), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
    wrong = Scalar("sin", lambda w, x: w.multiply(x, w.like(x, 1.5)))
    monkeypatch.setitem(scalars.FLOATS, ag.sin.op, wrong)
    with pytest.raises(AssertionError, match=rf"{where}.*the element at \(.*\) is"):
        ag.compile(function, check=True)(argument)


def test_a_loop_says_why_it_is_not_native() -> None:
    def sorted_steps(x: Any) -> Any:
        return ag.func.scan(lambda c, _: (ag.sort(c) * 0.5, None), x, length=3)[0]

    assert "not native: there is none for argsort" in ag.compile(sorted_steps).explain(np.ones(3))
