"""Recurrent networks: one step of them, and whole sequences.

The weights of a layer are those of PyTorch: `weight_ih` and `weight_hh`, `bias_ih` and `bias_hh`
if there are biases, and for `lstm` perhaps `weight_hr`, which projects the hidden state. The rows
of a weight are those of all gates: reset, update and new in a `gru`; input, forget, cell and output
in an `lstm`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import ops, special
from ..func import scan
from ..ops.define.arguments import naming
from ..ops.define.signatures import one_array
from .activations import relu
from .attention import linear
from .common import constant, filled, one_of, shape_of
from .draws import part_of
from .dropping import dropout
from .steps import Step, all_steps

__all__ = ["gru", "gru_cell", "lstm", "lstm_cell", "rnn", "rnn_cell"]


def _tanh_step(left: Any, right: Any, hidden: Any) -> tuple[Any, ...]:
    return (ops.tanh(left + right),)


def _relu_step(left: Any, right: Any, hidden: Any) -> tuple[Any, ...]:
    return (relu(left + right),)


def _gru_step(left: Any, right: Any, hidden: Any) -> tuple[Any, ...]:
    reset, update, new = ops.split(left, 3, axis=-1)
    reset_h, update_h, new_h = ops.split(right, 3, axis=-1)
    r, z = special.expit(reset + reset_h), special.expit(update + update_h)
    n = ops.tanh(new + r * new_h)
    return (n + z * (hidden - n),)


def _lstm_step(left: Any, right: Any, cell: Any) -> tuple[Any, ...]:
    i, f, g, o = ops.split(left + right, 4, axis=-1)
    new = special.expit(f) * cell + special.expit(i) * ops.tanh(g)
    return special.expit(o) * ops.tanh(new), new


def _rnn_step(nonlinearity: str) -> Step:
    one_of("nonlinearity", nonlinearity, ("tanh", "relu"))
    return Step(_tanh_step if nonlinearity == "tanh" else _relu_step, adds=True)


_GRU = Step(_gru_step, adds=False)
_LSTM = Step(_lstm_step, adds=True)


_GATES = {"rnn": 1, "gru": 3, "lstm": 4}


class _Weights:
    """The weights of one layer in one direction, checked."""

    def __init__(self, given: Sequence[Any], name: str, features: int) -> None:
        parts = list(given)
        if len(parts) not in (2, 3, 4, 5) or (len(parts) in (3, 5) and name != "lstm"):
            raise ValueError(
                f"the weights of a layer must be weight_ih, weight_hh and perhaps bias_ih and "
                f"bias_hh, not {len(parts)} arrays"
            )
        for i, part in enumerate(parts):
            if not hasattr(part, "dtype"):
                raise TypeError(f"weights[{i}] must be an array, not {type(part).__name__}")
        self.projection = parts.pop() if len(parts) in (3, 5) else None
        self.of_input, self.of_state = parts[:2]
        biases: list[Any] = parts[2:] or [None, None]
        self.bias_of_input, self.bias_of_state = biases
        rows, gates = self.of_input.shape[0], _GATES[name]
        self.size = rows // gates
        self.state_size = self.size if self.projection is None else self.projection.shape[0]
        if rows % gates or shape_of(self.of_input) != (rows, features):
            raise ValueError(
                f"weight_ih must have {gates} rows for each hidden unit and {features} columns, "
                f"not shape {shape_of(self.of_input)}"
            )
        if shape_of(self.of_state) != (rows, self.state_size):
            raise ValueError(
                f"weight_hh must have the shape {(rows, self.state_size)}, not "
                f"{shape_of(self.of_state)}"
            )

    def left(self, x: Any) -> Any:
        """The products of the input, at all times at once."""
        return linear(x, self.of_input, self.bias_of_input)

    def next(self, step: Step, left: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
        """The next state."""
        new = step.function(left, linear(state[0], self.of_state, self.bias_of_state), state[-1])
        return new if self.projection is None else (linear(new[0], self.projection), new[1])


# --- one step ---


def _cell(name: str, step: Step, input: Any, state: Any, weights: Sequence[Any]) -> Any:
    of = _Weights(weights, name, input.shape[-1])
    is_pair = name == "lstm"
    lead, sizes = shape_of(input)[:-1], (of.state_size, of.size)[: 1 + is_pair]
    if state is None:
        given = tuple(filled(input, (*lead, n), 0) for n in sizes)
    else:
        given = tuple(state) if is_pair else (state,)
        _check_state(given, lead, sizes)
    new = of.next(step, of.left(input), given)
    return new if is_pair else new[0]


@one_array
def rnn_cell(input: Any, state: Any, weights: Sequence[Any], nonlinearity: str = "tanh") -> Any:
    """One step of `rnn`: the next hidden state.

    >>> ag.nn.rnn_cell(ag.ones((2, 3)), ag.zeros((2, 4)), [ag.ones((4, 3)), ag.ones((4, 4))]).shape
    (2, 4)
    """
    return _cell("rnn", _rnn_step(nonlinearity), input, state, weights)


@one_array
def gru_cell(input: Any, state: Any, weights: Sequence[Any]) -> Any:
    """One step of `gru`: the next hidden state.

    >>> weights = ag.ones((12, 3)), ag.ones((12, 4))
    >>> ag.nn.gru_cell(ag.ones((2, 3)), ag.zeros((2, 4)), weights).shape
    (2, 4)
    """
    return _cell("gru", _GRU, input, state, weights)


@naming("input")
def lstm_cell(input: Any, state: Any, weights: Sequence[Any]) -> tuple[Any, Any]:
    """One step of `lstm`: the next hidden state and cell.

    >>> state = ag.zeros((2, 4)), ag.zeros((2, 4))
    >>> hidden, cell = ag.nn.lstm_cell(ag.ones((2, 3)), state, [ag.ones((16, 3)), ag.ones((16, 4))])
    >>> hidden.shape
    (2, 4)
    """
    return _cell("lstm", _LSTM, input, state, weights)  # type: ignore[no-any-return]


# --- sequences ---


def _sequence(
    name: str,
    step: Step,
    input: Any,
    weights: Sequence[Sequence[Any]],
    state: Any,
    bidirectional: bool,
    batch_first: bool,
    dropout_p: float,
    lengths: Any,
    key: Any,
) -> Any:
    """The outputs of the last layer at all times, and the last states of all layers."""
    ways = 2 if bidirectional else 1
    if not len(weights) or len(weights) % ways:
        raise ValueError(f"weights must have {ways} items for each layer, not {len(weights)}")
    if input.ndim not in (2, 3):
        raise ValueError(f"input must have 2 or 3 axes, not shape {shape_of(input)}")
    single = input.ndim == 2
    x = input[:, None] if single else ops.swapaxes(input, 0, 1) if batch_first else input
    is_pair = name == "lstm"
    given = None if state is None else tuple(state) if is_pair else (state,)
    if given is not None and single:
        given = tuple(part[:, None] for part in given)
    alive = None if lengths is None else _alive(lengths, x)
    last: list[Any] = []
    for layer in range(len(weights) // ways):
        outputs = []
        for way in range(ways):
            k = layer * ways + way
            of = _Weights(weights[k], name, x.shape[-1])
            sizes = (of.state_size, of.size)[: 1 + is_pair]
            if given is None:
                start = tuple(filled(x, (x.shape[1], n), 0) for n in sizes)
            else:
                _check_state(given, (len(weights), x.shape[1]), sizes)
                start = tuple(part[k] for part in given)
            end, out = _run(of, step, x, start, alive, bool(way))
            outputs.append(out)
            last.append(end)
        x = outputs[0] if ways == 1 else ops.concat(outputs, axis=-1)
        if dropout_p and layer < len(weights) // ways - 1:
            x = dropout(x, dropout_p, key=part_of(key, layer, name))
    x = x[:, 0] if single else ops.swapaxes(x, 0, 1) if batch_first else x
    found = tuple(ops.stack([end[i] for end in last]) for i in range(1 + is_pair))
    found = tuple(part[:, 0] for part in found) if single else found
    return x, found if is_pair else found[0]


def _run(
    of: _Weights, step: Step, x: Any, start: tuple[Any, ...], alive: Any, reverse: bool
) -> tuple[tuple[Any, ...], Any]:
    left = of.left(x)
    if alive is None and of.projection is None and len(left):
        bias = of.bias_of_state
        bias = filled(left, of.of_state.shape[:1], 0) if bias is None else bias
        found = all_steps(step, (left, of.of_state, bias, *start), reverse)
        if found is not None:
            return tuple(part[0 if reverse else -1] for part in found), found[0]

    def along(state: tuple[Any, ...], at: Any) -> Any:
        left, goes_on = at if alive is not None else (at, None)
        new = of.next(step, left, state)
        if goes_on is None:
            return new, new[0]
        kept = tuple(ops.where(goes_on, n, s) for n, s in zip(new, state, strict=True))
        return kept, ops.where(goes_on, new[0], 0)

    return scan(along, start, left if alive is None else (left, alive), reverse=reverse)


def _alive(lengths: Any, x: Any) -> Any:
    """Whether each step of each sample is one of its own, not one of padding."""
    values = np.asarray(lengths).reshape(-1)
    if len(values) != x.shape[1] or values.min() < 1 or values.max() > x.shape[0]:
        raise ValueError(
            f"lengths must be {x.shape[1]} numbers from 1 to {x.shape[0]}, not {values.tolist()}"
        )
    return constant(np.arange(x.shape[0])[:, None, None] < values[:, None], x)


def _check_state(given: Any, lead: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    for part, size in zip(given, sizes, strict=True):
        if not hasattr(part, "dtype"):
            raise TypeError(f"state must be an array, not {type(part).__name__}")
        if shape_of(part) != (*lead, size):
            raise ValueError(f"state must have the shape {(*lead, size)}, not {shape_of(part)}")


@naming("input")
def rnn(
    input: Any,
    weights: Sequence[Sequence[Any]],
    state: Any = None,
    *,
    nonlinearity: str = "tanh",
    bidirectional: bool = False,
    batch_first: bool = False,
    dropout: float = 0.0,
    lengths: Any = None,
    key: Any = None,
) -> tuple[Any, Any]:
    """A simple recurrent network over a sequence.

    Parameters
    ----------
    input : array, (steps, samples, features) or (steps, features)
    weights : sequence of sequences of arrays
        For each layer, and for each direction of it, ``(weight_ih, weight_hh)`` or
        ``(weight_ih, weight_hh, bias_ih, bias_hh)``, with one row for each hidden unit.
    state : array, (layers * directions, samples, hidden), optional
        The first state of each layer and direction; by default zeros.
    nonlinearity : "tanh" or "relu"
    bidirectional : bool
        Whether each layer has a second direction, from the end to the start.
    batch_first : bool
        Whether the axis of the samples is before that of the steps.
    dropout : float
        The probability of dropout between layers.
    lengths : sequence of int, optional
        How many steps of each sample count. After them, results are zero and states stay.
    key
        Where the random numbers of dropout come from, see `dropout`.

    Returns
    -------
    (output, state)
        The hidden states of the last layer at all times, and the last state of each layer and
        direction.

    Examples
    --------
    >>> import arraygrad as ag
    >>> weights = [(ag.ones((2, 3)), ag.ones((2, 2)))]
    >>> output, state = ag.nn.rnn(ag.ones((5, 4, 3)), weights)
    >>> output.shape, state.shape
    ((5, 4, 2), (1, 4, 2))
    """
    options = (bidirectional, batch_first, dropout, lengths, key)
    step = _rnn_step(nonlinearity)
    return _sequence("rnn", step, input, weights, state, *options)  # type: ignore[no-any-return]


@naming("input")
def gru(
    input: Any,
    weights: Sequence[Sequence[Any]],
    state: Any = None,
    *,
    bidirectional: bool = False,
    batch_first: bool = False,
    dropout: float = 0.0,
    lengths: Any = None,
    key: Any = None,
) -> tuple[Any, Any]:
    """A gated recurrent network over a sequence.

    Parameters and results are those of `rnn`; weights have three rows for each hidden unit.

    >>> weights = [[ag.ones((12, 3)), ag.ones((12, 4))]]
    >>> output, state = ag.nn.gru(ag.ones((5, 2, 3)), weights)
    >>> output.shape, state.shape
    ((5, 2, 4), (1, 2, 4))
    """
    options = (bidirectional, batch_first, dropout, lengths, key)
    return _sequence("gru", _GRU, input, weights, state, *options)  # type: ignore[no-any-return]


@naming("input")
def lstm(
    input: Any,
    weights: Sequence[Sequence[Any]],
    state: Any = None,
    *,
    bidirectional: bool = False,
    batch_first: bool = False,
    dropout: float = 0.0,
    lengths: Any = None,
    key: Any = None,
) -> tuple[Any, Any]:
    """A network with long and short memory over a sequence.

    Parameters and results are those of `rnn`; weights have four rows for each hidden unit, and a
    state is a pair: the hidden state and the cell. If the last weight of a layer is `weight_hr`,
    it projects the hidden state.

    Examples
    --------
    >>> import arraygrad as ag
    >>> weights = [(ag.ones((8, 3)), ag.ones((8, 2)), ag.zeros(8), ag.zeros(8))]
    >>> output, (hidden, cell) = ag.nn.lstm(ag.ones((5, 4, 3)), weights)
    >>> output.shape, hidden.shape, cell.shape
    ((5, 4, 2), (1, 4, 2), (1, 4, 2))
    """
    options = (bidirectional, batch_first, dropout, lengths, key)
    return _sequence("lstm", _LSTM, input, weights, state, *options)  # type: ignore[no-any-return]
