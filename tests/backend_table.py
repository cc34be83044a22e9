"""The table of samples on another array library: the same results as on NumPy, by every route.

NumPy's results are checked against finite differences in `test_samples`; here they are what the
other library's must equal. A row that a library cannot run is a gap: it is named with its reason in
the library's test file, must fail with an error rather than give a wrong number, and is reported
when it no longer fails.

A library joins by a file ``tests/backends/test_<name>.py`` with a `Library` and a test ::

    torch = pytest.importorskip("torch")

    TORCH = Library(name="PyTorch", make=torch.asarray, to_numpy=..., gaps={"sort-x": "why not"})


    def test_rows(case: Case) -> None:
        check(TORCH, case)

and so gets a column in `docs/backend-table.md`, which ``pytest tests/backends
--write-backend-table`` writes when all rows of all libraries have run as their gaps say. That the
committed table agrees with the gaps is a test of its own, `test_table`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from samples import SAMPLES, Sample

import arraygrad as ag
from arraygrad.arrays.batched import Batched, batched_type
from arraygrad.arrays.dual import dual_type
from arraygrad.core.array import plain
from arraygrad.errors import MixedArraysError
from arraygrad.testing import assert_close

Case = tuple[Sample, bool]

LIBRARIES: dict[str, Library] = {}

# Not gaps but what is meant to happen: a NumPy array that the user brought does not mix.
MIXED = {"__rmatmul__"} | {
    f"__r{name}__-array on the left"
    for name in ("add", "sub", "mul", "truediv", "pow", "mod", "floordiv")
}


@dataclass(frozen=True)
class Library:
    """An array library under test.

    Attributes
    ----------
    name : str
        What the table in the docs calls it.
    make : callable
        Its array of the values of a NumPy array, of the same dtype.
    compute : callable
        Computes some of its arrays together, if it computes only when it is told to.
    to_numpy : callable
        The NumPy array of the values of an array that is computed.
    gaps : mapping of str to str
        Ops (`"sort"`), rows (`"sort-descending"`, or `"sort-"` for the one without a label), or
        rows run as complex (`"sort complex"`,
        `"sort-descending complex"`) that it cannot run, each with the reason.
    rtol, atol : float
        How exactly it computes.
    check : callable
        Called with each result, to raise if there is something wrong with it.
    listed : bool
        Whether it has a column in the table.
    """

    name: str
    make: Callable[[Any], Any]
    compute: Callable[[list[Any]], Iterable[Any]] = list
    to_numpy: Callable[[Any], Any] = np.asarray
    gaps: Mapping[str, str] = field(default_factory=dict)
    rtol: float = 1e-10
    atol: float = 1e-10
    check: Callable[[Any], object] = type
    listed: bool = True

    def __post_init__(self) -> None:
        if self.listed:
            LIBRARIES[self.name] = self

    def gap(self, case: Case) -> str | None:
        """Why a case cannot be run; None if it can."""
        sample, complex_numbers = case
        names = [sample.op, str(sample), f"{sample.op}-{sample.label}"]
        if complex_numbers:
            names += [f"{name} complex" for name in names]
        return next((self.gaps[n] for n in names if n in self.gaps), None)


def check(library: Library, case: Case) -> None:
    """Run one row by every route, or see that a gap fails."""
    if str(case[0]) in MIXED:
        with pytest.raises(MixedArraysError, match="numpy"):
            run(library, case)
    elif library.gap(case) is None:
        run(library, case)
    else:
        try:
            run(library, case)
        except AssertionError:
            raise
        except Exception:
            return
        pytest.fail("no longer a gap")


def run(library: Library, case: Case) -> None:
    """Values, gradients, tangents, second derivatives and batches, as on NumPy."""
    sample, complex_numbers = case
    arrays = sample.arrays(complex_numbers)
    for route in routes_of(sample):
        expected = _by_numpy(route, sample, complex_numbers)
        found = route(sample, arrays, library.make)
        assert [r is None for r in found] == [value is None for value in expected]
        found, expected = ([r for r in results if r is not None] for results in (found, expected))
        for result, value in zip(found, expected, strict=True):
            assert type(result) is not type(value), "computed by NumPy"
            library.check(result)
        for result, value in zip(library.compute(found), expected, strict=True):
            assert_close(
                library.to_numpy(result),
                value,
                rtol=library.rtol,
                atol=library.atol,
                equal_nan=True,
            )


@functools.cache  # for all libraries
def _by_numpy(route: Callable[..., list[Any]], sample: Sample, complex_numbers: bool) -> list[Any]:
    return route(sample, sample.arrays(complex_numbers), np.asarray)


def routes_of(sample: Sample) -> list[Callable[..., list[Any]]]:
    """The ways to run a row, each a function of the row, its inputs and what makes arrays."""
    smooth = [gradients, tangents, batched_sweeps] if sample.differentiable else []
    return [values, *smooth, *([batches] if sample.batch else [])]


def as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)


def _is_float(array: Any) -> bool:
    return bool(array.dtype.kind in "fc")


def _leaves(arrays: Any, make: Any) -> list[Any]:
    return [ag.tensor(make(a), requires_grad=_is_float(a)) for a in arrays]


def _like(shapes: Any, make: Any, dtypes: Any, seed: int, batch: tuple[int, ...] = ()) -> list[Any]:
    """Random arrays, the same for every library."""
    rng = np.random.default_rng(seed)
    made = []
    for shape, complex_numbers in zip(shapes, dtypes, strict=True):
        values = rng.standard_normal((*batch, *shape))
        if complex_numbers:
            values = values + 1j * rng.standard_normal((*batch, *shape))
        made.append(make(np.asarray(values)))
    return made


def _is_complex(array: Any) -> bool:
    return bool(ag.isdtype(array.dtype, "complex floating"))


def values(sample: Sample, arrays: Any, make: Any) -> list[Any]:
    """What the op gives on tensors."""
    return [plain(r) for r in as_tuple(sample.call(ag, *_leaves(arrays, make)))]


def gradients(sample: Sample, arrays: Any, make: Any) -> list[Any]:
    """First derivatives by a sweep that is recorded, and second ones by a sweep of that."""
    leaves = _leaves(arrays, make)
    floats = [x for x in leaves if x.requires_grad]
    live = [r for r in as_tuple(sample.call(ag, *leaves)) if r.requires_grad]
    seeds = _like([r.shape for r in live], make, map(_is_complex, live), 1)
    plain_first = ag.grad(live, floats, seeds, retain_graph=True, materialize_grads=True)
    first = ag.grad(live, floats, seeds, create_graph=True, materialize_grads=True)
    again = [g for g in first if g.requires_grad]
    seeds = _like([g.shape for g in again], make, map(_is_complex, again), 2)
    second = ag.grad(again, floats, seeds, materialize_grads=True) if again else ()
    return [g.detach().array for g in (*plain_first, *first, *second)]


def tangents(sample: Sample, arrays: Any, make: Any) -> list[Any]:
    """Forward mode."""
    floats = [a for a in arrays if _is_float(a)]
    directions = iter(
        _like([a.shape for a in floats], make, [a.dtype.kind == "c" for a in floats], 3)
    )
    dual = dual_type(1.0)
    inputs = [dual(make(a), next(directions)) if _is_float(a) else make(a) for a in arrays]
    results = as_tuple(sample.call(ag, *inputs))
    return [plain(r.tangent) if isinstance(r, dual) else None for r in results]


def batched_sweeps(sample: Sample, arrays: Any, make: Any) -> list[Any]:
    """`is_grads_batched`."""
    leaves = _leaves(arrays, make)
    floats = [x for x in leaves if x.requires_grad]
    live = next(r for r in as_tuple(sample.call(ag, *leaves)) if r.requires_grad)
    seeds = _like([live.shape], make, [_is_complex(live)], 4, batch=(2,))
    found = ag.grad(live, floats, seeds[0], is_grads_batched=True, materialize_grads=True)
    return [g.array for g in found]


def batches(sample: Sample, arrays: Any, make: Any) -> list[Any]:
    """A batch of two as the inputs."""
    batched = batched_type(1.0)
    inputs = [batched(make(np.stack([a, a]))) for a in arrays]
    found = as_tuple(sample.call(ag, *inputs))
    return [plain(r) for r in found if isinstance(r, Batched)]


# --- the table in the docs -----------------------------------------------------------------------

HEAD = """# What runs on which library

