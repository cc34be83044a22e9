"""`autograd.test_util`: compares derivatives with finite differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from .core import make_jvp, make_vjp, vspace
from .wrap_util import get_name, unary_to_nary

__all__ = [
    "check_equivalent", "check_grads", "check_jvp", "check_vjp", "combo_check",
    "make_numerical_jvp", "scalar_close",
]  # fmt: skip

AnyFunction = Callable[..., Any]

TOL = 1e-6
RTOL = 1e-6
EPS = 1e-6


def scalar_close(a: Any, b: Any) -> bool:
    """Whether two numbers differ by less than 1e-6, or by less than 1e-6 of their sum."""
    return bool(abs(a - b) < TOL or abs(a - b) / abs(a + b) < RTOL)


def make_numerical_jvp(f: AnyFunction, x: Any) -> AnyFunction:
    """A function from a tangent to the tangent of the result, by central differences."""
    of_x, of_y = vspace(x), vspace(f(x))

    def jvp(v: Any) -> Any:
        after = f(of_x.add(x, of_x.scalar_mul(v, EPS / 2)))
        before = f(of_x.add(x, of_x.scalar_mul(v, -EPS / 2)))
        return of_y.scalar_mul(of_y.add(after, of_y.scalar_mul(before, -1.0)), 1.0 / EPS)

    return jvp


def check_vjp(f: AnyFunction, x: Any) -> None:
    """Raise unless reverse mode agrees with finite differences along random directions."""
    vjp, y = make_vjp(f, x)
    push = make_numerical_jvp(f, x)
    of_x, of_y = vspace(x), vspace(y)
    x_direction, y_direction = of_x.randn(), of_y.randn()
    pulled = of_x.covector(vjp(of_y.covector(y_direction)))
    assert vspace(pulled) == of_x, f"{vspace(pulled)} is not {of_x}"
    exact = of_x.inner_prod(x_direction, pulled)
    numeric = of_y.inner_prod(y_direction, push(x_direction))
    assert scalar_close(numeric, exact), (
        f"Derivative (VJP) check of {get_name(f)} failed with arg {x}:\n"
        f"analytic: {exact}\nnumeric:  {numeric}"
    )


def check_jvp(f: AnyFunction, x: Any) -> None:
    """Raise unless forward mode agrees with finite differences along a random direction."""
    direction = vspace(x).randn()
    check_equivalent(make_jvp(f, x)(direction)[1], make_numerical_jvp(f, x)(direction))


def check_equivalent(x: Any, y: Any) -> None:
    """Raise unless two values are of one vector space, and close."""
    of_x, of_y = vspace(x), vspace(y)
    assert of_x == of_y, f"VSpace mismatch:\nx: {of_x}\ny: {of_y}"
    v = of_x.randn()
    close = scalar_close(of_x.inner_prod(x, v), of_x.inner_prod(y, v))
    assert close, f"Value mismatch:\nx: {x}\ny: {y}"


@unary_to_nary
def check_grads(
    f: AnyFunction, x: Any, modes: Sequence[str] = ("fwd", "rev"), order: int = 2
) -> None:
    """Raise unless the derivatives of `f` up to an order agree with finite differences."""
    if not set(modes) <= {"fwd", "rev"}:
        raise AssertionError(f"modes must be 'fwd' or 'rev', not {modes}")

    def again(derivative: AnyFunction, name: str, direction: Any) -> None:
        if order > 1:
            derivative.__name__ = f"{name}_{get_name(f)}"
            check_grads(derivative, (0, 1), modes, order=order - 1)(x, direction)

    if "fwd" in modes:
        check_jvp(f, x)
        again(lambda x, v: make_jvp(f, x)(v)[1], "jvp", vspace(x).randn())
    if "rev" in modes:
        check_vjp(f, x)
        again(lambda x, v: make_vjp(f, x)[0](v), "vjp", vspace(f(x)).randn())


def combo_check(fun: AnyFunction, *args: Any, **kwargs: Any) -> AnyFunction:
    """`check_grads` for all combinations of the arguments given to the result."""
    check = check_grads(fun, *args, **kwargs)

    def combinations(*choices: Any, **named: Any) -> None:
        options = [[(key, value) for value in values] for key, values in named.items()]
        for positional in itertools.product(*choices):
            for by_name in itertools.product(*options):
                check(*positional, **dict(by_name))

    return combinations
