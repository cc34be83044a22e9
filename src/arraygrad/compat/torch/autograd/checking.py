"""`gradcheck` and `gradgradcheck`, with PyTorch's parameters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .... import ops
from ....testing import GradcheckError
from ....testing import gradcheck as native_gradcheck
from ....testing import gradgradcheck as native_gradgradcheck
from ....testing.derivatives import ChangedOutputsError
from ..creation import zeros_like
from ..func import vmap
from ..handles import Tensor, unwrap, wrap
from ..random import randn
from .forward_ad import dual_level, make_dual, unpack_dual


def _on_tensors(func: Any, inputs: Any) -> Any:
    """The function on arrays, which become those of the given tensors: it may know these."""
    given = _flat(inputs)

    def function(*args: Any) -> Any:
        tensors = _flat(wrap(args))
        if len(tensors) != len(given):
            return unwrap(func(*wrap(args)))
        held = [t._t for t in given]
        try:
            for own, other in zip(given, tensors, strict=True):
                own._t = other._t
            return unwrap(func(*_several(inputs)))
        finally:
            for own, array in zip(given, held, strict=True):
                own._t = array

    return function


def _flat(inputs: Any) -> list[Tensor]:
    if isinstance(inputs, Tensor):
        return [inputs]
    if isinstance(inputs, tuple | list):
        return [t for item in inputs for t in _flat(item)]
    return []


def _prepared(func: Any, inputs: Any) -> Any:
    wanted = [t for t in _flat(inputs) if t.requires_grad]
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none does"
        )
    for i, x in enumerate(_flat(inputs)):
        if x.requires_grad and x.dtype.itemsize < (16 if x.dtype.is_complex else 8):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                f"complex number, but {x.dtype}: the check will probably fail",
                stacklevel=3,
            )
        if x.requires_grad and any(
            step == 0 and length > 1 for step, length in zip(x.stride(), x.shape, strict=True)
        ):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0: several of its elements are one "
                "in memory, so that they cannot be varied one by one. Pass a clone() of it"
            )
    given = tuple(inputs) if isinstance(inputs, list) else inputs
    return _on_tensors(func, inputs), unwrap(given)


def gradcheck(
    func: Any,
    inputs: Any,
    *,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    **options: Any,
) -> bool:
    """Compare the derivatives of a function with finite differences.

    The other options are `eps`, `atol`, `rtol`, `nondet_tol`, `fast_mode`, `raise_exception` and
    `check_undefined_grad`, as in `arraygrad.testing.gradcheck`. Gradients always have the dtype of
    their input, so `check_grad_dtypes` has nothing to find.
    """
    if not check_forward_ad and not check_backward_ad:
        raise AssertionError("Expected at least one of check_forward_ad and check_backward_ad")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad=True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("check_batched_forward_grad=True requires check_forward_ad=True")
    outputs = func(*_several(inputs))
    if isinstance(outputs, tuple | list) and not outputs:
        return True
    return _checked(
        native_gradcheck,
        func,
        inputs,
        also=_check_batched_tangents if check_batched_forward_grad else None,
        check_reverse=check_backward_ad,
        check_batched=check_batched_grad,
        check_forward=check_forward_ad,
        **options,
    )


def _checked(
    native: Any,
    func: Any,
    inputs: Any,
    *given: Any,
    also: Any = None,
    raise_exception: bool = True,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    masked: bool | None = None,
    **options: Any,
) -> bool:
    """Run one of arraygrad's checks on a function of tensors, and perhaps another one."""
    if masked:
        raise NotImplementedError("masked=True is about sparse tensors, which are not here")
    function, arrays = _prepared(func, inputs)
    try:
        with _in_torch_words():
            native(function, arrays, *given, check_undefined=check_undefined_grad, **options)
            if also is not None:
                also(func, inputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _several(inputs: Any) -> tuple[Any, ...]:
    return tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)


@contextmanager
def _in_torch_words() -> Iterator[None]:
    """Put PyTorch's words in front of what a check found."""
    try:
        yield
    except ChangedOutputsError as error:
        raise AssertionError(
            f"Expected function to return outputs with the same shape when inputs are perturbed, "
            f"and return outputs with the same dtype when inputs are perturbed: {error}"
        ) from error
    except GradcheckError as error:
        way, output, position = getattr(error, "place", ("", 0, 0))
        words = {
            "reverse mode": "Jacobian mismatch",
            "forward mode": "Jacobian computed with forward mode mismatch",
            "two sweeps": "Backward is not reentrant, i.e. it gives another gradient each time,",
            "a batched sweep": "gradcheck or gradgradcheck failed while testing batched gradient "
            "computation",
        }.get(way)
        if words is not None:
            where = f" for output {output} with respect to input {position}"
            error.args = (f"{words}{where}: {error}",)
        raise


def _check_batched_tangents(func: Any, inputs: Any) -> None:
    """Raise unless forward mode on a batch of tangents gives what it gives on each of them."""
    given = _several(inputs)
    places = [i for i, x in enumerate(given) if isinstance(x, Tensor) and x.requires_grad]
    primals = tuple(given[i].detach() for i in places)

    def of_some(*values: Any) -> Any:
        full = list(given)
        for i, value in zip(places, values, strict=True):
            full[i] = value
        found = func(*full)
        parts = found if isinstance(found, tuple | list) else (found,)
        return tuple(p for p in parts if isinstance(p, Tensor) and p.dtype.kind in "fc")

    def pushed(*tangents: Any) -> Any:
        with dual_level():
            found = of_some(*map(make_dual, primals, tangents))
            pairs = [unpack_dual(value) for value in found]
        return tuple(zeros_like(p) if t is None else t for p, t in pairs)

    batch = tuple(randn(2, *p.shape, dtype=p.dtype) for p in primals)
    try:
        together = vmap(pushed)(*batch)
    except Exception as error:
        raise GradcheckError(
            f"forward mode does not run on a batch of tangents: {error}"
        ) from error
    for k in range(2):
        for found, expected in zip(together, pushed(*(t[k] for t in batch)), strict=True):
            if not np.allclose(found[k].numpy(force=True), expected.numpy(force=True)):
                raise GradcheckError("forward mode on a batch of tangents is not that on each")


def gradgradcheck(
    func: Any,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    gen_non_contig_grad_outputs: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    **options: Any,
) -> bool:
    """Compare the second derivatives of a function with finite differences of its gradients.

    The other options are those of `gradcheck`. How cotangents lie in memory, which
    `gen_non_contig_grad_outputs` is about, does not matter here.
    """
    if not check_fwd_over_rev and not check_rev_over_rev:
        raise AssertionError("check_fwd_over_rev and check_rev_over_rev cannot both be False")
    given = None if grad_outputs is None else list(map(unwrap, _several(grad_outputs)))
    if given is not None:  # numbers of low precision would spoil the finite differences
        given = [
            ops.astype(g, np.promote_types(g.dtype, np.float64)) if g.dtype.itemsize < 8 else g
            for g in given
        ]
    return _checked(
        native_gradgradcheck,
        func,
        inputs,
        given,
        check_reverse=check_rev_over_rev,
        check_batched=check_batched_grad,
        check_forward=check_fwd_over_rev,
        **options,
    )


__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
