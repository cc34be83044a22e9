"""Anomaly detection: who made the NaN, or the error, in the sweep."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad import func
from arraygrad.autograd import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from arraygrad.errors import AnomalyError, RuleError


@pytest.fixture
def x() -> ag.Tensor:
    return ag.tensor([0.0, 1.0], requires_grad=True)


def bad(x: ag.Tensor) -> Any:
    return (ag.sqrt(x) * 0).sum()  # the line to be found


def test_nan_is_an_error_that_names_the_op_and_the_line(x: ag.Tensor) -> None:
    with detect_anomaly():
        y = bad(x)
        with pytest.raises(AnomalyError, match=r"SqrtBackward returned NaN.*input 0") as caught:
            ag.grad(y, x)
    assert "test_anomaly.py" in str(caught.value)
    assert "the line to be found" in str(caught.value)
    assert "src/arraygrad" not in str(caught.value)


def test_the_graph_is_as_it_was_after_the_error(x: ag.Tensor) -> None:
    with detect_anomaly():
        y = bad(x)
        with pytest.raises(AnomalyError):
            y.backward()
    assert x.grad is None
    np.testing.assert_array_equal(ag.grad(y, x).numpy(), [np.nan, 0])


def test_without_check_nan_nan_is_a_result(x: ag.Tensor) -> None:
    with detect_anomaly(check_nan=False):
        y = bad(x)
        np.testing.assert_array_equal(ag.grad(y, x).numpy(), [np.nan, 0])


def test_infinity_is_no_anomaly(x: ag.Tensor) -> None:
    with detect_anomaly():
        assert ag.grad(ag.sqrt(x).sum(), x).tolist() == [np.inf, 0.5]


def test_a_graph_from_before_has_no_line(x: ag.Tensor) -> None:
    y = bad(x)
    with detect_anomaly(), pytest.raises(AnomalyError, match="recorded outside detect_anomaly"):
        ag.grad(y, x)


@pytest.mark.parametrize("check_nan", [True, False])
def test_an_error_in_a_rule_carries_the_line(
    x: ag.Tensor, check_nan: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pullback = ag.exp.op.pullback((0,))  # type: ignore[attr-defined]

    def fail(*args: Any) -> Any:
        raise ZeroDivisionError("in the rule")

    with detect_anomaly(check_nan=check_nan):
        y = ag.exp(x)  # the line of exp
        monkeypatch.setattr(pullback, "rules", (fail,))
        with pytest.raises(ZeroDivisionError, match="in the rule") as caught:
            ag.grad(y.sum(), x)
    assert any("the line of exp" in note for note in caught.value.__notes__)


def test_a_rule_that_returns_the_wrong_shape_is_named(
    x: ag.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    y = ag.exp(x).sum()
    pullback = ag.exp.op.pullback((0,))  # type: ignore[attr-defined]
    for returned, message in (
        (np.ones(5), r"gave a gradient of shape \(5,\).*\(2,\)"),
        (None, "ExpBackward gave NoneType"),
        ([1.0], "ExpBackward gave list"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(pullback, "rules", (lambda g, saved, r=returned: r,))
            for create_graph in (False, True):
                with pytest.raises(RuleError, match=message):
                    ag.grad(y, x, create_graph=create_graph)
            with detect_anomaly(), pytest.raises(RuleError, match="ExpBackward gave"):
                ag.grad(y, x)
    np.testing.assert_allclose(ag.grad(y, x).numpy(), np.exp([0.0, 1.0]))


def test_nodes_keep_the_line_in_their_metadata(x: ag.Tensor) -> None:
    with detect_anomaly():
        y = x * 2  # this one
    assert y.grad_fn is not None
    assert "this one" in y.grad_fn.metadata["traceback"]
    assert (x * 2).grad_fn.metadata == {}


def test_anomalies_in_second_derivatives(x: ag.Tensor) -> None:
    with detect_anomaly():
        g = ag.grad((ag.sqrt(x)).sum(), x, create_graph=True)
        with np.errstate(invalid="ignore"):
            z = (g * 0).sum()
        with pytest.raises(AnomalyError):
            ag.grad(z, x)


def test_anomalies_in_a_batch(x: ag.Tensor) -> None:
    with detect_anomaly():
        y = ag.sqrt(x) * 0
        with pytest.raises(AnomalyError, match="SqrtBackward"):
            ag.grad(y, x, np.eye(2), is_grads_batched=True)


def test_anomalies_of_an_op_with_several_outputs(x: ag.Tensor) -> None:
    with detect_anomaly():
        a, b = ag.unstack(x)
        assert ag.grad(a * 2 + b, x).tolist() == [2, 1]
        a, _ = ag.unstack(x)
        with pytest.raises(AnomalyError, match="SqrtBackward"):
            ag.grad(ag.sqrt(a) * 0, x)


# --- in transforms of functions ------------------------------------------------------------------

ZERO_ONE = np.array([0.0, 1.0])


def roots(x: Any) -> Any:
    return ag.sqrt(x) * 0  # the line of the root


def bend(x: Any) -> Any:
    return (x**1.5).sum()  # the line of the power


def pulled(x: Any) -> Any:
    value, pull = func.vjp(roots, x)
    return pull(np.ones_like(value))


def pushed(x: Any) -> Any:
    return func.linearize(lambda x: func.grad(bad)(x), x)


TRANSFORMS = {
    "grad": (func.grad(bad), "the line to be found"),
    "value_and_grad": (func.value_and_grad(bad), "the line to be found"),
    "vjp": (pulled, "the line of the root"),
    "linearize": (pushed, "the line to be found"),
    "jacrev": (func.jacrev(roots), "the line of the root"),
    "jacobian": (func.jacobian(roots), "the line of the root"),
    "sparse jacobian": (func.jacrev(roots, sparse=True), "the line of the root"),
    "hessian": (func.hessian(bend), "the line of the power"),
    "hvp": (lambda x: func.hvp(bend, (x,), (x,)), "the line of the power"),
    "vmap of grad": (func.vmap(func.grad(roots)), "the line of the root"),
    "grad of grad": (func.grad(lambda x: (func.grad(bend)(x) * 0).sum()), "the line of the power"),
    "checkpoint": (func.grad(func.checkpoint(bad)), "the line to be found"),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_nan_in_a_transform_is_an_error_that_names_the_line(name: str) -> None:
    transform, line = TRANSFORMS[name]
    with detect_anomaly(), pytest.raises(AnomalyError, match="returned NaN") as caught:
        transform(ZERO_ONE)
    assert line in str(caught.value)
    transform(ZERO_ONE)
    with detect_anomaly(check_nan=False):
        transform(ZERO_ONE)


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("check_nan", [True, False])
def test_an_error_in_a_rule_in_a_transform_carries_the_line(
    name: str, check_nan: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    transform, line = TRANSFORMS[name]

    def fail(*args: Any) -> Any:
        raise ZeroDivisionError("in the rule")

    for op in (ag.sqrt.op, ag.pow.op):  # type: ignore[attr-defined]
        pullback = op.pullback((0,))
        monkeypatch.setattr(pullback, "rules", (fail,) * len(pullback.rules))
    with (
        detect_anomaly(check_nan=check_nan),
        pytest.raises(ZeroDivisionError, match="in the rule") as caught,
    ):
        transform(ZERO_ONE + 1)
    assert any(line in note for note in caught.value.__notes__)


def test_the_zeros_that_linearize_starts_from_are_no_anomaly() -> None:
    with detect_anomaly():
        _, push = func.linearize(ag.sqrt, ZERO_ONE)
        assert push(np.ones(2)).tolist() == [np.inf, 0.5]
        with pytest.raises(AnomalyError):
            push(ZERO_ONE)


def test_blocks_decorators_and_functions() -> None:
    def state() -> tuple[bool, bool]:
        return is_anomaly_enabled(), is_anomaly_check_nan_enabled()

    assert state() == (False, False)
    with detect_anomaly():
        assert state() == (True, True)
        with detect_anomaly(check_nan=False):
            assert state() == (True, False)
        with set_detect_anomaly(False):
            assert state() == (False, False)
        assert state() == (True, True)
    set_detect_anomaly(True, check_nan=False)
    assert state() == (True, False)
    set_detect_anomaly(False)
    assert state() == (False, False)

    @detect_anomaly()
    def decorated() -> tuple[bool, bool]:
        return state()

    @set_detect_anomaly(True)
    def also() -> tuple[bool, bool]:
        return state()

    assert state() == (False, False)
    assert decorated() == also() == (True, True)
    assert state() == (False, False)


def test_anomaly_detection_belongs_to_a_thread() -> None:
    seen: list[bool] = []
    with detect_anomaly():
        thread = threading.Thread(target=lambda: seen.append(is_anomaly_enabled()))
        thread.start()
        thread.join()
    assert seen == [False]
