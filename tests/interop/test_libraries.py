"""Libraries that take tensors, each in its own idioms. xarray has a file of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_namespace import run

import arraygrad as ag
from arraygrad.core.cpython import PORTABLE

only_with_frames = pytest.mark.skipif(PORTABLE, reason="who asks for values is not known")
DATA = np.random.default_rng(0).random((2, 3, 4)) + 0.5


def check(function: Any, x: Any = DATA) -> None:
    """The gradient of a function of an array, alone, compiled and for a batch, is right."""

    def total(x: Any) -> Any:
        return np.sum(np.sin(function(x)))

    ag.testing.gradcheck(total, (ag.tensor(x, requires_grad=True),))
    gradient = ag.func.grad(total)
    assert np.allclose(ag.compile(gradient)(x), gradient(x))
    assert np.allclose(ag.func.vmap(gradient)(np.stack([x, 2 * x]))[0], gradient(x))


def test_einops() -> None:
    einops = pytest.importorskip("einops")
    check(lambda x: einops.rearrange(x, "a (b c) d -> (a c) (b d)", c=3))
    check(lambda x: einops.reduce(x, "a b c -> b", "prod") * einops.reduce(x, "a b c -> 1", "max"))
    check(lambda x: einops.repeat(x, "a b c -> a k b c", k=2))
    check(lambda x: einops.einsum(x, x, "a b c, a d c -> b d"))
    check(lambda x: einops.pack([x, x[:, 0]], "a * c")[0])
    check(lambda x: einops.unpack(x, [(1,), (2,)], "a * c")[1])
    check(lambda x: einops.rearrange([x, x**2], "k a b c -> a k b c"))
    assert isinstance(einops.asnumpy(ag.tensor(DATA)), np.ndarray)


@pytest.mark.parametrize(
    "imports",
    [
        "import einops, arraygrad",
        "import arraygrad, einops",
        "import arraygrad, importlib.util as u; u.find_spec('einops._backends'); import einops",
    ],
)
def test_einops_before_and_after(imports: str) -> None:
    pytest.importorskip("einops")
    code = f"{imports}; print(einops.rearrange(arraygrad.ones((2, 3)), 'a b -> b a').shape)"
    assert run(code) == "(3, 2)"


def test_a_version_that_is_not_known_still_works() -> None:
    pytest.importorskip("einops")
    code = (
        "import arraygrad, sys, warnings; sys.modules['arraygrad.interop.einops'] = None\n"
        "with warnings.catch_warnings(record=True) as told: import einops\n"
        "print(told[0].message, einops.rearrange)"
    )
    assert "does not know this version of einops" in run(code)


def test_opt_einsum() -> None:
    contract = pytest.importorskip("opt_einsum").contract
    check(lambda x: contract("abc,abd,de->ce", x, x**2, np.ones((4, 5))))
    expression = pytest.importorskip("opt_einsum").contract_expression(
        "abc,abd->cd", *[(2, 3, 4)] * 2
    )
    check(lambda x: expression(x, x))


def test_pint() -> None:
    unit = pytest.importorskip("pint").UnitRegistry()
    check(lambda x: ((x * unit.meter) ** 2 + unit.Quantity(x, "m") * unit.m).to("m*dm").magnitude)
    check(lambda x: np.mean(np.sin(unit.Quantity(x, "degree")), axis=0).magnitude)
    check(lambda x: np.concatenate([unit.Quantity(x, "m"), x * unit.cm]).to("m").magnitude)
    with pytest.raises(pytest.importorskip("pint").DimensionalityError):
        ag.tensor(DATA) * unit.m + 1 * unit.s


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    column = pd.Series([1.0, 2.0, 3.0], index=["a", "b", "c"])
    table = pd.DataFrame({"a": column, "b": column**2})
    row = np.array([0.5, 1.0, 2.0])
    check(lambda x: x * column + column / x + x @ table.to_numpy()[:, 0], row)
    check(lambda x: x[column > 1] * x[pd.Index([0, 2])] + np.where(column > 1, x, 0)[:2], row)
    assert ag.func.grad(lambda x: (x**2).sum())(column).tolist() == [2, 4, 6]
    assert ag.func.grad(lambda x: (x**2).sum())(table).shape == (3, 2)
    assert ag.compile(lambda x: x * 2)(column).tolist() == [2, 4, 6]
    assert ag.func.vmap(lambda x: x * 2)(column).tolist() == [2, 4, 6]
    assert ag.result_type(column, np.float32(1)) == np.float64
    found = ag.optimize.minimize(lambda x: ((x - 1) ** 2).sum(), column)
    assert np.allclose(found.x, 1)


@only_with_frames
def test_matplotlib() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    x = ag.tensor([1.0, 2.0, 4.0], requires_grad=True)
    axes = Figure().subplots()
    (line,) = axes.plot(x, x**2)
    assert line.get_ydata().tolist() == [1, 4, 16]
    axes.scatter(x, x, c=x)
    axes.hist(x)
    axes.errorbar(x, x, yerr=x)
    axes.bar(x, x)
    axes.imshow(x[None])
    axes.axhline(x[0])


@only_with_frames
def test_scipy_sparse_says_what_to_import() -> None:
    pytest.importorskip("scipy.sparse")
    code = (
        "import numpy as np, arraygrad as ag, scipy.sparse as sp\n"
        "x, a = ag.ones(3).requires_grad_(), sp.csr_array(np.eye(3))\n"
        "try: a @ x\n"
        "except ag.errors.NoGradientError as error: print(error)\n"
        "import arraygrad.scipy.sparse\n"
        "print((a @ x).tolist(), (x @ a).requires_grad)"
    )
    found = run(code)
    assert "import arraygrad.scipy.sparse" in found.splitlines()[0]
    assert found.splitlines()[1] == "[1.0, 1.0, 1.0] True"


def test_jaxtyping() -> None:
    jaxtyping = pytest.importorskip("jaxtyping")
    beartype = pytest.importorskip("beartype").beartype
    tensor, array = jaxtyping.Float[ag.Tensor, "n m"], jaxtyping.Float[Any, "n m"]

    def total(x: Any, y: Any) -> Any:
        return (x * y).sum()

    total.__annotations__ = {"x": tensor, "y": tensor}
    typed = jaxtyping.jaxtyped(total, typechecker=beartype)
    assert typed(ag.ones((2, 3)), ag.ones((2, 3))) == 6
    assert ag.func.grad(typed, (0, 1))(np.ones((2, 3)), np.ones((2, 3)))[0].shape == (2, 3)
    for wrong in (ag.ones((2, 4)), ag.ones((2, 3), dtype=ag.int64), ag.ones(3)):
        with pytest.raises(jaxtyping.TypeCheckError):
            typed(ag.ones((2, 3)), wrong)
    total.__annotations__ = {"x": array, "y": array}
    typed = jaxtyping.jaxtyped(total, typechecker=beartype)
    assert ag.compile(typed)(np.ones((2, 3)), np.ones((2, 3))) == 6
    assert ag.func.vmap(typed)(np.ones((2, 3, 4)), np.ones((2, 3, 4))).tolist() == [12, 12]
