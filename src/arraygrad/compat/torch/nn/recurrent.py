"""Recurrent layers: one step of them, and whole sequences."""

from __future__ import annotations

import math
from typing import Any

from ..autograd import no_grad
from ..creation import empty, zeros
from ..functions.joining import cat, stack
from ..handles import Tensor
from . import functional as F  # noqa: N812
from .module import Module
from .parameter import Parameter


def _step(kind: str, x: Any, state: Any, weights: Any) -> Any:
    """The next state, given those weights and biases."""
    from_input, from_state, bias_input, bias_state = weights
    hidden = state[0] if kind == "LSTM" else state
    left, right = F.linear(x, from_input, bias_input), F.linear(hidden, from_state, bias_state)
    if kind == "GRU":
        reset, update, new = left.chunk(3, -1)
        reset_h, update_h, new_h = right.chunk(3, -1)
        r, z = (reset + reset_h).sigmoid(), (update + update_h).sigmoid()
        n = (new + r * new_h).tanh()
        return (1 - z) * n + z * hidden
    if kind == "LSTM":
        i, f, g, o = (left + right).chunk(4, -1)
        cell = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
        return o.sigmoid() * cell.tanh(), cell
    total = left + right
    return total.tanh() if kind == "tanh" else total.relu()


_GATES = {"GRU": 3, "LSTM": 4, "tanh": 1, "relu": 1}


class _Weights(Module):
    """The weights of one or several layers."""

    _kind: str

    def _add(self, sizes: list[tuple[int, str]], hidden: int, bias: bool, dtype: Any) -> None:
        rows = _GATES[self._kind] * hidden
        for size, suffix in sizes:
            shapes: dict[str, tuple[int, ...]] = {
                "weight_ih": (rows, size),
                "weight_hh": (rows, hidden),
            }
            if bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
            for name, shape in shapes.items():
                self.register_parameter(name + suffix, Parameter(empty(*shape, dtype=dtype)))
        bound = 1 / math.sqrt(hidden) if hidden else 0.0
        with no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-bound, bound)

    def _of(self, suffix: str) -> tuple[Any, ...]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        return tuple(self._parameters.get(name + suffix) for name in names)

    def _begin(self, like: Tensor, *shape: int) -> Any:
        state = zeros(*shape, dtype=like.dtype)
        return (state, state) if self._kind == "LSTM" else state


class _Cell(_Weights):
    """One step of a recurrent layer."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, *, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size = input_size, hidden_size
        self._add([(input_size, "")], hidden_size, bias, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The next state."""
        shape = (*input.shape[:-1], self.hidden_size)
        return _step(self._kind, input, hx or self._begin(input, *shape), self._of(""))


class GRUCell(_Cell):
    """One step of a gated recurrent layer."""

    _kind = "GRU"

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The next state."""
        shape = (*input.shape[:-1], self.hidden_size)
        state = self._begin(input, *shape) if hx is None else hx
        return _step(self._kind, input, state, self._of(""))


class LSTMCell(_Cell):
    """One step of a layer with long and short memory."""

    _kind = "LSTM"


class RNNCell(GRUCell):
    """One step of a simple recurrent layer."""

    _kind = "tanh"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        *,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f'nonlinearity must be "tanh" or "relu", not {nonlinearity!r}')
        self._kind = nonlinearity
        super().__init__(input_size, hidden_size, bias, dtype=dtype)


class _Layers(_Weights):
    """Layers over whole sequences."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        *,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.batch_first, self.dropout, self.bidirectional = batch_first, dropout, bidirectional
        ways = ("", "_reverse") if bidirectional else ("",)
        inner = hidden_size * len(ways)
        self._suffixes = [[f"_l{layer}{way}" for way in ways] for layer in range(num_layers)]
        sizes = [
            (inner if layer else input_size, suffix)
            for layer, suffixes in enumerate(self._suffixes)
            for suffix in suffixes
        ]
        self._add(sizes, hidden_size, bias, dtype)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The outputs of the last layer at all times, and the last states of all layers."""
        single = input.ndim == 2
        x = input.unsqueeze(1) if single else input.transpose(0, 1) if self.batch_first else input
        ways = len(self._suffixes[0])
        if hx is None:
            shape = (self.num_layers * ways, x.shape[1], self.hidden_size)
            hx = self._begin(x, *shape)
        elif single:
            hx = tuple(h.unsqueeze(1) for h in hx) if self._kind == "LSTM" else hx.unsqueeze(1)
        last: list[Any] = []
        for layer, suffixes in enumerate(self._suffixes):
            outputs = []
            for way, suffix in enumerate(suffixes):
                k = layer * ways + way
                state = (hx[0][k], hx[1][k]) if self._kind == "LSTM" else hx[k]
                steps = []
                for t in range(x.shape[0])[:: -1 if way else 1]:
                    state = _step(self._kind, x[t], state, self._of(suffix))
                    steps.append(state[0] if self._kind == "LSTM" else state)
                outputs.append(stack(steps[::-1] if way else steps))
                last.append(state)
            x = outputs[0] if len(outputs) == 1 else cat(outputs, dim=-1)
            if self.dropout and layer < self.num_layers - 1:
                x = F.dropout(x, self.dropout, self.training)
        output = x.squeeze(1) if single else x.transpose(0, 1) if self.batch_first else x
        if self._kind == "LSTM":
            found = tuple(stack([state[i] for state in last]) for i in (0, 1))
            return output, tuple(f.squeeze(1) for f in found) if single else found
        found_one = stack(last)
        return output, found_one.squeeze(1) if single else found_one


class GRU(_Layers):
    """Gated recurrent layers."""

    _kind = "GRU"


class LSTM(_Layers):
    """Layers with long and short memory."""

    _kind = "LSTM"


class RNN(_Layers):
    """Simple recurrent layers."""

    _kind = "tanh"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        **options: Any,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f'nonlinearity must be "tanh" or "relu", not {nonlinearity!r}')
        self._kind = nonlinearity
        super().__init__(input_size, hidden_size, num_layers, bias, **options)
