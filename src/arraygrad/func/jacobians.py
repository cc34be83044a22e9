"""Whole matrices of derivatives: `jacrev`, `jacfwd`, `jacobian`, `hessian`; and `hvp`.

Each runs the function once, for all directions at once: the unit vectors go through the sweep, or
are the tangents of dual arrays, as one batched array. Sparse matrices are in `func.sparse`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, overload

import numpy as np

from .. import ops
from ..core.array import AnyFunction
from .forward import jvp
from .reverse import Argnums, Chosen, Tape, grad, split_aux
from .rows import (
    check_complex,
    chunked,
    in_precision_of,
    outputs_of,
    pull_rows,
    push_rows,
    real_rows,
)
from .signatures import Ts, X, gives_matrix
from .sparse import sparse_jacobian
from .trees import arrays_of, as_function, tree_map


@gives_matrix
def jacrev(
    function: AnyFunction,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
    sparse: bool = False,
    sparsity: Any = None,
) -> AnyFunction:
    """The Jacobian by reverse mode: one row per element of the output, all in one sweep.

    Parameters
    ----------
    function : callable
        Returns an array or any structure of arrays; with `has_aux`, a pair of that and anything
        else.
    argnums : int or tuple of int
        The arguments to differentiate with respect to, each any structure of arrays.
    has_aux : bool
    holomorphic : bool
        Say that `function` is holomorphic, which complex arguments require.
    chunk_size : int, optional
        Compute this many rows at a time, to bound memory.
    sparse : bool
        Give a `scipy.sparse.csr_array` with a row for each element of the output and a column for
        each element of the input, by as few products as its pattern allows. The elements of a
        structure of arrays follow each other.
    sparsity : sparse array or matrix, optional
        With `sparse`, the places where the Jacobian can be other than zero. By default, each call
        finds them by `arraygrad.func.sparsity`.

    Returns
    -------
    callable
        Called like `function`. For each array of the output and each array of the input, it gives
        an array of shape ``output.shape + input.shape``, in the structure of the output, and inside
        that, in the structure of the input.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.jacrev(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    options = has_aux, holomorphic, chunk_size
    return _jacobian(function, argnums, *options, "reverse", sparse, sparsity)


@gives_matrix
def jacfwd(
    function: AnyFunction,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
    sparse: bool = False,
    sparsity: Any = None,
) -> AnyFunction:
    """The Jacobian by forward mode: one column per element of the input, all in one run.

    Parameters and result are those of `jacrev`.
    """
    options = has_aux, holomorphic, chunk_size
    return _jacobian(function, argnums, *options, "forward", sparse, sparsity)


@gives_matrix
def jacobian(
    function: AnyFunction,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
    sparse: bool = False,
    sparsity: Any = None,
) -> AnyFunction:
    """The Jacobian, by reverse mode or forward mode, whichever needs fewer products.

    Parameters and result are those of `jacrev`.
    """
    options = has_aux, holomorphic, chunk_size
    return _jacobian(function, argnums, *options, "auto", sparse, sparsity)


@gives_matrix
def hessian(
    function: AnyFunction,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    holomorphic: bool = False,
    chunk_size: int | None = None,
    sparse: bool = False,
    sparsity: Any = None,
) -> AnyFunction:
    """The matrix of second derivatives of a function: forward mode over reverse mode.

    Parameters are those of `jacrev`. A function with several results gives one matrix for each.
    With `sparse`, the function must return one real number. The matrix is then assumed to be
    symmetric, as it is where second derivatives are continuous, and needs fewer products than a
    Jacobian.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    >>> chain = ag.func.hessian(lambda x: (x[1:] * x[:-1]).sum(), sparse=True)
    >>> chain(np.zeros(10_000)).nnz
    19998
    """
    as_function(function, "hessian")
    if sparse:
        first = grad(function, argnums, has_aux=has_aux)
        return _jacobian(first, argnums, has_aux, False, chunk_size, "symmetric", True, sparsity)
    first = jacrev(function, argnums, has_aux=has_aux, holomorphic=holomorphic)
    return _jacobian(first, argnums, has_aux, holomorphic, chunk_size, "forward", False, sparsity)


@overload
def hvp(  # type: ignore[overload-overlap]
    function: Callable[[X], Any], primals: tuple[X], tangents: tuple[Any]
) -> X: ...
@overload
def hvp(
    function: Callable[[*Ts], Any], primals: tuple[*Ts], tangents: tuple[Any, ...]
) -> tuple[*Ts]: ...
def hvp(function: AnyFunction, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """The product of a function's Hessian with a vector, without forming the matrix.

    Parameters
    ----------
    function : callable
        Returns a real number.
    primals, tangents : tuple
        The arguments, and the vector in the same structure.

    Returns
    -------
    The product, structured like `primals`; for a single argument, like that argument.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> ag.func.hvp(lambda x: (x**3).sum(), (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    array([6., 0.])
    """
    argnums: Argnums = 0 if len(primals) == 1 else tuple(range(len(primals)))
    return jvp(grad(function, argnums), primals, tangents)[1]


def _jacobian(
    function: AnyFunction,
    argnums: Argnums,
    has_aux: bool,
    holomorphic: bool,
    chunk_size: int | None,
    mode: str,
    sparse: bool,
    sparsity: Any,
) -> AnyFunction:
    as_function(function, "jacobian")
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"chunk_size must be at least 1, not {chunk_size}")
    if sparse:
        options = has_aux, holomorphic, chunk_size
        return sparse_jacobian(function, argnums, *options, mode, sparsity)
    if sparsity is not None:
        raise ValueError("sparsity was given for a dense result: pass sparse=True as well")

    @functools.wraps(function)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        chosen = Chosen(function, argnums, args, kwargs)
        inputs, _ = arrays_of(chosen.values, chosen.name)
        check_complex(inputs, holomorphic)
        tape = None
        if mode != "forward":
            tape = Tape(chosen.run, chosen.values, chosen.name, chosen.given)
        if tape is not None and mode == "auto":
            outputs = outputs_of(split_aux(tape.result, has_aux)[0], holomorphic)[0]
            if sum(math.prod(o.shape) for o in outputs) > sum(math.prod(x.shape) for x in inputs):
                tape = None
        if tape is not None:
            rows, rebuild, aux = _by_rows(tape, has_aux, holomorphic, chunk_size)
        else:
            rows, rebuild, aux = _by_columns(chosen, inputs, has_aux, holomorphic, chunk_size)
        jacobian = rebuild([chosen.shaped(row) for row in rows])
        return (jacobian, aux) if has_aux else jacobian

    return differentiated


def _by_rows(
    tape: Tape, has_aux: bool, holomorphic: bool, chunk_size: int | None
) -> tuple[list[list[Any]], Any, Any]:
    """The Jacobian by rows: pull the unit vectors of the outputs back, a chunk at a time."""
    result, aux = split_aux(tape.result, has_aux)
    outputs, rebuild = outputs_of(result, holomorphic)
    aux = tree_map(tape.strip, aux)
    inputs = [leaf._array for leaf in tape.leaves]
    total = sum(math.prod(o.shape) for o in outputs)
    if total == 1 == len(outputs) and not ops.is_complex(outputs[0]):  # a gradient
        shape = outputs[0].shape
        found = tape.pull(outputs, [ops.ones_like(outputs[0])])
        shaped = [ops.reshape(g, (*shape, *g.shape)) if shape else g for g in found]
        return [[tape.strip(g) for g in shaped]], rebuild, aux

    def rows(start: int, stop: int) -> list[Any]:
        return pull_rows(tape, outputs, np.eye(stop - start, total, start), holomorphic)

    blocks = chunked(rows, total, chunk_size)
    table = []
    offset = 0
    for out in outputs:
        part = slice(offset, offset + math.prod(out.shape))
        table.append(
            [
                tape.strip(ops.reshape(real_rows(block[part], out), (*out.shape, *x.shape)))
                for block, x in zip(blocks, inputs, strict=True)
            ]
        )
        offset += math.prod(out.shape)
    return table, rebuild, aux


def _by_columns(
    chosen: Chosen,
    inputs: list[Any],
    has_aux: bool,
    holomorphic: bool,
    chunk_size: int | None,
) -> tuple[list[list[Any]], Any, Any]:
    """The Jacobian by columns: push the unit vectors of the inputs forward, a chunk at a time."""
    total = sum(math.prod(x.shape) for x in inputs)
    seen: dict[str, Any] = {}

    def columns(start: int, stop: int) -> list[Any]:
        directions = np.eye(stop - start, total, start)
        tangents, value, seen["aux"] = push_rows(chosen, chosen.values, directions, has_aux)
        seen["outputs"], seen["rebuild"] = outputs_of(value, holomorphic)
        return tangents

    blocks = chunked(columns, total, chunk_size)
    table = []
    for out, block in zip(seen["outputs"], blocks, strict=True):
        row = []
        offset = 0
        for x in inputs:
            part = ops.moveaxis(block[offset : offset + math.prod(x.shape)], 0, -1)
            shaped = ops.reshape(in_precision_of(x, part), (*out.shape, *x.shape))
            row.append(chosen.given.result(shaped))
            offset += math.prod(x.shape)
        table.append(row)
    return table, seen["rebuild"], seen["aux"]
