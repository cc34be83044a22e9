"""Draws the figures of these pages, and those of the programs in ``examples/gallery``.

Run as ``python docs/draw_figures.py``, or with a folder to draw to; it needs matplotlib, SciPy,
scikit-learn and xarray.
"""

from __future__ import annotations

import doctest
import functools
import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from scipy import signal
from sklearn.decomposition import PCA

import arraygrad as ag

HERE = Path(__file__).parent / "figures"
GALLERY = HERE.parents[1] / "examples" / "gallery"
BLUE, ORANGE, GREY, DARK = "#2a6fbb", "#d1661c", "#9aa3ad", "#30363d"
STYLE = {
    "axes.edgecolor": GREY,
    "axes.labelcolor": DARK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    "font.size": 9,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "arraygrad",
    "xtick.color": DARK,
    "ytick.color": DARK,
}
Figure = Any
FIGURES: dict[str, Callable[[], Figure]] = {}


def figure(draw: Callable[[], Figure]) -> Callable[[], Figure]:
    """Have a function draw the figure that has its name."""
    FIGURES[draw.__name__.replace("_", "-")] = draw
    return draw


def computed(page: str, heading: str) -> dict[str, Any]:
    """The variables after the code of a section of a page."""
    text = (HERE.parent / page).read_text(encoding="utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    names: dict[str, Any] = {"np": np, "ag": ag}
    for example in doctest.DocTestParser().get_examples(section):
        exec(example.source, names)
    return names


# --- the compiler --------------------------------------------------------------------------------


@figure
def fused_program() -> Figure:
    """The ops of a program, what each would read and write, and the kernels they became."""
    names = computed("compile.md", "What is native?")
    x = np.random.default_rng(0).normal(size=(300, 100))
    traffic = ag.compile(ag.func.value_and_grad(lambda x: names["normalized"](x).sum())).traffic(x)
    names_of, sizes, kernels = zip(*traffic.ops, strict=True)
    fig, (ax, bars) = plt.subplots(1, 2, figsize=(7.2, 4.4), width_ratios=(3, 1))
    colors = [BLUE if k % 2 == 0 else ORANGE for k in kernels]
    rows = range(len(sizes))
    ax.barh(rows, [n / 1000 for n in sizes], color=colors, height=0.7)
    ax.set_yticks(rows, names_of)
    ax.invert_yaxis()
    ax.set_xlabel("kB that each op by itself reads and writes")
    ax.set_title("The ops of a function and its gradient")
    totals = [sum(sizes) / 1000, traffic.kernels / 1000]
    bars.bar(["op by op", "compiled"], totals, color=[GREY, BLUE], width=0.6)
    for place, total in enumerate(totals):
        bars.text(place, total, f"{total:,.0f} kB", ha="center", va="bottom")
    count = len(set(kernels))
    bars.set_title(f"All, in {count} {'kernel' if count == 1 else 'kernels'}")
    bars.set_yticks([])
    return fig


# --- scientific code -----------------------------------------------------------------------------


@figure
def populations() -> Figure:
    """Counts of prey and hunters, and the trajectory that was fitted to them."""
    names = computed("scientific-code.md", "Fitting an ordinary differential equation")
    found, errors = names["found"].x, names["errors"]
    fig, ax = plt.subplots(figsize=(5.6, 2.8))
    fitted = names["populations"](found)
    for row, color, name in zip((0, 1), (BLUE, ORANGE), ("prey", "hunters"), strict=True):
        ax.plot(names["times"], names["counted"][row], "o", ms=3.5, color=color)
        ax.plot(names["times"], fitted[row], color=color, label=name)
    ax.legend(loc="upper right", ncols=2)
    rates = ", ".join(f"{x:.2f} ± {e:.2f}" for x, e in zip(found, errors, strict=True))
    ax.set_title(f"Rates: {rates}")
    ax.set_xlabel("t")
    return fig


@figure
def conductivity() -> Figure:
    """The conductivity of a rod, as found from its temperatures."""
    names = computed("scientific-code.md", "An inverse problem with a sparse solver")
    fig, ax = plt.subplots(figsize=(5.6, 2.4))
    ax.step(names["place"], names["true_conductivity"], where="mid", color=GREY, label="true")
    ax.plot(names["place"], np.exp(names["found"].x), color=ORANGE, label="found")
    ax.legend(loc="lower left", ncols=2)
    ax.set_title("Conductivity along a rod, from its temperatures")
    return fig


@figure
def best_filter() -> Figure:
    """A noisy signal, and what the best filter makes of it."""
    names = computed("scientific-code.md", "The best filter for a signal")
    fig, ax = plt.subplots(figsize=(5.6, 2.6))
    ax.plot(names["noisy"], color=GREY, lw=0.6, label="noisy")
    ax.plot(names["clean"], color=BLUE, lw=1.0, label="clean")
    ax.plot(names["filtered"](names["found"].x), color=ORANGE, label="filtered")
    ax.legend(loc="upper right", ncols=3)
    ax.set_title("The best filter with three and two coefficients")
    return fig


# --- SciPy and scikit-learn ----------------------------------------------------------------------


@figure
def principal_axis() -> Figure:
    """How each point turns the first principal axis of all."""
    rng = np.random.default_rng(4)
    data = rng.standard_normal((30, 2)) @ np.array([[1.6, 0.7], [0.0, 0.6]])
    data[0] = 3.2, -1.4  # one that does not belong
    data -= data.mean(axis=0)

    x = ag.tensor(data, requires_grad=True)
    with sklearn.config_context(array_api_dispatch=True):
        axis = PCA(1, svd_solver="full").fit(x).components_[0]
    degrees = np.degrees(np.arctan2(axis[1], axis[0]))
    turn = ag.grad(degrees, x).array

    fig, ax = plt.subplots(figsize=(5.6, 3.6))
    along = np.outer([-4.4, 4.4], axis.detach().array)
    ax.plot(*along.T, color=GREY, lw=1.5, zorder=1)
    # An arrow's length in the figure is a fifth of degrees per unit.
    ax.quiver(
        *data.T, *(turn / 5).T, color=ORANGE, angles="xy", scale_units="xy", scale=1, width=0.004,
        zorder=2,
    )  # fmt: skip
    ax.scatter(*data.T, s=16, color=BLUE, zorder=3)
    ax.set(aspect="equal", xlim=(-4.6, 4.6), ylim=(-2.6, 2.8))
    ax.set_title("Which way each point turns the principal axis, and how much")
    return fig


@figure
def filter_sensitivity() -> Figure:
    """A filter's response, and its derivative with respect to the cutoff."""
    cutoff = ag.tensor(0.3, requires_grad=True)
    taps = signal.firwin(41, ag.reshape(cutoff, (1,)))
    frequency, response = signal.freqz(taps, worN=ag.linspace(0.0, np.pi, 256))
    size = np.abs(response)
    slope = ag.func.jvp(
        lambda c: ag.abs(signal.freqz(signal.firwin(41, ag.reshape(c, (1,))), worN=frequency)[1]),
        (cutoff.detach(),),
        (ag.asarray(1.0),),
    )[1]

    f = frequency.array / np.pi
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(5.6, 3.4), sharex=True)
    top.plot(f, size.detach().array, color=BLUE)
    top.axvline(0.3, color=GREY, lw=0.8, ls=":")
    top.set_title("Response of a low-pass filter of 41 taps, cutoff 0.3")
    bottom.plot(f, slope.array, color=ORANGE)
    bottom.axvline(0.3, color=GREY, lw=0.8, ls=":")
    bottom.axhline(0.0, color=GREY, lw=0.8)
    bottom.set_title("Its derivative with respect to the cutoff")
    bottom.set_xlabel("frequency, as a part of the Nyquist frequency")
    return fig


