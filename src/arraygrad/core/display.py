"""How errors, and the results of SciPy's solvers, are shown.

Errors that nobody catches are shown without the frames of arraygrad: the user's lines remain. Only
what is printed changes, by Python and in Jupyter. The exceptions keep their frames, for debuggers.
``ARRAYGRAD_TRACEBACK=full`` in the environment shows all of them.

In Jupyter, what solvers return is a table, with a picture of a trajectory.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .cpython import OUR_FILES
from .upward import result_html


def install() -> None:
    """Show errors and results in this way from now on."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        by_type = shell.display_formatter.formatters["text/html"].for_type_by_name
        by_type("scipy.optimize._optimize", "OptimizeResult", result_html)
    if os.environ.get("ARRAYGRAD_TRACEBACK") == "full":
        return
    before = sys.excepthook

    def show(kind: Any, error: Any, place: Any) -> None:
        with _shortened(error):
            before(kind, error, getattr(error, "__traceback__", None) or place)

    sys.excepthook = show
    if shell is not None and not shell.custom_exceptions:

        def show_in_shell(_: Any, kind: Any, error: Any, place: Any, tb_offset: Any = None) -> None:
            with _shortened(error):
                shell.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset)

        shell.set_custom_exc((Exception,), show_in_shell)


@contextmanager
def _shortened(error: BaseException) -> Iterator[None]:
    """Take our frames out of an error and the errors that led to it, while it is shown."""
    whole: dict[int, tuple[BaseException, Any]] = {}
    rest: list[BaseException | None] = [error]
    while rest:
        found = rest.pop()
        if isinstance(found, Exception) and id(found) not in whole:
            whole[id(found)] = found, found.__traceback__
            rest += [found.__cause__, found.__context__]
    try:
        left_out = [_leave_out_ours(found) for found, _ in whole.values()]
        if any(left_out):
            sys.stderr.write("(frames of arraygrad are left out: ARRAYGRAD_TRACEBACK=full)\n")
        yield
    finally:
        for found, place in whole.values():
            found.__traceback__ = place


def _leave_out_ours(error: BaseException) -> bool:
    """Whether there were frames to leave out. If all of them are ours, they stay."""
    places, place = [], error.__traceback__
    while place is not None:
        places.append(place)
        place = place.tb_next
    users = [p for p in places if not p.tb_frame.f_code.co_filename.startswith(OUR_FILES)]
    if not users or len(users) == len(places):
        return False
    shown: types.TracebackType | None = None
    for p in reversed(users):
        shown = types.TracebackType(shown, p.tb_frame, p.tb_lasti, p.tb_lineno)
    error.__traceback__ = shown
    return True