One line for each operation of the table of samples, with all its rows: values, gradients, second
derivatives, tangents, batched sweeps and batches, each compared with NumPy's. A number leads to the
reason for what does not run, below; "partly" means that other rows of the operation do.

This page is written by `pytest tests/backends --write-backend-table`.

"""


def cells(library: Library) -> dict[str, dict[str, list[str]]]:
    """For each op, the reasons for its gaps, and the rows that each is for."""
    found: dict[str, dict[str, list[str]]] = {sample.op: {} for sample in SAMPLES}
    for sample in SAMPLES:
        for complex_numbers in (False, True) if sample.complex else (False,):
            reason = library.gap((sample, complex_numbers))
            if reason is not None:
                row = f"{sample}{' complex' * complex_numbers}"
                found[sample.op].setdefault(reason, []).append(row)
    return found


def document(libraries: list[Library]) -> str:
    """The page of the docs that shows which op runs on which library."""
    rows: dict[str, int] = {}
    for sample in SAMPLES:
        rows[sample.op] = rows.get(sample.op, 0) + 1 + sample.complex
    numbers: dict[tuple[str, str], int] = {}
    where: dict[int, list[str]] = {}
    lines = [f"| | {' | '.join(x.name for x in libraries)} |", "|---" * (len(libraries) + 1) + "|"]
    columns = [cells(library) for library in libraries]
    for op in sorted(rows):
        line = [f"`{op}`"]
        for library, column in zip(libraries, columns, strict=True):
            marks = []
            for reason, names in column[op].items():
                number = numbers.setdefault((library.name, reason), len(numbers) + 1)
                where.setdefault(number, []).extend(names)
                marks.append(f"[{number}](#gaps)")
            missing = sum(map(len, column[op].values()))
            word = "yes" if not missing else "no" if missing == rows[op] else "partly"
            line.append(" ".join([word, *marks]))
        lines.append(f"| {' | '.join(line)} |")
    notes = [
        f"{number}. {name}: {reason}. Rows: {', '.join(f'`{w}`' for w in where[number])}."
        for (name, reason), number in numbers.items()
    ]
    gaps = "\n".join(["", "## Gaps", "", *notes]) if notes else ""
    return HEAD + "\n".join(lines) + "\n" + gaps + "\n"