# --- code for NumPy ------------------------------------------------------------------------------


def covariance(s: Any, t: Any, p: Any) -> Any:
    """How values at the times `s` and `t` go together."""
    distance = s[:, None] - t[None, :]
    return np.exp(2 * p["height"] - 0.5 * distance**2 * np.exp(-2 * p["length"]))


def log_evidence(p: Any, t: Any, y: Any) -> Any:
    """How well parameters explain what was observed, up to a constant."""
    k = covariance(t, t, p) + np.exp(2 * p["noise"]) * np.eye(len(t))
    lower = np.linalg.cholesky(k)
    z = np.linalg.solve(lower, y)
    return -0.5 * np.sum(z**2) - np.sum(np.log(np.diag(lower)))


def prediction(p: Any, t: Any, y: Any, at: Any) -> tuple[Any, Any]:
    """The mean and the standard deviation of the process at some times."""
    k = covariance(t, t, p) + np.exp(2 * p["noise"]) * np.eye(len(t))
    across = covariance(at, t, p)
    mean = across @ np.linalg.solve(k, y)
    spread = np.exp(2 * p["height"]) - np.sum(across * np.linalg.solve(k, across.T).T, axis=1)
    return mean, np.sqrt(spread)


@figure
def gaussian_process() -> Figure:
    """A Gaussian process before and after its parameters are fitted."""
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0, 10, 22))
    y = np.sin(t) + 0.5 * np.sin(2.3 * t) + 0.15 * rng.standard_normal(22)
    start = {"height": 0.0, "length": 1.2, "noise": -0.5}
    found = ag.optimize.minimize(lambda p: -log_evidence(p, t, y), start, method="trust-ncg")

    at = np.linspace(-0.5, 10.5, 160)
    fig, axes = plt.subplots(1, 2, figsize=(7.2, 2.8), sharey=True)
    fitted = {name: float(value) for name, value in found.x.items()}
    for ax, p, name in zip(axes, (start, fitted), ("at the start", "fitted"), strict=True):
        mean, spread = prediction(p, t, y, at)
        ax.fill_between(at, mean - 2 * spread, mean + 2 * spread, color=BLUE, alpha=0.18, lw=0)
        ax.plot(at, mean, color=BLUE)
        ax.plot(t, y, "o", ms=3.5, color=ORANGE)
        ax.set_title(f"{name}: log evidence {float(log_evidence(p, t, y)):.1f}")
        ax.set_xlabel("t")
    return fig


