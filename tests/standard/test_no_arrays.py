"""A list, a number, None or text where an array is expected, in every function of the table.

Either it works as in NumPy, or the error names the argument.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import Row, over
from samples import SAMPLES, Sample

import arraygrad as ag

_WRONG: dict[str, Callable[[Any], Any]] = {
    "list": lambda array: array.tolist(),
    "number": lambda array: 1.5,
    "none": lambda array: None,
    "text": lambda array: "abc",
}
_ROWS = [s for s in SAMPLES if not s.op.startswith("__")]
_NAMED = re.compile(r"(\w+(\[\d+\])? must be|argument \w+: expected|expected an array or numbers)")


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, tuple | list):
        return len(found) == len(expected) and all(map(_same, found, expected))
    found, expected = (getattr(x, "array", x) for x in (found, expected))
    return np.shape(found) == np.shape(expected) and np.allclose(found, expected, equal_nan=True)


def _is_ours(error: Exception) -> bool:
    """Whether an error comes from arraygrad, and not from what the row does before."""
    return any("/arraygrad/" in f.filename for f in traceback.extract_tb(error.__traceback__))


@over("sample, wrong", [Row(s.op, f"{s}, {w}", (s, w), w) for s in _ROWS for w in _WRONG])
@pytest.mark.filterwarnings("ignore")
def test_what_is_no_array(sample: Sample, wrong: str) -> None:
    arrays = sample.arrays()
    for i, array in enumerate(arrays):
        if isinstance(array, np.ndarray) and (array.ndim or wrong != "list"):
            for make in (lambda a: a, ag.tensor):
                given = [make(a) if isinstance(a, np.ndarray) else a for a in arrays]
                given[i] = _WRONG[wrong](array)
                _check(sample, wrong, given, arrays)


def _check(sample: Sample, wrong: str, given: list[Any], arrays: tuple[Any, ...]) -> None:
    found, error = None, None
    try:
        with np.errstate(all="ignore"):
            found = sample.call(ag, *given)
    except (AttributeError, TypeError, ValueError, IndexError) as raised:
        error = raised
    if error is None:
        assert wrong != "list" or _same(found, sample.call(ag, *arrays))
    elif _is_ours(error):
        assert not isinstance(error, AttributeError)
        # Of numbers with the wrong dtype, NumPy says so itself.
        named = _NAMED.search(str(error)) or wrong == "number"
        assert named or not isinstance(error, TypeError)


def test_the_argument_is_named() -> None:
    x = ag.tensor([1.0, 2.0])
    for call, message in (
        (lambda: ag.sum([1.0, 2.0]), "sum: x must be an array, not list: make it one by asarray()"),
        (lambda: ag.sum(None), "sum: x must be an array, not NoneType"),
        (lambda: ag.mean(1.0), "mean: x must be an array, not float: make it one by asarray()"),
        (lambda: ag.concat([x, None]), "concat: arrays[1] must be an array, not NoneType"),
        (lambda: ag.sin([1.0]), "sin, argument x: expected an array or a number, got list"),
        (lambda: ag.add(x, "a"), "add, argument y: expected an array or a number, got str"),
        (lambda: x.dot(None), "dot: b must be an array, not NoneType"),
        (lambda: ag.einsum("i->", None), "einsum: operands[0] must be an array, not NoneType"),
        (
            lambda: ag.einsum(x, [0], None, [0]),
            "einsum: operands[1] must be an array, not NoneType",
        ),
        (lambda: ag.stack("ab"), "stack: arrays must be a sequence of arrays, not str"),
        (lambda: ag.concat(None), "concat: arrays must be a sequence of arrays, not NoneType"),
        (lambda: ag.concat(3.0), "concat: arrays must be a sequence of arrays, not float"),
        (lambda: ag.stack({"a": x}), "stack: arrays must be a sequence of arrays, not dict"),
        (lambda: ag.linalg.svd([[1.0]]), "svd: x must be an array, not list: make it one by"),
        (lambda: ag.percentile(None, 5), "percentile: x must be an array, not NoneType"),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(message)}"):
            call()


def test_dot_of_lists_and_numbers() -> None:
    x = ag.tensor([1.0, 2.0], dtype=ag.float32)
    assert ag.dot(x, 2.0).dtype == ag.float32
    assert ag.inner(2.0, x).tolist() == [2.0, 4.0]
    with pytest.raises(TypeError, match="inner: b must be an array, not list"):
        ag.inner(x, [1.0, 2.0])


def test_a_list_that_contains_itself() -> None:
    endless: list[Any] = [1.0]
    endless.append(endless)
    x = ag.tensor([1.0], requires_grad=True)
    for call in (
        lambda: ag.tensor(endless),
        lambda: ag.asarray(endless),
        lambda: np.stack([x, endless]),
        lambda: ag.grad(x.sum(), endless),
        lambda: ag.grad(x.sum(), {"a": endless}),
        lambda: ag.func.vmap(lambda x: x)(endless),
        lambda: ag.func.grad(lambda x: x)(endless),
        lambda: ag.func.jvp(lambda x: x, (endless,), (endless,)),
    ):
        with pytest.raises((ValueError, TypeError), match=r"contain|nested"):
            call()
