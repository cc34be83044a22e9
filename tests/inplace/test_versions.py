"""Versions: a saved value that was changed is restored or refused, one that was not is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.core import versions
from arraygrad.core.cpython import COUNTS_REFERENCES
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
    u, _, vh = ag.linalg.svd(x * x[:, None] + np.diag([1.0, 2.0, 4.0]))
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


A = np.array([1.0, 2.0, 3.0])


def changed_svd() -> Any:
    """What `changed_one_output_of_three` gives, by numbers that are written nowhere."""
    x = leaf()
    u, _, vh = ag.linalg.svd(x * x[:, None] + np.diag([1.0, 2.0, 4.0]))
    return ag.grad(((u * np.array([1.0, 1.0, -1.0])) @ vh).sum(), x).array


CHANGES = {
    changed_input: 2 * A,
    changed_output: np.exp(A) * [0, 1, 1],
    changed_one_output_of_three: changed_svd(),
    changed_through_detach: 2 * A,
    changed_leaf: 2 * A,
    changed_through_a_view: 2 * A * [1, 1, 0],
    changed_index: np.array([1.0, 1.0, 0.0]),
    changed_gradient: np.ones(3),
}


@pytest.mark.parametrize("make", CHANGES)
@pytest.mark.parametrize("create_graph", [False, True])
def test_changed_values_are_restored(make: Any, create_graph: bool) -> None:
    out, x = make()
    found = ag.grad(out.sum(), x, create_graph=create_graph)
    np.testing.assert_allclose(found.array, CHANGES[make], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", [*CHANGES, said_to_be_changed])
@pytest.mark.parametrize("create_graph", [False, True])
def test_changed_values_are_refused_if_nothing_is_kept(make: Any, create_graph: bool) -> None:
    with graph.allow_mutation_on_saved_tensors(allow=make is said_to_be_changed):
        out, x = make()
    with pytest.raises(WrittenError, match="modified by an inplace operation since it was saved"):
        ag.grad(out.sum(), x, create_graph=create_graph)


def test_each_node_gets_the_values_of_its_time() -> None:
    """The state of a loop is overwritten at every step, by parts and as a whole."""
    x = leaf()

    def run(step: Any) -> Any:
        y, total = x * 1, ag.zeros(())
        for t in range(12):
            total = total + (y * y * x).sum()
            y = step(y, t)
        return total

    def written(y: Any, t: int) -> Any:
        kind = t % 4
        if kind == 0:
            y *= 0.9
        elif kind == 1:
            y[1:] = y[:-1] * 0.5
        elif kind == 2:
            y[[2, 0]] += 0.1
        else:
            y[::-1][:2].copy_(y[:2] - 0.2)
        return y

    def apart(y: Any, t: int) -> Any:
        kind = t % 4
        if kind == 0:
            return y * 0.9
        if kind == 1:
            return ag.concat([y[:1], y[:-1] * 0.5])
        if kind == 2:
            return y + np.array([0.1, 0.0, 0.1])
        return ag.stack([y[0], y[1] - 0.2, y[0] - 0.2])

    expected = ag.grad(run(apart), x, create_graph=True)
    found = ag.grad(run(written), x, create_graph=True)
    np.testing.assert_allclose(found.array, expected.array, rtol=1e-12)
    second = [ag.grad((g * g).sum(), x).array for g in (found, expected)]
    np.testing.assert_allclose(*second, rtol=1e-12)


@pytest.mark.parametrize(
    "arrange",
    [
        lambda a: a,
        np.asfortranarray,
        lambda a: a[::-1],
        lambda a: np.repeat(a, 2, 1)[:, ::2],
        lambda a: np.ndarray(a.shape, a.dtype, bytearray(a.tobytes())),
    ],
    ids=["C", "Fortran", "reversed", "strided", "of a buffer"],
)
def test_memory_of_any_layout_is_restored(arrange: Any) -> None:
    values = np.arange(1.0, 7.0).reshape(2, 3)
    x, y = leaf(2.0), ag.asarray(arrange(values.copy()))
    z = (x * y[:, 1:]).sum() + (x * y.T).sum()
    y[0, ::2] = 0.0
    y.T[1:] += 7
    given = arrange(values.copy())
    assert ag.grad(z, x).tolist() == [given[:, 1:].sum() + given.sum()]


def kept_of(tensor: Any) -> int:
    writes = versions.last_write(tensor.array)
    return 0 if writes is None else len(writes.past.writes)


needs_counts = pytest.mark.skipif(
    not COUNTS_REFERENCES, reason="without counts of references, every write keeps what it replaces"
)


@needs_counts
def test_nothing_is_kept_that_nobody_needs() -> None:
    w = leaf()
    for _ in range(3):
        gradient = ag.grad((w * w).sum(), w)
        with ag.no_grad():
            w -= 0.1 * gradient
        assert not kept_of(w)
    y = w * 1
    y += 1
    y[0] = w[1]
    part = y[:2]
    part *= 2
    del part
    y.sin_()
    assert not kept_of(y)
    z = y * y
    y += 1
    assert kept_of(y) == 1
    del z
    y += 1
    assert not kept_of(y)


def test_what_a_user_holds_is_not_kept_for_ever() -> None:
    """An array that the user holds cannot be told from one that a node saved, but by looking."""
    w = ag.tensor(np.zeros(400_000), requires_grad=True)
    held = w.detach().numpy()
    most = 0
    for _ in range(40):
        gradient = ag.grad((w * w).sum(), w)
        with ag.no_grad():
            w -= 0.1 * gradient + 1
        most = max(most, kept_of(w))
    assert most <= 6
    assert held[0] != 0
    first = (w * w).sum()
    for _ in range(20):
        with ag.no_grad():
            w += 1
    assert kept_of(w) == 20
    np.testing.assert_array_equal(ag.grad(first, w).array, 2 * (held - 20))


@pytest.mark.parametrize("share", [ag.from_dlpack, lambda t: ag.asarray(memoryview(t.array))])
def test_a_write_through_shared_memory_is_noticed(share: Any) -> None:
    x, y = leaf(), ag.asarray(np.array([1.0, 2.0, 3.0]))
    same = share(y)
    if not same.array.flags.writeable:
        pytest.skip("older versions of NumPy share memory by DLPack for reading only")
    z, w = (x * y).sum(), (x * same).sum()
    same += 1
    assert y.tolist() == [2, 3, 4]
    with pytest.raises(WrittenError):
        ag.grad(z, x)
    assert ag.grad(w, x).tolist() == [1, 2, 3]
    w = (x * same).sum()
    y += 1
    with pytest.raises(WrittenError):
        ag.grad(w, x)


def test_the_error_says_what_happened() -> None:
    with ag.autograd.detect_anomaly(), graph.allow_mutation_on_saved_tensors(False):
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
    with graph.allow_mutation_on_saved_tensors(False):
        out, x = changed_input()
    with pytest.raises(WrittenError, match="detect_anomaly"):
        ag.grad(out, x, grad_outputs=1.0)


def test_what_was_saved_and_not_changed_is_used() -> None:
    """A loop that fills an array from what it has filled: torch wants a clone at every step."""
    x = ag.tensor(1.1, requires_grad=True)
    h = ag.zeros((5, 2))
    h[0] = x
    for t in range(1, 5):
        h[t] = h[t - 1] * h[t - 1] * x
    expected = sum(2 * x ** (2 ** (t + 1) - 1) for t in range(5))
    np.testing.assert_allclose(ag.grad(h.sum(), x).item(), ag.grad(expected, x).item())


@graph.allow_mutation_on_saved_tensors(False)
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


@graph.allow_mutation_on_saved_tensors(False)
def test_complex_parts_count_as_the_element() -> None:
    z = ag.tensor([1 + 1j, 2 + 2j], requires_grad=True)
    y = z * 1
    w = y[:1] * y[:1]
    y.imag[1] = 0.0
    ag.grad(w, z, np.ones(1, complex), retain_graph=True)
    y.imag[0] = 0.0
    with pytest.raises(WrittenError):
        ag.grad(w, z, np.ones(1, complex))


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
    w = leaf()
    y = (w * kept).sum()
    x.sum().backward()
    assert kept.tolist() == [3, 3, 3]
    assert ag.grad(y, w).tolist() == [2, 2, 2]


@pytest.mark.parametrize("library", ["torch", "jax.numpy", "array_api_strict"])
def test_gradients_of_other_libraries_that_were_saved(library: str) -> None:
    xp = pytest.importorskip(library)
    x, w = (ag.tensor(xp.ones(3), requires_grad=True) for _ in range(2))
    x.sum().backward()
    kept = x.grad
    product = (w * kept).sum() + (w[1:] * kept[1:]).sum()
    x.sum().backward()
    assert x.grad is kept
    assert kept.tolist() == [2, 2, 2]
    assert ag.grad(product, w).tolist() == [1, 2, 2]


def test_writes_of_another_array_that_an_interrupt_left_behind() -> None:
    """Writes go with their array. After an interrupt just then, another can have its address."""
    gone = np.zeros(3)
    left = versions.Writes(gone, lambda _: None)
    del gone
    x = leaf()
    y = x * 1
    squares = (y**2).sum()
    versions._writes[id(y.array)] = left
    y[1:] = 5.0
    y[:1].mul_(3.0)
    assert ag.grad(squares + (y * y).sum(), x).tolist() == [2 + 18, 4, 6]


@needs_counts
def test_writes_to_a_users_array_keep_no_copies() -> None:
    """After one look for nodes that saved the memory, the user's own references are known."""
    data = np.ones(2**20)
    w = ag.asarray(data).requires_grad_()
    for _ in range(6):
        with ag.no_grad():
            w -= 0.5
    past = versions.writes_to(data).past
    assert (past.writes, past.bytes) == ([], 0)
    y = (w * w).sum()
    with ag.no_grad():
        w += 3.0  # a node needs the values of before
    assert len(past.writes) == 1
    assert ag.grad(y, w).numpy()[0] == 2 * (1.0 - 6 * 0.5)