@figure
def influence() -> Figure:
    """How a prediction depends on each value that was observed, and where."""
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0, 10, 22))
    y = np.sin(t) + 0.5 * np.sin(2.3 * t) + 0.15 * rng.standard_normal(22)
    p = {"height": 0.0, "length": -0.4, "noise": -1.6}
    place = np.array([6.1])

    times = ag.tensor(t, requires_grad=True)
    values = ag.tensor(y, requires_grad=True)
    mean, _ = prediction(p, times, values, place)
    by_value, by_time = ag.grad(mean[0], (values, times))

    fig, (top, bottom) = plt.subplots(2, 1, figsize=(5.6, 3.4), sharex=True)
    at = np.linspace(0, 10, 160)
    top.plot(at, prediction(p, t, y, at)[0], color=BLUE)
    top.plot(t, y, "o", ms=3.5, color=ORANGE)
    top.plot(place, mean.detach().array, "D", ms=6, color=DARK)
    top.set_title("A prediction (diamond) from what was observed")
    marks, *_ = bottom.stem(t, by_value.array, linefmt=ORANGE, markerfmt="o", basefmt=" ")
    marks.set(markersize=3.5)
    bottom.plot(t, by_time.array, "s", ms=4, mfc="none", color=BLUE)
    bottom.axhline(0.0, color=GREY, lw=0.8)
    bottom.axvline(place[0], color=GREY, lw=0.8, ls=":")
    bottom.set_title("Its gradient: by each value (circles), and by each time (squares)")
    bottom.set_xlabel("t")
    return fig


# --- the gallery ---------------------------------------------------------------------------------


def program(path: Path) -> Figure:
    """The figure of a program."""
    return runpy.run_path(str(path))["main"]()


for path in sorted(GALLERY.glob("*.py")):
    FIGURES[path.stem.replace("_", "-")] = functools.partial(program, path)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if sys.argv[1:] else HERE
    with plt.rc_context(STYLE):
        for name, draw in FIGURES.items():
            drawn = draw()
            drawn.savefig(folder / f"{name}.svg", metadata={"Date": None})
            plt.close(drawn)
