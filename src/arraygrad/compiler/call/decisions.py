"""Decisions that a function took by values while it was traced, for ``compile(specialize=True)``.

A program is right only for arguments with which the function decides in the same way. So the values
by which it decided are computed before each run, by a program of their own, and compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..run.executable import Executable
from .tracing import Outcome, values_like


class Decisions:
    """What a traced function decided by, and how."""

    def __init__(self, outcome: Outcome, make: Callable[..., Executable]) -> None:
        found = dict(outcome.trace.decisions)  # a value decides the same way each time
        self._expected = list(found.values())
        self._program: Executable | None = None
        if found:
            captured = [outcome.trace.node(t.array) for t in outcome.stand_ins]
            inputs = list(dict.fromkeys([*outcome.inputs, *captured]))
            self._captured = outcome.captured
            self._program = make(outcome.trace.program, inputs, list(found))

    def hold(self, arrays: Sequence[Any]) -> bool:
        """Whether the function would decide in the same way for other arguments."""
        if self._program is None:
            return True
        given = [*arrays, *self._captured]
        values = self._program([np.asarray(values_like(a)) for a in given])
        return all(
            type(expected)(value.item()) == expected
            for value, expected in zip(values, self._expected, strict=True)
        )
