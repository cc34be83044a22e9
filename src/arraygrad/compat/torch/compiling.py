"""`torch.compile`, by arraygrad's compiler. What it cannot trace runs as before."""

from __future__ import annotations

import contextlib
import functools
import pickle
import random
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...compiler.call.compiled import compile as compile_native
from ...core.array import Array
from ...core.structures import taken_apart
from ...func.trees import tree_map
from .creation import tensor
from .dtypes import uint8
from .handles import Tensor, wrap
from .nn.module import Module
from .random import default_generator

_MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str = "inductor",
    mode: str | None = None,
    options: None = None,
    disable: bool = False,
) -> Any:
    """Make native code of a function or a module; its gradients are native code, too.

    Parameters
    ----------
    model : callable, optional
        Without it, `compile` returns a decorator.
    fullgraph : bool
        Whether to raise an error if the function cannot be traced, or draws random numbers. Else
        it runs as it is.
    dynamic : bool, optional
        There is one program for each shape, so it must not be true.
    backend : str
        "inductor", which stands for arraygrad's compiler; or "eager", which compiles nothing.
    mode : str, optional
        PyTorch's modes mean more or less time to compile. Here they are the same.
    options
        Those of PyTorch's compiler, of which there are none here.
    disable : bool
        Whether to return the function as it is.
    """
    if mode not in _MODES:
        raise RuntimeError(f"compile(): mode must be one of {_MODES}, not {mode!r}")
    if backend not in ("inductor", "eager"):
        raise RuntimeError(f'compile(): backend must be "inductor" or "eager", not {backend!r}')
    if dynamic or options is not None:
        name = "dynamic=True" if dynamic else "options"
        raise NotImplementedError(f"compile(): {name} is for PyTorch's own compiler: leave it away")
    if model is None:
        return functools.partial(
            compile, fullgraph=fullgraph, backend=backend, mode=mode, disable=disable
        )
    if disable or backend == "eager":
        return model
    return (
        OptimizedModule(model, fullgraph)
        if isinstance(model, Module)
        else _Compiled(model, fullgraph)
    )


class OptimizedModule(Module):
    """A compiled module. Its parts are those of the module that it was made from."""

    def __init__(self, module: Module, fullgraph: bool) -> None:
        super().__init__()
        self._orig_mod = module
        self.__dict__["_compiled"] = _Compiled(module, fullgraph)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the module."""
        return self._compiled(*args, **kwargs)

    def train(self, mode: bool = True) -> Module:
        self._orig_mod.train(mode)
        return super().train(mode)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_orig_mod"), name)


class _Untraceable(Exception):
    """The function does something that a program cannot do in each call."""


class _Rest(NamedTuple):
    """All of a call's arguments but the tensors: the structure, and the other leaves."""

    spec: Any
    leaves: tuple[Any, ...]  # None in the place of a tensor
    types: tuple[type, ...]  # as 1 equals True and 1.0

    def arguments(self, tensors: Iterable[Tensor]) -> Any:
        """The arguments, with tensors in their places."""
        import optree

        rest = iter(tensors)
        leaves = [
            next(rest) if kind is Tensor else leaf
            for leaf, kind in zip(self.leaves, self.types, strict=True)
        ]
        return optree.tree_unflatten(self.spec, leaves)


class _Compiled:
    """A function of tensors that runs as a program, or as it is where there can be none."""

    def __init__(self, function: Callable[..., Any], fullgraph: bool) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._fullgraph = fullgraph
        self._eager: set[Any] = set()  # the signatures that cannot be traced

        def traced(rest: _Rest, *arrays: Any) -> Any:
            args, kwargs = rest.arguments(map(wrap, arrays))
            with _no_random_numbers():
                return tree_map(_array, function(*args, **kwargs))

        self._native = compile_native(traced, static_argnums=0)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, spec = taken_apart((args, kwargs))
        types = tuple(Tensor if isinstance(leaf, Tensor) else type(leaf) for leaf in leaves)
        rest = _Rest(spec, tuple(None if isinstance(x, Tensor) else x for x in leaves), types)
        arrays = [leaf._t for leaf in leaves if isinstance(leaf, Tensor)]
        try:
            is_training = getattr(self._function, "training", None)
            signature = rest, is_training, tuple((a.shape, a.dtype) for a in arrays)
            if signature not in self._eager:
                return tree_map(_tensor, self._native(rest, *arrays))
        except ImportError:  # of llvmlite
            raise
        except Exception as error:
            if self._fullgraph:
                raise
            name = getattr(self._function, "__name__", type(self._function).__name__)
            warnings.warn(
                f"torch.compile: {name} runs as it is written, not as native code: {error}",
                stacklevel=2,
            )
            with contextlib.suppress(TypeError):  # an argument that cannot be hashed
                self._eager.add(signature)
        return self._function(*args, **kwargs)


def _array(value: Any) -> Any:
    return value._t if isinstance(value, Tensor) else value


def _tensor(value: Any) -> Any:
    return wrap(value) if isinstance(value, Array | np.ndarray) else value


@contextlib.contextmanager
def _no_random_numbers() -> Iterator[None]:
    """Raise if random numbers are drawn, which would be the same in each call of a program."""
    numpys: Any = np.random  # whose stubs do not have the function
    bits = numpys.get_bit_generator()

    def states() -> list[Any]:
        return [random.getstate(), bits.state, default_generator.get_state().tolist()]

    before = states()
    try:
        yield
    finally:
        is_same = pickle.dumps(before) == pickle.dumps(states())
        random.setstate(before[0])
        bits.state = before[1]
        default_generator.set_state(tensor(before[2], dtype=uint8))
    if not is_same:
        raise _Untraceable("the compiled function draws random numbers")
