"""Tables of rows: one pytest item for some ops and a check, which goes through all their rows.

A test gets its rows one by one, as if each of them were an item ::

    @over("name, dtype", [("sin", "float32"), ("sin", "float64"), ("cos", "float32"), ...])
    def test_values(name, dtype):
        ...

The item fails if a row fails. Its report names every row that failed, says what was expected and
what came, and how to run the row alone. In a table of many ops an item takes several of them, as
pytest needs longer for an item than for most rows.

``pytest`` runs the first rows of each op. ``--rows=all`` runs all rows. ``--op NAME`` runs all rows
of an op, in every table, and the other tests that name the op. ``--row NAME`` runs the rows of this
name. This module is a plugin of pytest: `conftest.py` loads it.
"""

from __future__ import annotations

import itertools
import linecache
import math
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

import pytest

FIRST = 1  # rows of an op that a quick run takes, of each variant
LARGE = 6  # elements of all arrays, from which on a quick run looks in one direction only
ITEMS = 24  # at most, of a table: then an item takes several ops


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes
    ----------
    op : str
        What the row is for: the rows of an op are in one item.
    name : str
        The name of the row, its own in the table.
    value : object
        What the test gets.
    variant : str
        A quick run takes the first rows of each variant: real and complex ones, for example.
    quick : bool, optional
        Whether a quick run takes the row, if not by its place in the table.
    """

    op: str
    name: str
    value: Any
    variant: str = ""
    quick: bool | None = None


class _Rows(list[Row]):
    """The rows of some ops, as the parameter of an item, and the arguments that a row gives."""

    def __init__(self, arguments: list[str]) -> None:
        self.arguments = arguments

    def __str__(self) -> str:
        """What the item is called: its op, or its first and last one."""
        ops = [row.op for row in (*self[:1], *self[-1:])]
        return " to ".join(dict.fromkeys(ops)) or "none"


def over(arguments: str, values: Iterable[Any], *, first: int = FIRST) -> pytest.MarkDecorator:
    """Run a test over the rows of a table, and in a quick run over the first ones of each op.

    Parameters
    ----------
    arguments : str
        The arguments of the test that a row gives: ``"call"`` or ``"name, dtype"``.
    values : iterable
        The rows. A string, or a tuple, is a row of the op that it begins with. Anything else that
        is no `Row` says by its attribute `op` which op it is for, maybe by `variant` which variant
        it is, and is called by its string.
    first : int
        How many rows of each op and variant a quick run takes.
    """
    return pytest.mark.rows(arguments, [_row(value) for value in values], first)


def crossed(**dimensions: Iterable[Any]) -> pytest.MarkDecorator:
    """Run a test over all combinations of values for its arguments.

    The first argument is the op. A quick run takes as few combinations as are needed for each value
    of each argument to occur.
    """
    values = [list(d) for d in dimensions.values()]
    diagonal = {tuple(i % len(d) for d in values) for i in range(max(map(len, values)))}
    rows = []
    for places in itertools.product(*(range(len(d)) for d in values)):
        value = tuple(d[i] for d, i in zip(values, places, strict=True))
        row = _row(value)
        rows.append(replace(row, quick=places in diagonal))
    return pytest.mark.rows(", ".join(dimensions), rows, FIRST)


def rotated(values: Iterable[Any]) -> list[Row]:
    """Rows of which a quick run takes one for each op: the first, of the next op the second, …"""
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for value in values:
        row = _row(value)
        groups[row.op].append(row)
    return [
        replace(row, quick=place == number % len(rows))
        for number, rows in enumerate(groups.values())
        for place, row in enumerate(rows)
    ]


def _row(value: Any) -> Row:
    if isinstance(value, Row):
        return value
    parts = value if isinstance(value, tuple) else (value,)
    op = getattr(parts[0], "op", None)
    variant = getattr(parts[0], "variant", "")
    return Row(op or _label(parts[0]), "-".join(map(_label, parts)), value, variant)


def _label(value: Any) -> str:
    """What a value is called: a lambda by its body."""
    name: str = getattr(value, "__name__", str(value))
    if name != "<lambda>":
        return name
    places = [p for p in value.__code__.co_positions() if p[0] is not None and p[3]]
    first = min(p[0] for p in places)
    text = linecache.getline(value.__code__.co_filename, first)
    starts = [p[2] for p in places if p[0] == first]
    ends = [p[3] for p in places if p[0] == p[1] == first]
    return text[min(starts) : max(ends, default=None)].strip()[:60] or f"line {first}"


def numbered(*span: int) -> list[Row]:
    """Rows that are numbers, the seeds of random cases: ten of them are an item."""
    return [Row(f"from {k - k % 10}", str(k), k) for k in range(*span)]


def parametrize(metafunc: Any, arguments: str, rows: list[Row], first: int = FIRST) -> None:
    """Make the items of a test."""
    names = [name.strip() for name in arguments.split(",")]
    by_op: dict[str, list[Row]] = {}
    for row in _asked_for(metafunc.config, rows, first):
        by_op.setdefault(row.op, []).append(row)
    ops = list(by_op)
    together = math.ceil(len(ops) / ITEMS) or 1
    items = [_Rows(names) for _ in range(0, len(ops) or 1, together)]
    for place, op in enumerate(ops):
        items[place // together].extend(by_op[op])
    metafunc.parametrize(names, [[item] * len(names) for item in items], ids=map(str, items))


def are_all_wanted(config: Any) -> bool:
    """Whether all rows run, not only the first ones."""
    some = config.getoption("--op") or config.getoption("--row")
    return (config.getoption("--rows") or ("all" if some else "first")) == "all"


def in_one_direction(config: Any, *arrays: Any) -> bool:
    """Whether to compare derivatives in a random direction, which all elements have a part in."""
    return not are_all_wanted(config) and sum(x.size for x in arrays) > LARGE


def _asked_for(config: Any, rows: list[Row], first: int) -> Iterator[Row]:
    ops, names = config.getoption("--op"), config.getoption("--row")
    everything = are_all_wanted(config)
    seen: defaultdict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        seen[row.op, row.variant] += 1
        by_place = seen[row.op, row.variant] <= first
        wanted = everything or (by_place if row.quick is None else row.quick)
        if names:
            wanted &= row.name in names
        elif ops:
            called = (row.op, row.name)
            wanted &= any(_is_called(name, op) for op in ops for name in called)
        if wanted:
            yield row


def _is_called(name: str, op: str) -> bool:
    """Whether `special.erf`, `stats.t.pdf` or `__add__` is meant by `erf`, `t` or `add`."""
    return op in (name, name.strip("_"), *name.split("."))


# --- what pytest calls ---------------------------------------------------------------------------


def pytest_addoption(parser: Any) -> None:
    """Add the options that choose rows."""
    group = parser.getgroup("rows of tables")
    group.addoption(
        "--rows",
        choices=["first", "all"],
        help="the first of each op, or all; all is the default with --op and --row",
    )
    group.addoption("--op", action="append", default=[], help="all rows, and tests, of this op")
    group.addoption("--row", action="append", default=[], help="only the rows of this name")


def pytest_configure(config: Any) -> None:
    """Declare the mark of `over`."""
    config.addinivalue_line("markers", "rows(argument, rows, first): the rows of a table")


def pytest_generate_tests(metafunc: Any) -> None:
    """Make the items of a table."""
    for mark in metafunc.definition.iter_markers("rows"):
        parametrize(metafunc, *mark.args)


def pytest_make_parametrize_id(val: Any) -> str | None:
    """Call a lambda by its body, and a structure of numbers and texts by its contents."""
    if getattr(val, "__name__", "") == "<lambda>":
        return _label(val)
    is_structure = isinstance(val, tuple | list | dict | slice)
    return repr(val)[:60] if is_structure and _is_plain(val) else None


def _is_plain(value: Any) -> bool:
    """Whether a value looks the same in each process."""
    if isinstance(value, dict):
        return all(map(_is_plain, (*value, *value.values())))
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    if isinstance(value, slice):
        return _is_plain((value.start, value.stop, value.step))
    return value is None or isinstance(value, str | int | float | complex)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out what was not asked for."""
    ops, names = config.getoption("--op"), config.getoption("--row")

    def wanted(item: Any) -> bool:
        rows = _rows_of(getattr(getattr(item, "callspec", None), "params", {}))
        if rows is not None:
            return bool(rows)
        return not names and (not ops or any(_names(item, op) for op in ops))

    left_out = [item for item in items if not wanted(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if wanted(item)]


def _rows_of(arguments: dict[str, Any]) -> _Rows | None:
    return next((value for value in arguments.values() if isinstance(value, _Rows)), None)


def _names(item: Any, op: str) -> bool:
    """Whether a test that has no rows names an op, in its parameters or its code."""
    for value in getattr(getattr(item, "callspec", None), "params", {}).values():
        name = value if isinstance(value, str) else getattr(value, "__name__", "")
        if _is_called(name, op) or _is_in_code(value, op):
            return True
    return _is_in_code(getattr(item, "obj", None), op)


def _is_in_code(function: Any, op: str) -> bool:
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and op in _words(code)


def _words(code: CodeType) -> set[str]:
    """The names and strings in the code of a function, and in the functions inside it."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _words(constant)
        elif isinstance(constant, str):
            found.add(constant)
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    """Call a test once for each row, and report all rows that fail."""
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    rows = _rows_of(arguments)
    if rows is None:
        return None
    failed: list[tuple[Row, pytest.ExceptionInfo[Any]]] = []
    skipped: list[str] = []
    for row in rows:
        try:
            values = row.value if len(rows.arguments) > 1 else [row.value]
            pyfuncitem.obj(**arguments | dict(zip(rows.arguments, values, strict=True)))
        except pytest.skip.Exception as error:
            skipped.append(str(error))
        except (Exception, pytest.fail.Exception):
            failed.append((row, pytest.ExceptionInfo.from_current()))
        if "monkeypatch" in arguments:  # what a row replaces is not for the next one
            arguments["monkeypatch"].undo()
    pyfuncitem.user_properties += [("rows", len(rows) - len(skipped)), ("skipped", skipped)]
    if failed:
        text = "\n".join(_report(pyfuncitem, len(rows), failed))
        failed.clear()  # with the arrays in their frames, which would look as if they had escaped
        pytest.fail(text, pytrace=False)
    if len(skipped) == len(rows):
        pytest.skip("; ".join(dict.fromkeys(skipped)))
    return True


def _report(item: Any, count: int, failed: list[Any]) -> Iterator[str]:
    yield f"{len(failed)} of {count} rows failed: {', '.join(row.name for row, _ in failed)}"
    test = item.nodeid.partition("[")[0]
    for row, raised in failed:
        yield f"\n--- {row.name}"
        whole = row is failed[0][0] or item.config.getoption("verbose") > 0
        yield str(raised.getrepr(style="short")) if whole else raised.exconly()
        yield f"again: pytest {shlex.quote(test)} --row {shlex.quote(row.name)}"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how much was checked, and which rows were left out of items that ran."""
    found = [
        dict(report.user_properties)
        for name in ("passed", "failed")
        for report in terminalreporter.stats.get(name, [])
        if getattr(report, "when", "") == "call"
    ]
    of_tables = [properties["rows"] for properties in found if "rows" in properties]
    reasons = Counter(reason for properties in found for reason in properties.get("skipped", []))
    for reason, count in reasons.items():
        terminalreporter.write_line(f"SKIPPED {count} rows: {reason}")
    terminalreporter.write_line(
        f"{sum(of_tables):,} rows × checks in {len(of_tables):,} items, "
        f"{len(found) - len(of_tables):,} other tests"
    )
