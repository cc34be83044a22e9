"""Primitives: any arguments, rules for each argument or for all, several results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraygrad.compat.hips.numpy as anp
from arraygrad.arrays.batched import Batched
from arraygrad.compat.hips import grad, hessian, jacobian, primitive, value_and_grad
from arraygrad.compat.hips.core import SparseObject, vspace
from arraygrad.compat.hips.extend import (
    def_linear,
    defjvp,
    defjvp_argnums,
    defvjp,
    defvjp_argnum,
    defvjp_argnums,
    notrace_primitive,
)
from arraygrad.compat.hips.nodes import VJPNode
from arraygrad.compat.hips.primitives import primitive as new_primitive
from arraygrad.compat.hips.primitives import register_notrace
from arraygrad.compat.hips.test_util import check_grads
from arraygrad.compat.hips.tracer import isbox

X = np.array([0.5, -1.0, 2.0])


def product(x: Any, y: Any, power: int = 1) -> Any:
    assert not isbox(x)
    assert not isbox(y)
    return (x * y) ** power


def of_each() -> Any:
    f = new_primitive(product)
    defvjp(
        f,
        lambda ans, x, y, power=1: lambda g: g * power * (x * y) ** (power - 1) * y,
        lambda ans, x, y, power=1: lambda g: g * power * (x * y) ** (power - 1) * x,
    )
    defjvp(
        f,
        lambda g, ans, x, y, power=1: g * power * (x * y) ** (power - 1) * y,
        lambda g, ans, x, y, power=1: g * power * (x * y) ** (power - 1) * x,
    )
    return f


def of_argnum() -> Any:
    f = new_primitive(product)

    def maker(argnum: int, ans: Any, args: Any, kwargs: Any) -> Any:
        n = kwargs.get("power", 1)
        return lambda g: g * n * (args[0] * args[1]) ** (n - 1) * args[1 - argnum]

    defvjp_argnum(f, maker)
    return f


def of_all() -> Any:
    f = new_primitive(product)

    def maker(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        n = kwargs.get("power", 1)
        outer = n * (args[0] * args[1]) ** (n - 1)
        return lambda g: [g * outer * args[1 - i] for i in argnums]

    def rule(argnums: Any, gs: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        n = kwargs.get("power", 1)
        outer = n * (args[0] * args[1]) ** (n - 1)
        return sum(g * outer * args[1 - i] for i, g in zip(argnums, gs, strict=True))

    defvjp_argnums(f, maker)
    defjvp_argnums(f, rule)
    return f


@pytest.mark.parametrize(
    ("make", "modes"), [(of_each, ["fwd", "rev"]), (of_argnum, ["rev"]), (of_all, ["fwd", "rev"])]
)
def test_rules(make: Any, modes: Any) -> None:
    f = make()
    check_grads(f, (0, 1), modes=modes, order=3)(X, X + 1)
    check_grads(lambda x: f(x, 2.0, power=3), modes=modes)(X)
    check_grads(lambda x: f(x, x, power=2), modes=modes)(0.7)
    np.testing.assert_allclose(hessian(lambda x: anp.sum(f(x, x)))(X), 2 * np.eye(3))


def test_structures_are_arguments_and_results() -> None:
    @new_primitive
    def split(pair: Any, options: Any, scale: float) -> Any:
        assert not isbox(pair[0])
        assert not isbox(options["shift"])
        return {"sum": pair[0] + pair[1] + options["shift"], "more": (scale * pair[0], "text", 3)}

    def maker(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        assert ans["more"][1:] == ("text", 3)

        def vjp(g: Any) -> Any:
            by_pair = (g["sum"] + args[2] * g["more"][0], g["sum"])
            by_options = {"shift": anp.sum(g["sum"])}
            return [{0: by_pair, 1: by_options}[i] for i in argnums]

        return vjp

    defvjp_argnums(split, maker)

    def f(x: Any, shift: Any) -> Any:
        result = split((x, X), {"shift": shift}, 5.0)
        assert result["more"][1:] == ("text", 3)
        return anp.sum(result["sum"] * X) + anp.sum(result["more"][0])

    by_x, by_shift = grad(f, argnum=(0, 1))(X, 1.0)
    np.testing.assert_allclose(by_x, X + 5)
    assert by_shift == X.sum()
    check_grads(lambda x: split((x, x), {"shift": 0.0}, 2.0)["sum"], modes=["rev"])(X)


def test_rules_see_one_cotangent_at_a_time() -> None:
    seen = []

    @new_primitive
    def double(x: Any) -> Any:
        return 2 * x

    def maker(ans: Any, x: Any) -> Any:
        def vjp(g: Any) -> Any:
            assert not isinstance(g, Batched)
            seen.append(np.shape(g))
            return np.asarray(2.0) * g

        return vjp

    defvjp(double, maker)
    np.testing.assert_allclose(jacobian(lambda x: double(anp.sin(x)))(X), np.diag(2 * np.cos(X)))
    assert seen == [(3,)] * 3


def test_complex_rules_are_hips() -> None:
    @new_primitive
    def size(z: Any) -> Any:
        return np.abs(z)

    defvjp(size, lambda ans, z: lambda g: g * np.conj(z) / ans)
    z = 3.0 + 4j
    assert np.isclose(grad(size)(z), grad(anp.abs)(z))

    @new_primitive
    def turn(z: Any) -> Any:
        return z * 1j

    defvjp(turn, lambda ans, z: lambda g: g * 1j)
    defjvp(turn, "same")
    check_grads(turn)(z)


def test_missing_rules() -> None:
    f = new_primitive(lambda x, y: x * y)
    for call in (grad(f), grad(grad(f)), lambda x, y: jacobian(f)(X, y)):
        with pytest.raises(NotImplementedError, match=r"VJP of .* wrt argnums"):
            call(1.0, 2.0)
    defvjp(f, None, argnums=[1])
    assert grad(f, 1)(1.0, 2.0) == 0.0
    with pytest.raises(NotImplementedError, match="argnums"):
        grad(f)(1.0, 2.0)
    with pytest.raises(NotImplementedError, match="JVP"):
        check_grads(f, modes=["fwd"])(1.0, 2.0)
    with pytest.raises(TypeError, match="Bad VJP"):
        defvjp(f, "same")
    with pytest.raises(TypeError, match="Can't differentiate"):
        grad(new_primitive(lambda x: "text"))(1.0)


def test_linear_sparse_and_untraced_primitives() -> None:
    first = new_primitive(lambda x, i: x[i])
    def_linear(first)

    def maker(ans: Any, x: Any, i: int) -> Any:
        def add(a: Any) -> Any:
            return a + np.eye(3)[i]

        return lambda g: SparseObject(vspace(x), add)

    defvjp(first, maker)
    np.testing.assert_allclose(grad(lambda x: first(x, 1))(X), [0, 1, 0])
    check_grads(lambda x: first(x, 1), modes=["fwd"], order=1)(X)
    rounded = notrace_primitive(np.round)
    assert grad(lambda x: x * rounded(x))(1.2) == 1.0
    halved = new_primitive(lambda x: x // 2)
    register_notrace(VJPNode, halved)
    assert grad(lambda x: x * halved(x))(4.0) == 2.0


def test_a_function_of_numpy_can_get_another_rule() -> None:
    f = anp.spacing  # of which arraygrad has none
    with pytest.raises(NotImplementedError):
        grad(f)(1.0)
    defvjp(f, lambda ans, x: lambda g: 7.0 * g)
    assert grad(f)(1.0) == 7.0


def test_deprecated_methods() -> None:
    f = primitive(lambda x, y: x * y)
    with pytest.warns(UserWarning, match="deprecated"):
        f.defvjp(lambda g, ans, vs, gvs, x, y: g * y)
    with pytest.warns(UserWarning, match="deprecated"):
        f.defgrad(lambda ans, x, y: lambda g: g * x, argnum=1)
    check_grads(f, (0, 1), modes=["rev"])(2.0, 3.0)


def test_the_derivative_of_a_primitive_is_that_of_its_rules_alone() -> None:
    held: list[Any] = []

    @primitive
    def product(x: Any) -> Any:
        return held[0] * x  # which is a box, as the program has put one there

    @primitive
    def pair(x: Any, y: Any) -> Any:
        return held[0] * x, y

    defvjp(product, lambda ans, x: lambda g: 10 * g)
    defvjp(pair, lambda ans, x, y: lambda g: 10 * g[0], lambda ans, x, y: lambda g: g[1])

    def f(x: Any) -> Any:
        held[:] = [x]
        first, second = pair(x, x)
        return product(x) + first + second

    value, gradient = value_and_grad(f)(3.0)
    assert (value, gradient) == (21.0, 21.0)
