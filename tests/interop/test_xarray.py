"""xarray: its methods differentiate, and transforms take and give its labelled arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rows import Row, over
from test_namespace import run

import arraygrad as ag

xr = pytest.importorskip("xarray")
rng = np.random.default_rng(0)
DATA = xr.DataArray(
    rng.normal(size=(8, 3)),
    dims=("t", "x"),
    coords={"x": [10.0, 20.0, 30.0], "t": np.arange(8.0), "g": ("t", [0, 0, 1, 1, 2, 2, 3, 3])},
    name="heat",
    attrs={"unit": "K"},
)
WEIGHTS = xr.DataArray(rng.random(8), dims="t")
DAYS = np.datetime64("2000-01-01", "ns") + np.arange(8) * np.timedelta64(1, "D")
K = {"t": xr.DataArray([0, 1], dims="k"), "x": xr.DataArray([0, 2], dims="k")}

IDIOMS: dict[str, Callable[[Any], Any]] = {
    "mean": lambda d: d.mean("t"),
    "std": lambda d: d.std("t"),
    "var": lambda d: d.var("x", ddof=1),
    "max": lambda d: d.max("t"),
    "prod": lambda d: d.prod("x"),
    "median": lambda d: d.median("t"),
    "quantile": lambda d: d.quantile([0.2, 0.7], "t"),
    "skipna": lambda d: d.where(d > -1).mean("t"),
    "groupby": lambda d: d.groupby("g").mean(),
    "groupby std": lambda d: d.groupby("g").std(),
    "groupby_bins": lambda d: d.groupby_bins("x", [0, 15, 40]).mean(),
    "resample": lambda d: d.assign_coords(t=DAYS).resample(t="3D").sum(),
    "coarsen": lambda d: d.coarsen(t=2).mean(),
    "rolling": lambda d: d.rolling(t=3).mean(),
    "rolling windows": lambda d: d.rolling(t=3, center=True).construct("w").max("w"),
    "weighted": lambda d: d.weighted(WEIGHTS).mean("t"),
    "polyfit": lambda d: d.polyfit("x", 1, skipna=False).polyfit_coefficients,
    "interp": lambda d: d.interp(x=[12.0, 25.0], t=[0.5, 1.5]),
    "interp cubic": lambda d: d.interp(t=[0.5, 1.5], method="cubic"),
    "interp at points": lambda d: d.interp(t=xr.DataArray([[0.5, 2.5]], dims=("a", "b"))),
    "reindex": lambda d: d.reindex(x=[10.0, 15.0, 20.0], fill_value=0.0),
    "sel": lambda d: d.sel(x=[11.0, 29.0], method="nearest"),
    "points": lambda d: d.isel(**K),
    "argmax": lambda d: d[:, 0].isel(t=d[:, 0].argmax("t")),
    "where": lambda d: d.where(d > 0, -d),
    "fillna": lambda d: d.where(d > 0).fillna(1.0),
    "concat": lambda d: xr.concat([d, d * 2], "t"),
    "dot": lambda d: xr.dot(d, WEIGHTS) + xr.dot(d, d),
    "cov": lambda d: xr.cov(d, WEIGHTS * d**2, "t") + xr.corr(d, WEIGHTS * d**2, "t"),
    "apply_ufunc": lambda d: xr.apply_ufunc(np.exp, d),
    "cumulative": lambda d: d.cumsum("t") * d.cumprod("t"),
    "integrate": lambda d: d.integrate("x") + d.cumulative_integrate("x"),
    "differentiate": lambda d: d.differentiate("x"),
    "shapes": lambda d: d.diff("t").shift(t=1).roll(t=2).pad(t=1, mode="edge"),
    "copy": lambda d: d.copy() + xr.align(d, WEIGHTS, copy=True)[0],
    "sortby": lambda d: d.sortby("x", ascending=False),
    "stack": lambda d: d.stack(z=("t", "x")).unstack("z").transpose("x", "t"),
    "Dataset": lambda d: xr.Dataset({"a": d, "b": d**2}).mean().to_array(),
}


@over("name", [Row("xarray", name, name, quick=True) for name in IDIOMS])
def test_derivatives(name: str) -> None:
    def total(d: Any) -> Any:
        return np.sin(IDIOMS[name](d)).sum()

    value, gradient = ag.func.value_and_grad(total)(DATA)
    assert gradient.identical(DATA.copy(data=gradient.data))  # with all of its labels
    assert np.allclose(value.data, total(DATA).data)
    step = 1e-6 * rng.normal(size=DATA.shape)
    difference = (total(DATA + step) - total(DATA - step)) / 2
    assert np.allclose(np.sum(gradient.data * step), difference.data, rtol=1e-4, atol=1e-12)
    leaf = DATA.copy(data=ag.tensor(DATA.data, requires_grad=True))
    for start in (leaf, leaf * 1.0):
        found = ag.grad(total(start) + (start**2).sum(), leaf)
        xr.testing.assert_allclose(found, gradient + 2 * DATA)


def test_grad_takes_and_gives_labels() -> None:
    leaf = DATA.copy(data=ag.tensor(DATA.data, requires_grad=True))
    gradient = ag.grad((leaf**2).mean(), leaf)
    xr.testing.assert_allclose(gradient, DATA * 2 / 24)
    assert gradient.identical(DATA.copy(data=gradient.data))
    several = xr.Dataset({"a": leaf, "b": leaf.isel(t=0, drop=True)})
    found = ag.grad([several.a.sum(), several.b.sum()], {"all": leaf})
    assert np.array_equal(found["all"].data, 1.0 + (np.arange(8) == 0)[:, None] + np.zeros((8, 3)))
    given = ag.grad(leaf * 2, leaf, grad_outputs=DATA)
    assert np.array_equal(given.data, 2 * DATA.data)


def test_datasets_are_structures() -> None:
    data = xr.Dataset({"a": DATA, "names": ("x", ["u", "v", "w"]), "b": DATA.isel(t=0, drop=True)})
    gradient = ag.func.grad(lambda d: (d.a * d.b).sum())(data)
    assert list(gradient) == ["a", "names", "b"]
    assert gradient.names.identical(data.names)
    assert np.allclose(gradient.b, DATA.sum("t"))
    tangent = ag.func.jvp(lambda d: d.a * d.b, (data,), (gradient,))[1]
    assert tangent.dims == ("t", "x")
    leaves = {n: data[n].copy(data=ag.tensor(data[n].data, requires_grad=True)) for n in "ab"}
    leaf = xr.Dataset(leaves)
    assert isinstance(ag.grad((leaf.a * leaf.b).sum(), leaf), xr.Dataset)


def test_compiled() -> None:
    @ag.compile
    def gradient(d: Any) -> Any:
        return ag.func.grad(lambda d: (d.rolling(t=3).mean() ** 2).sum())(d)

    for d in (DATA, 2 * DATA, DATA.rename("other"), DATA.assign_coords(x=[1, 2, 3])):
        expected = ag.func.grad(lambda d: (d.rolling(t=3).mean() ** 2).sum())(d)
        xr.testing.assert_allclose(gradient(d), expected)
        assert gradient(d).identical(d.copy(data=gradient(d).data))


def test_other_shapes_have_no_labels() -> None:
    row = DATA.isel(t=0)
    assert np.allclose(ag.func.hessian(lambda d: (d**3).sum())(row), np.diag(6 * row.data))
    assert np.allclose(ag.func.vmap(lambda d: (d**2).sum())(DATA), (DATA.data**2).sum(1))


def test_writes_by_several_indices() -> None:
    """xarray writes to other elements of an array that has the standard's namespace only."""
    labelled = xr.DataArray(ag.zeros((3, 3)), dims=("a", "b"))
    labelled[[0, 1], [0, 1]] = 1.0
    assert np.asarray(labelled).sum() == 4


def test_xarray_is_imported_by_nobody_else() -> None:
    code = (
        "import sys, dataclasses, arraygrad as ag, numpy as np\n"
        "ag.func.grad(lambda p: p['x'])({'x': np.array(1.0)}); ag.ones(2).__array_namespace__()\n"
        "print('xarray' in sys.modules)"
    )
    assert run(code) == "False"
