"""Versions: a saved value that was changed is noticed, and one that was not is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.errors import WrittenError

graph = ag.autograd.graph


def leaf(*values: float) -> Any:
    return ag.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


def test_counts() -> None:
    y = leaf() * 1
    counts = [y._version]
    y += 1
    counts.append(y._version)
    v = y[:1]
    counts.append(v._version)
    v += 1
    counts += [y._version, v._version, y.clone()._version, (y * 1)._version]
    assert counts == [0, 1, 1, 2, 2, 0, 0]


def changed_input() -> Any:
    x = leaf()
    y = x * 1
    z = y * y
    y += 1
    return z, x


def changed_output() -> Any:
    x = leaf()
    y = ag.exp(x)
    y[0] = 5.0
    return y, x


def changed_one_output_of_three() -> Any:
    x = leaf()
    u, _, vh = ag.linalg.svd(x * x[:, None] + ag.eye(x.shape[0]))
    u[:, -1] = -u[:, -1]
    return u @ vh, x


def changed_through_detach() -> Any:
    x = leaf()
    y = x * x
    x.detach().add_(1)
    return y, x


def changed_leaf() -> Any:
    x = leaf()
    y = x * x
    with ag.no_grad():
        x *= 2
    return y, x


def changed_through_a_view() -> Any:
    x = leaf()
    y = x * 1
    z = y[:2] * y[:2]
    y[1:] = 0.0
    return z, x


def changed_index() -> Any:
    x = leaf()
    index = ag.asarray([0, 1])
    y = x[index]
    index += 1
    return y, x


def changed_gradient() -> Any:
    x, w = leaf(), leaf()
    x.sum().backward()
    y = w * x.grad
    x.sum().backward()
    return y, w


def said_to_be_changed() -> Any:
    x = leaf()
    y = x * x
    graph.increment_version(x)
    return y, x


@pytest.mark.parametrize(
    "make",
    [
        changed_input,
        changed_output,
        changed_one_output_of_three,
        changed_through_detach,
        changed_leaf,
        changed_through_a_view,
        changed_index,
        changed_gradient,
        said_to_be_changed,
    ],
)
@pytest.mark.parametrize("create_graph", [False, True])
def test_changed_values_are_refused(make: Any, create_graph: bool) -> None:
    out, x = make()
    with pytest.raises(WrittenError, match="has changed in place since it was saved"):
        ag.grad(out.sum(), x, create_graph=create_graph)


def test_the_error_says_what_happened() -> None:
    with ag.autograd.detect_anomaly():
        x = leaf()
        y = x * 1
        z = y * y  # the line that saved it
        y.exp_()  # the line that changed it
        with pytest.raises(WrittenError) as caught:
            ag.grad(z.sum(), x)
    message = str(caught.value)
    for part in (
        "MultiplyBackward",
        "shape (3,)",
        "exp_",
        "clone()",
        "the line that saved it",
        "the line that changed it",
    ):
        assert part in message
    with pytest.raises(WrittenError, match="detect_anomaly"):
        ag.grad(*changed_input(), grad_outputs=1.0)


def test_what_was_saved_and_not_changed_is_used() -> None:
    """A loop that fills an array from what it has filled: torch wants a clone at every step."""
    x = ag.tensor(1.1, requires_grad=True)
    h = ag.zeros((5, 2))
    h[0] = x
    for t in range(1, 5):
        h[t] = h[t - 1] * h[t - 1] * x
    expected = sum(2 * x ** (2 ** (t + 1) - 1) for t in range(5))
    np.testing.assert_allclose(ag.grad(h.sum(), x).item(), ag.grad(expected, x).item())


def test_elements_are_told_apart() -> None:
    x = leaf()
    y = x * 1
    even, odd = y[::2], y[1::2]
    z = even * even
    odd *= 2
    y[[1]] = 7.0
    assert ag.grad(z.sum(), x, retain_graph=True).tolist() == [2, 0, 6]
    y.reshape((3, 1))[2] = 0.0
    with pytest.raises(WrittenError):
        ag.grad(z.sum(), x)


def test_complex_parts_count_as_the_element() -> None:
    z = ag.tensor([1 + 1j, 2 + 2j], requires_grad=True)
    y = z * 1
    w = y[:1] * y[:1]
    y.imag[1] = 0.0
    ag.grad(w, z, np.ones(1, complex), retain_graph=True)
    y.imag[0] = 0.0
    with pytest.raises(WrittenError):
        ag.grad(w, z, np.ones(1, complex))


def test_allow_mutation() -> None:
    x = leaf()
    with graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = (y * y).sum()
        y += 1
        w = (y * y).sum()
        y.zero_()
    assert ag.grad(z + w, x).tolist() == [2 + 4, 4 + 6, 6 + 8]


def test_hooks_on_saved_tensors_may_make_new_ones_by_writing() -> None:
    def unpack(values: Any) -> Any:
        made = ag.zeros(len(values))
        made[...] = ag.asarray(values)
        return made

    x = leaf()
    with graph.saved_tensors_hooks(lambda t: t.tolist(), unpack):
        y = (x * x).sum()
    assert ag.grad(y, x).tolist() == [2, 4, 6]


def test_pack_hooks_must_not_write() -> None:
    x = leaf()
    hooks = graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t)
    with hooks, pytest.raises(RuntimeError, match="pack hook"):
        x * x


def test_gradients_count_their_writes() -> None:
    x = leaf()
    x.sum().backward()
    kept = x.grad
    x.sum().backward()
    assert x.grad is kept
    assert kept._version == 1
    with graph.allow_mutation_on_saved_tensors():
        w = leaf()
        y = (w * kept).sum()
        x.sum().backward()
    assert kept.tolist() == [3, 3, 3]
    assert ag.grad(y, w).tolist() == [2, 2, 2]
