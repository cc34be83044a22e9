"""The functions with PyTorch's names that Lucid and sorix share, against PyTorch's.

Values, and gradients in each wrapper of `wrappers`, also those of `compat.torch`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rows import Row, over, rotated
from wrappers import WRAPPERS, leaves_of, results_of, seeds_of

import arraygrad as ag
import arraygrad.compat.torch as ours
from arraygrad.compat import lucid, sorix
from arraygrad.compat.facade import unwrapped
from arraygrad.compat.lucid.functions import OWN
from arraygrad.compat.torch.handles import unwrap, wrap
from arraygrad.compat.torchlike import FUNCTIONS

torch = pytest.importorskip("torch")

X = np.random.default_rng(0).uniform(0.2, 0.9, (3, 4))
Y = np.random.default_rng(1).uniform(0.2, 0.9, (3, 4))
MASK = X > 0.5

# What to call a function with; those that are not here take one array.
ARGUMENTS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "acosh": [((X + 1,), {})],
    "argmax": [((X,), {}), ((X,), {"dim": 1, "keepdim": True})],
    "argmin": [((X,), {}), ((X,), {"dim": 0})],
    "broadcast_to": [((X, (2, 3, 4)), {})],
    "cat": [(([X, Y],), {"dim": 1})],
    "cdist": [((X, Y), {})],
    "chunk": [((X, 3), {"dim": 1})],
    "clamp": [((X, 0.4, 0.6), {}), ((X,), {"min": 0.5})],
    "clip": [((X, 0.4, 0.6), {})],
    "cumprod": [((X, 1), {})],
    "cumsum": [((X, 0), {})],
    "diagonal": [((X,), {})],
    "dot": [((X[0], Y[0]), {})],
    "einsum": [(("ij,ij->i", X, Y), {})],
    "expand": [((X[:1], 3, -1), {})],
    "expand_as": [((X[:1], Y), {})],
    "flatten": [((X[None],), {"start_dim": 1})],
    "flip": [((X, (0, 1)), {})],
    "index_fill": [((X, 1, np.array([0, 2]), 7.0), {})],
    "logsumexp": [((X,), {"dim": 1})],
    "log_softmax": [((X, 0), {})],
    "masked_fill": [((X, MASK, 3.0), {})],
    "max": [((X,), {}), ((X,), {"dim": 1}), ((X, Y), {})],
    "mean": [((X,), {}), ((X,), {"dim": 1, "keepdim": True}), ((X, (0, 1)), {})],
    "min": [((X,), {}), ((X,), {"dim": 0, "keepdim": True}), ((X, Y), {})],
    "mm": [((X, Y.T), {})],
    "mv": [((X, Y[0]), {})],
    "norm": [((X,), {}), ((X, 3, 1), {})],
    "outer": [((X[0], Y[0]), {})],
    "permute": [((X[None], (2, 0, 1)), {})],
    "prod": [((X,), {}), ((X,), {"dim": 0})],
    "repeat": [((X, 2, 3), {})],
    "reshape": [((X, (2, -1)), {})],
    "roll": [((X, [1], [0]), {}), ((X, 2, 1), {})],
    "softmax": [((X, 1), {})],
    "sort": [((X, 1), {"descending": True})],
    "split": [((X, 3), {"dim": 1}), ((X, [1, 3]), {"dim": 1})],
    "squeeze": [((X[None],), {}), ((X[None], 0), {}), ((X[None], 1), {})],
    "stack": [(([X, Y],), {"dim": 1})],
    "std": [((X,), {}), ((X, 1), {"unbiased": False, "keepdim": True})],
    "sum": [((X,), {}), ((X,), {"dim": 0}), ((X,), {"dim": (0, 1), "keepdim": True})],
    "transpose": [((X[None], 0, 2), {})],
    "trace": [((X[:, :3],), {})],
    "tril": [((X, 1), {})],
    "triu": [((X, -1), {})],
    "unbind": [((X, 1), {})],
    "unsqueeze": [((X, -1), {})],
    "var": [((X,), {}), ((X, 0), {})],
    "view": [((X, 4, 3), {})],
    "where": [((MASK, X, Y), {})],
}
TWO = "add atan2 complex div eq ge gt inner le lt matmul maximum minimum mul ne nextafter pow "
TWO += "remainder sub"
for _name in TWO.split():
    ARGUMENTS[_name] = [((X, Y.T if _name == "matmul" else Y), {})]
# Where Lucid has another form, or PyTorch none.
OTHERS = set("concatenate gather type_as view_as clamp_min clamp_max fliplr complex".split())
AS_METHODS = {"expand", "expand_as", "masked_fill", "repeat", "view", "index_fill"}


def converted(value: Any, make: Any) -> Any:
    if isinstance(value, np.ndarray):
        return make(np.ascontiguousarray(value))
    if isinstance(value, list | tuple):
        return type(value)(converted(v, make) for v in value)
    return value


def flat(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [a for v in value for a in flat(v)]
    return [np.asarray(value.resolve_conj() if torch.is_tensor(value) else value)]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_gives_what_pytorchs_gives(name: str) -> None:
    for args, keywords in ARGUMENTS.get(name, [((X,), {})]):
        if name in ("imag", "conj", "real"):
            args = (X + 1j * Y,)
        theirs = converted(args, torch.from_numpy)
        function = getattr(torch.Tensor if name in AS_METHODS else torch, name)
        expected = flat(function(*theirs, **keywords))
        found = flat(FUNCTIONS[name](*converted(args, ag.tensor), **keywords))
        assert len(found) == len(expected), name
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, err_msg=name)


@pytest.mark.parametrize("name", sorted(set(OWN) - OTHERS - {"max", "min"}))
def test_functions_of_lucid(name: str) -> None:
    for args, keywords in ARGUMENTS.get(name, [((X,), {})]):
        theirs = converted(args, torch.from_numpy)
        function = getattr(torch.Tensor if name in AS_METHODS else torch, name)
        expected = flat(function(*theirs, **keywords))
        found = flat(OWN[name](*converted(args, ag.tensor), **keywords))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, err_msg=name)


# --- gradients, in each wrapper ------------------------------------------------------------------

SYSTEMS: dict[str, Any] = {
    "lucid": (lucid, lucid.Tensor._wrapped, unwrapped),
    "sorix": (sorix, sorix.Tensor._wrapped, unwrapped),
    "torch": (ours, wrap, unwrap),
}


# Where they have other parameters; and layouts in which a tensor cannot be viewed.
_OTHER_FORMS = {"lucid.max", "lucid.min", "sorix.argmax", "sorix.argmin"}
_NO_VIEWS = ("Fortran order", "other strides")


def calls() -> list[Row]:
    """A row for each function of a facade, each way to call it, and each wrapper."""
    rows = []
    for system, (module, _, _) in SYSTEMS.items():
        for name in sorted(FUNCTIONS):
            if not hasattr(module, name) or f"{system}.{name}" in _OTHER_FORMS:
                continue
            given = [((X + 1j * Y,), {})] if name in ("imag", "conj", "real") else [((X,), {})]
            for i, (args, keywords) in enumerate(ARGUMENTS.get(name, given)):
                for wrapper in WRAPPERS:
                    if (system, name) == ("torch", "view") and wrapper in _NO_VIEWS:
                        continue
                    value = system, name, args, keywords, wrapper
                    rows.append(Row(f"{system}.{name}", f"{system}.{name} {i}, {wrapper}", value))
    return rows


def taken_apart(value: Any) -> list[Any]:
    """The arrays in the arguments of a call."""
    if isinstance(value, list | tuple):
        return [array for item in value for array in taken_apart(item)]
    return [value] if isinstance(value, np.ndarray) else []


def tensors_of(found: Any) -> tuple[Any, ...]:
    """The results of a call, one after the other."""
    if isinstance(found, list | tuple):
        return tuple(result for item in found for result in tensors_of(item))
    return (found,)


@over("system, name, args, keywords, wrapper", rotated(calls()))
def test_gradients(system: str, name: str, args: Any, keywords: Any, wrapper: str) -> None:
    module, into, out_of = SYSTEMS[system]

    def call(owner: Any, arrays: Any) -> tuple[Any, ...]:
        rest = iter(arrays)
        function = getattr(owner.Tensor if name in AS_METHODS else owner, name)
        return tensors_of(function(*converted(args, lambda _: next(rest)), **keywords))

    def function(*arrays: Any) -> Any:
        return out_of(call(module, into(list(arrays))))

    arrays = taken_apart(args)
    leaves = [torch.tensor(a, requires_grad=a.dtype.kind in "fc") for a in arrays]
    theirs = [r for r in call(torch, leaves) if r.requires_grad]
    results = results_of(function, leaves_of(arrays))
    assert len(results) == len(theirs)
    if not results:
        return
    expected = torch.autograd.grad(
        theirs,
        [x for x in leaves if x.requires_grad],
        [torch.tensor(seed) for seed in seeds_of(results)],
        materialize_grads=True,
    )
    for one, other in zip(WRAPPERS[wrapper](function, arrays), expected, strict=True):
        wanted = other.resolve_conj().numpy()
        assert one.dtype == wanted.dtype
        np.testing.assert_allclose(one, wanted, rtol=1e-9, atol=1e-12)
