"""`compat.torch` beside PyTorch itself: the same call gives the same result or kind of error."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from arraygrad.compat import torch as ours

theirs = pytest.importorskip("torch")

# Calls on: x, a leaf of three elements; u, one that nothing depends on; c, which requires no
# gradients; z, a complex leaf; ones(*shape).
SAME = [
    # the form of the arguments
    "grad((x * x).sum(), x)",
    "grad([(x * x).sum()], (x,))",
    "grad(iter([(x * x).sum()]), iter([x]))",
    "grad((x * x).sum(), {'x': x})",
    "grad((x * x).sum(), {})",
    "grad((x * x).sum(), OrderedDict(x=x))",
    "grad({'y': (x * x).sum()}, x)",
    "grad((x * x).sum(), [])",
    "grad([], x)",
    "grad([], x, allow_unused=True)",
    "grad(1.0, x)",
    "grad([1.0], x)",
    "grad(x.sum(), 1.0)",
    "grad(x.sum(), [1.0])",
    "grad(x.sum(), [None])",
    "grad([x.sum(), (x * x).sum()], x)",
    "grad((x * x).sum(), [x, x])",
    "grad(x, x, ones(3))",
    "grad((x * x).sum(), x, None, None, False, True, None, False, False)",
    # where the sweep starts
    "grad(x * x, x)",
    "grad(x[:1] * x[:1], x)",
    "grad(x[:0], x)",
    "grad(x * x, x, ones(3))",
    "grad(x * x, x, [ones(3)])",
    "grad(x * x, x, ones(2))",
    "grad(x * x, x, ones(1))",
    "grad(x * x, x, ones())",
    "grad(x.sum(), x, ones(1))",
    "grad(x * x, x, [ones(3), ones(7)])",
    "grad([x.sum(), x.sum()], x, [ones()])",
    "grad([x.sum(), x.sum()], x, ones(2))",
    "grad([x.sum(), 2 * x], x, [None, ones(3)])",
    "grad(x * x, x, [None])",
    "grad(x.sum(), x, 1.0)",
    "grad(x.sum(), x, [1.0])",
    "grad(x * x, x, np.ones(3, np.float32))",
    "grad(x * x, x, tensor([1.0, 2.0, 3.0], dtype=float64))",
    "grad(x * x, x, tensor([1, 2, 3]))",
    "grad(x * x, x, tensor([1j, 1j, 1j]))",
    "grad(z * z, z, ones(2))",
    "grad(z * z, z, tensor([1 + 0j, 1j]))",
    "grad(z[0] * z[0], z)",
    # unused, and outside the graph
    "grad(x.sum(), [x, u])",
    "grad(x.sum(), [x, u], allow_unused=False)",
    "grad(x.sum(), [x, u], allow_unused=True)",
    "grad(x.sum(), [x, u], materialize_grads=True)",
    "grad(x.sum(), [x, u], materialize_grads=True, allow_unused=True)",
    "grad(x.sum(), [x, u], materialize_grads=True, allow_unused=False)",
    "grad((x * c).sum(), [x, c])",
    "grad((x * c).sum(), [x, c], allow_unused=True)",
    "grad((x * c).sum(), c, materialize_grads=True)",
    "grad(c.sum(), x)",
    "grad(c.sum(), x, allow_unused=True)",
    "grad([x.sum(), c.sum()], x)",
    "grad((x * x).sum().detach(), x)",
    # the graph afterwards
    "[grad(y, x) for _ in range(2)]",
    "[grad(y, x, retain_graph=True) for _ in range(2)]",
    "[grad(y, x, create_graph=True) for _ in range(2)]",
    "[grad(y, x, create_graph=True, retain_graph=False) for _ in range(2)]",
    "grad(grad((x * x * x).sum(), x, create_graph=True)[0].sum(), x)",
    # edges
    "grad(3 * edge(x), edge(x))",
    "grad((3 * (v := x * x)).sum(), edge(v))",
    "grad(edge(x * x), x, ones(3))",
    "grad(edge(x * x), x, ones(2))",
    "grad(edge(x * x), x)",
    "grad(x.sum(), [x, edge(u)], materialize_grads=True)",
    "edge(c)",
    # batches
    "grad(x * x, x, ones(2, 3), is_grads_batched=True)",
    "grad(x * x, {'x': x}, ones(2, 3), is_grads_batched=True)",
    "grad((x * x).sum(), x, ones(4), is_grads_batched=True)",
    "grad(x * x, x, ones(2, 2), is_grads_batched=True)",
    "grad(x * x, x, is_grads_batched=True)",
    "grad(x * x, x, [None], is_grads_batched=True)",
    "grad(x.sum(), x, is_grads_batched=True)",
    "grad(x.sum(), x, [None], is_grads_batched=True)",
    "grad(x.sum(), x, ones(), is_grads_batched=True)",
    "grad([x * x, x + 1], x, [ones(2, 3), ones(4, 3)], is_grads_batched=True)",
    "grad(x * x, [x, u], ones(2, 3), is_grads_batched=True, allow_unused=True)",
    # backward
    "backward((x * x).sum())",
    "backward([x.sum(), x * x], [None, ones(3)])",
    "backward([])",
    "backward(x * x)",
    "backward(x * x, ones(2))",
    "backward((x * x).sum(), inputs=[u])",
    "backward((x * x).sum(), inputs=[x])",
    "backward((x * x).sum(), inputs=x)",
    "backward((x * x).sum(), inputs=[])",
    "backward(x.sum(), inputs=[c])",
    "backward(c.sum())",
    # tensors
    "tensor([1.0, 2.0])",
    "tensor(1.0)",
    "tensor([1, 2])",
    "tensor([True])",
    "tensor([1j])",
    "tensor([[1.0, 2], [3, 4]])",
    "tensor([np.float64(1.0)])",
    "tensor(np.array([1.0]))",
    "tensor([1.0], dtype=float16)",
    "tensor([1, 2], requires_grad=True)",
    "tensor([])",
]


def names(torch: Any) -> dict[str, Any]:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    return {
        "grad": torch.autograd.grad,
        "backward": torch.autograd.backward,
        "edge": torch.autograd.graph.get_gradient_edge,
        "tensor": torch.tensor,
        "float16": torch.float16,
        "float64": torch.float64,
        "ones": lambda *shape: torch.tensor(np.ones(shape, np.float32)),
        "x": x,
        "y": (x * x).sum(),
        "u": torch.tensor([4.0, 5.0], requires_grad=True),
        "c": torch.tensor([7.0, 8.0, 9.0]),
        "z": torch.tensor([1.0 + 2.0j, 3.0 - 1.0j], requires_grad=True),
        "np": np,
        "OrderedDict": OrderedDict,
    }


def described(value: Any) -> Any:
    """A result of either library in words that both share."""
    if isinstance(value, tuple | list):
        return type(value), [described(item) for item in value]
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    if value is None:
        return None
    dtype = str(value.dtype).removeprefix("torch.")
    return dtype, tuple(value.shape), value.requires_grad, value.tolist()


def outcome(call: str, torch: Any) -> Any:
    """What a call gives, or raises, and the gradients it leaves in the leaves."""
    scope = names(torch)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch's
            result = described(eval(call, scope))
    except Exception as error:
        built_in = (t for t in type(error).__mro__ if t.__module__ == "builtins")
        result = next(built_in).__name__
    return result, [described(scope[leaf].grad) for leaf in "xu"]


@pytest.mark.parametrize("call", SAME)
def test_same_as_torch(call: str) -> None:
    assert outcome(call, ours) == outcome(call, theirs)


@pytest.mark.parametrize("dtype", "float16 bfloat16 float32 float64 complex64 int64 bool".split())
def test_tensors_are_printed_as_in_pytorch(dtype: str) -> None:
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(0)
    values = [[0.5, 0.25], [1e4, 1.0], [6e4, 1e-3], [1e-5, 1e-4], [0.0, 0.0], [100.0, -0.5], 3.5]
    if dtype not in ("int64", "bool"):
        values += [[np.nan, 1.0], [np.inf, 2e4], [-np.inf, 0.1]]
    if dtype == "complex64":
        values += [[0.5 - 2j, 3], [1e-5j, 1], [np.nan + 1j, 2]]
    for shape in ((0,), (2, 0), (30,), (1001,), (40, 40), (2, 3, 4), (7, 8, 30)):
        values += [scale * rng.normal(size=shape) for scale in (1, 100, 1e-6)]
    for value in values:
        both = [
            m.tensor(np.asarray(value).tolist(), dtype=getattr(m, dtype)) for m in (ours, theirs)
        ]
        shaped = [x.reshape(np.shape(value)) for x in both]
        assert repr(shaped[0]) == repr(shaped[1])
