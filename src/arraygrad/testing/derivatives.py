"""Derivatives against finite differences: `gradcheck` and `gradgradcheck`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypedDict, TypeVarTuple, Unpack, overload

import numpy as np

from ..arrays.dual import dual_type
from ..arrays.tensor import Tensor, tensor_type_at
from ..autograd import grad
from ..autograd.forward_ad import dual_level
from ..autograd.function import SetupContextError
from ..autograd.structures import flatten
from ..backends import backend_of
from ..core.array import plain
from .closeness import values_of

Ts = TypeVarTuple("Ts")


class GradcheckError(RuntimeError):
    """A derivative differs from finite differences, or from another way to compute it.

    `place` says which: the way, and the numbers of the output and of the input.
    """

    place: tuple[str, int, int]


class ChangedOutputsError(GradcheckError):
    """A function returns outputs of another number, shape or dtype at another point."""


class Options(TypedDict, total=False):
    """The keywords of `gradcheck` and `gradgradcheck`."""

    eps: float
    atol: float
    rtol: float
    raise_exception: bool
    check_reverse: bool
    check_forward: bool | None
    check_batched: bool
    check_undefined: bool
    nondet_tol: float
    fast_mode: bool


@overload
def gradcheck(
    function: Callable[[Tensor], Any], inputs: Tensor, **options: Unpack[Options]
) -> bool: ...
@overload
def gradcheck(
    function: Callable[[*Ts], Any], inputs: tuple[*Ts], **options: Unpack[Options]
) -> bool: ...
@overload
def gradcheck(function: Callable[..., Any], inputs: Any, **options: Unpack[Options]) -> bool: ...
def gradcheck(
    function: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    check_reverse: bool = True,
    check_forward: bool | None = None,
    check_batched: bool = True,
    check_undefined: bool = True,
    nondet_tol: float = 0.0,
    fast_mode: bool = False,
) -> bool:
    """Compare the derivatives of a function with finite differences.

    The Jacobian of every floating-point output with respect to every input that requires
    gradients is computed by reverse mode, by forward mode and by central differences.

    Parameters
    ----------
    function : callable
        Takes `inputs` as its arguments; returns a tensor or a structure of tensors.
    inputs : Tensor, or tuple of arguments
        At least one tensor must require gradients. Tensors that require gradients should be float64
        or complex128, as finite differences lose half of the digits. Tensors may be inside
        containers. Other arguments are passed on as they are.
    eps : float
        The step of the finite differences.
    atol, rtol : float
        The largest absolute and relative difference of a derivative from the finite difference.
    raise_exception : bool
        Whether a mismatch raises. Otherwise, it makes the result False.
    check_reverse : bool
        Whether to check reverse mode.
    check_forward : bool, optional
        Whether to check forward mode. By default, it is checked if every op in the function has a
        forward rule. With True, a missing rule is an error.
    check_batched : bool
        Whether to check that `is_grads_batched=True` gives the same result as one vector at a time.
    check_undefined : bool
        Whether to check, for a function with several outputs, that an output that is left out
        counts like an output whose cotangent is zero.
    nondet_tol : float
        The largest difference between two runs of the same reverse sweep.
    fast_mode : bool
        Compare the Jacobians only along one random direction for each input and output. This is
        much faster for large Jacobians, and nearly as strict.

    Returns
    -------
    bool
        True if all agree.

    Raises
    ------
    GradcheckError
        If two Jacobians differ. The message shows both, and where they differ most.
    ValueError
        If no input requires gradients, or no output is a floating-point tensor.

    Notes
    -----
    Complex numbers are treated as pairs of real numbers, so functions need not be holomorphic. In
    the Jacobians of the error message, each complex number has two rows or columns.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([0.5, 1.0, 1.5], requires_grad=True)
    >>> ag.testing.gradcheck(lambda x: ag.sin(x) * x, x)
    True

    A function that hides part of its dependence from the graph:

    >>> ag.testing.gradcheck(lambda x: x.detach() * x, x, raise_exception=False)
    False
    """
    check = _Check(function, inputs, eps, atol, rtol, fast_mode)
    try:
        numerical = check.numerical()
        if check_reverse:
            reverse = check.reverse()
            check.compare(reverse, numerical, "reverse mode", "finite differences")
            check.repeat(reverse, nondet_tol)
            if check_batched:
                check.compare(check.batched(), reverse, "a batched sweep", "single sweeps")
            if check_undefined and len(check.outputs) > 1:
                full = check.reverse(others_zero=True)
                check.compare(full, reverse, "zeros for other outputs", "leaving them out")
        if check_forward is not False:
            try:
                forward = check.forward()
            except ChangedOutputsError as error:
                raise _found("forward mode", 0, check.wanted[0], str(error)) from error
            except NotImplementedError:
                if check_forward:
                    raise
            else:
                check.compare(forward, numerical, "forward mode", "finite differences")
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


@overload
def gradgradcheck(
    function: Callable[[Tensor], Any],
    inputs: Tensor,
    grad_outputs: Any = None,
    **options: Unpack[Options],
) -> bool: ...
@overload
def gradgradcheck(
    function: Callable[[*Ts], Any],
    inputs: tuple[*Ts],
    grad_outputs: Any = None,
    **options: Unpack[Options],
) -> bool: ...
@overload
def gradgradcheck(
    function: Callable[..., Any], inputs: Any, grad_outputs: Any = None, **options: Unpack[Options]
) -> bool: ...
def gradgradcheck(
    function: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    **options: Unpack[Options],
) -> bool:
    """Compare the second derivatives of a function with finite differences of its gradients.

    This is `gradcheck` of the function that maps `inputs` and the cotangents of the outputs to the
    gradients of the inputs.

    Parameters
    ----------
    function, inputs
        As in `gradcheck`.
    grad_outputs : sequence of Tensor, optional
        The cotangents of the outputs at which to check; by default, random numbers.
    **options
        As in `gradcheck`.

    Returns
    -------
    bool
        True if all agree.

    Raises
    ------
    GradcheckError, ValueError
        As in `gradcheck`.

    Examples
    --------
    >>> import arraygrad as ag
    >>> x = ag.tensor([0.5, 1.0, 1.5], requires_grad=True)
    >>> ag.testing.gradgradcheck(lambda x: ag.exp(x).sum() ** 2, x)
    True
    """
    leaves, rebuild = flatten(_arguments(inputs))
    wanted = _wanted(leaves)
    outputs = [o for o in _float_tensors(function(*rebuild(leaves))) if o.requires_grad]
    if not outputs:
        raise ValueError("function returned no tensor that requires gradients")
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        grad_outputs = [_from_real(rng.standard_normal(_as_real(o).size), o) for o in outputs]
    seeds = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    seeds = [s if s.requires_grad else s.detach().requires_grad_() for s in seeds]

    def gradients(arguments: Any, seeds: Any) -> Any:
        again, _ = flatten(arguments)
        outputs = [o for o in _float_tensors(function(*arguments)) if o.requires_grad]
        return grad(
            outputs,
            [again[j] for j in wanted],
            list(seeds),
            create_graph=True,
            materialize_grads=True,
        )

    return gradcheck(gradients, (rebuild(leaves), tuple(seeds)), **options)


# Jacobians as nested lists: for each output, a list with the Jacobian for each input.
Jacobians = list[list[Any]]


class _Check:
    """One function at one point, and its Jacobians, computed in several ways.

    Complex arrays are treated as real arrays with a last axis of real and imaginary parts. Each way
    gives `rows @ J @ columns.T`. By default, rows and columns are all unit vectors, which gives `J`
    itself. In fast mode, they are one random vector each.
    """

    def __init__(
        self, function: Any, inputs: Any, eps: float, atol: float, rtol: float, fast: bool
    ) -> None:
        self.function = function
        self.eps, self.atol, self.rtol, self.fast = eps, atol, rtol, fast
        self.leaves, self.rebuild = flatten(_arguments(inputs))
        self.wanted = _wanted(self.leaves)
        self.inputs = [self.leaves[j] for j in self.wanted]
        for position, x in zip(self.wanted, self.inputs, strict=True):
            if values_of(x).real.dtype != np.float64:
                warnings.warn(
                    f"input {position} requires gradients and is {x.dtype}: finite differences "
                    "need float64 or complex128, the check is likely to fail",
                    stacklevel=3,
                )
        self.outputs = _float_tensors(function(*self.rebuild(self.leaves)))
        if not self.outputs:
            raise ValueError("function returned no floating-point tensor: nothing can be checked")
        rng = np.random.default_rng(0)
        self.columns = [self._directions(x, rng) for x in self.inputs]
        self.rows = [self._directions(o, rng) for o in self.outputs]

    def _directions(self, x: Tensor, rng: np.random.Generator) -> Any:
        n = _as_real(x).size
        if not self.fast:
            return np.eye(n)
        vector = rng.standard_normal((1, n))
        return vector / (np.linalg.norm(vector) or 1.0)

    def _evaluate(self, changed: dict[int, Any]) -> list[Tensor]:
        """The outputs, with some inputs replaced by other tensors."""
        leaves = [changed.get(j, leaf) for j, leaf in enumerate(self.leaves)]
        outputs = _float_tensors(self.function(*self.rebuild(leaves)))
        if [(o.shape, o.dtype) for o in outputs] != [(o.shape, o.dtype) for o in self.outputs]:
            raise ChangedOutputsError(
                "function returns outputs of different number, shape or dtype each time"
            )
        return outputs

    def numerical(self) -> Jacobians:
        """The Jacobians by central differences."""

        def along(position: int, x: Tensor, direction: Any) -> list[Any]:
            step, centre = self.eps * direction, _as_real(x)
            ends = []
            for end in (centre + step, centre - step):
                moved = _from_real(end, x).requires_grad_()
                ends.append([_as_real(o) for o in self._evaluate({position: moved})])
            return [(after - before) / (2 * self.eps) for after, before in zip(*ends, strict=True)]

        return self._by_columns(along)

    def forward(self) -> Jacobians:
        """The Jacobians by forward mode."""
        try:
            return self._pushed(recorded=True)
        except SetupContextError:  # one transform is all that such a function can do
            return self._pushed(recorded=False)

    def _pushed(self, recorded: bool) -> Jacobians:
        """On tensors over dual arrays. If these are recorded, `function` may use `grad`."""

        def along(position: int, x: Tensor, direction: Any) -> list[Any]:
            with dual_level() as level, np.errstate(all="ignore"):  # as in a sweep
                tensor = tensor_type_at(level + 0.5)
                dual, tangent = dual_type(level), _from_real(direction, x).array
                changed = {
                    p: tensor(
                        dual(plain(other), tangent if p == position else 0 * plain(other))
                    ).requires_grad_(recorded)
                    for p, other in zip(self.wanted, self.inputs, strict=True)
                }
                outputs = self._evaluate(changed)
            return [_tangent(out, level) for out in outputs]

        return self._by_columns(along)

    def _by_columns(self, along: Callable[[int, Tensor, Any], list[Any]]) -> Jacobians:
        """The Jacobians, from the slopes of all outputs along a direction of one input."""
        found = [
            [along(position, x, direction) for direction in columns]
            for position, x, columns in zip(self.wanted, self.inputs, self.columns, strict=True)
        ]
        return [
            [
                rows @ np.reshape([s[o] for s in slopes], (len(slopes), rows.shape[1])).T
                for slopes in found
            ]
            for o, rows in enumerate(self.rows)
        ]

    def reverse(self, others_zero: bool = False) -> Jacobians:
        """The Jacobians by reverse mode, one sweep for each row."""
        live = [k for k, out in enumerate(self.outputs) if out.requires_grad]

        def swept(o: int, rows: Any) -> list[Any]:
            among = live if others_zero else [o]
            found: list[list[Any]] = [[] for _ in self.inputs]
            for row in rows:
                seeds = [_from_real(row, self.outputs[o]) if k == o else 0.0 for k in among]
                gradients = self._gradients([self.outputs[k] for k in among], seeds)
                for j, gradient in enumerate(gradients):
                    found[j].append(self._gradient_row(gradient, o, j))
            return found

        return self._by_rows(swept)

    def batched(self) -> Jacobians:
        """The Jacobians by reverse mode, one batched sweep for all rows."""

        def swept(o: int, rows: Any) -> list[Any]:
            output = self.outputs[o]
            seeds = _from_real(rows, output, (len(rows), *output.shape))
            return list(map(_as_real, self._gradients([output], [seeds], is_grads_batched=True)))

        return self._by_rows(swept)

    def _gradients(self, outputs: list[Tensor], seeds: list[Any], **how: bool) -> Any:
        how |= {"retain_graph": True, "materialize_grads": True}
        return grad(outputs, self.inputs, seeds, **how)

    def _by_rows(self, swept: Callable[[int, Any], list[Any]]) -> Jacobians:
        """The Jacobians, from the gradients of an output along its rows, for each input."""
        jacobians = []
        for o, (output, rows) in enumerate(zip(self.outputs, self.rows, strict=True)):
            if not output.requires_grad:
                jacobians.append([np.zeros((len(rows), len(columns))) for columns in self.columns])
                continue
            pairs = zip(swept(o, rows), self.columns, strict=True)
            jacobians.append([np.reshape(g, (len(rows), c.shape[1])) @ c.T for g, c in pairs])
        return jacobians

    def _gradient_row(self, gradient: Tensor, o: int, j: int) -> Any:
        x = self.inputs[j]
        if gradient.shape != x.shape or gradient.dtype != x.dtype:
            raise GradcheckError(
                f"the gradient of output {o} with respect to input {self.wanted[j]} has shape "
                f"{gradient.shape} and dtype {gradient.dtype}, the input has shape {x.shape} and "
                f"dtype {x.dtype}"
            )
        return _as_real(gradient)

    def repeat(self, reverse: Jacobians, tolerance: float) -> None:
        """Run reverse mode once more on the same graph, and raise if the result is another."""
        for o, (first, second) in enumerate(zip(reverse, self.reverse(), strict=True)):
            for j, (a, b) in enumerate(zip(first, second, strict=True)):
                apart = np.max(np.abs(a - b), initial=0.0)
                if apart > tolerance:
                    raise _found(
                        "two sweeps",
                        o,
                        self.wanted[j],
                        f"two sweeps over the same graph disagree by {apart:.3g} in the gradient "
                        f"of output {o} with respect to input {self.wanted[j]}; nondet_tol allows "
                        f"{tolerance:.3g}",
                    )

    def compare(self, found: Jacobians, expected: Jacobians, way: str, other: str) -> None:
        """Raise unless two sets of Jacobians agree."""
        for o, (found_row, expected_row) in enumerate(zip(found, expected, strict=True)):
            for j, (a, b) in enumerate(zip(found_row, expected_row, strict=True)):
                excess = np.abs(a - b) - (self.atol + self.rtol * np.abs(b))
                wrong = ~((excess <= 0) | (np.isnan(a) & np.isnan(b)) | (a == b))
                if np.any(wrong):
                    report = self._report(o, j, a, b, wrong, way, other)
                    raise _found(way, o, self.wanted[j], report)

    def _report(self, o: int, j: int, a: Any, b: Any, wrong: Any, way: str, other: str) -> str:
        distance = np.where(wrong, np.nan_to_num(np.abs(a - b), nan=np.inf), -1.0)
        worst = np.unravel_index(np.argmax(distance), a.shape)
        where = ""
        if not self.fast:
            where = (
                f" at element {_place(worst[0], self.outputs[o])} of the output and "
                f"{_place(worst[1], self.inputs[j])} of the input"
            )
        return (
            f"the Jacobian of output {o} with respect to input {self.wanted[j]} by {way} is not "
            f"that by {other}.\n{int(wrong.sum())} of {wrong.size} entries differ, most{where}: "
            f"{a[worst]:.6g} and {b[worst]:.6g}.\n{way}:\n{a}\n{other}:\n{b}"
        )


def _found(way: str, output: int, position: int, text: str) -> GradcheckError:
    error = GradcheckError(text)
    error.place = way, output, position
    return error


def _arguments(inputs: Any) -> tuple[Any, ...]:
    return tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)


def _wanted(leaves: list[Any]) -> list[int]:
    """The positions of the tensors that require gradients."""
    wanted = [j for j, x in enumerate(leaves) if isinstance(x, Tensor) and x.requires_grad]
    if not wanted:
        raise ValueError(
            "inputs holds no tensor that requires gradients: make one with requires_grad=True"
        )
    return wanted


def _float_tensors(outputs: Any) -> list[Tensor]:
    leaves, _ = flatten(outputs)
    return [
        x for x in leaves if isinstance(x, Tensor) and backend_of(x).kind(x.dtype) in ("f", "c")
    ]


def _as_real(x: Any) -> Any:
    """The elements as a real vector; of complex elements, real and imaginary parts in turn."""
    values = values_of(x)
    if values.dtype.kind == "c":
        values = np.stack([values.real, values.imag], axis=-1)
    return values.reshape(-1).astype(np.float64)


def _from_real(values: Any, like: Tensor, shape: tuple[int, ...] | None = None) -> Tensor:
    """The inverse of `_as_real`: a new tensor with the dtype and library of `like`."""
    shape = like.shape if shape is None else shape
    backend, array = backend_of(like), plain(like)
    values = np.reshape(values, -1)
    if backend.kind(like.dtype) == "c":
        pairs = values.reshape(-1, 2)
        values = pairs[:, 0] + 1j * pairs[:, 1]
    values = values.reshape(shape)
    made = backend.xp.asarray(values, dtype=like.dtype, device=backend.device(array))
    return Tensor(made)


def _tangent(out: Any, level: int) -> Any:
    """The tangent of a dual array, or of a tensor over one, as a real vector; or zeros."""
    array = out._array if isinstance(out, Tensor) else out
    if not isinstance(array, dual_type(level)):
        return np.zeros(_as_real(array).size)
    tangent = array.tangent
    if tuple(tangent.shape) != out.shape or tangent.dtype != out.dtype:
        raise GradcheckError(
            f"forward mode gives a tangent of shape {tuple(tangent.shape)} and dtype "
            f"{tangent.dtype} for an output of shape {out.shape} and dtype {out.dtype}"
        )
    return _as_real(tangent)


def _place(number: Any, x: Tensor) -> str:
    """The element, and its real or imaginary part, that a row or column stands for."""
    number = int(number)
    part = ""
    if backend_of(x).kind(x.dtype) == "c":
        number, rest = divmod(number, 2)
        part = " (imaginary part)" if rest else " (real part)"
    index = ", ".join(str(int(i)) for i in np.unravel_index(number, x.shape)) if x.shape else ""
    return f"[{index}]{part}"
