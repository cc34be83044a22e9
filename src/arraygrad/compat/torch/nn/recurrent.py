"""Recurrent layers: modules with the weights of `arraygrad.nn.rnn`, `gru` and `lstm`."""

from __future__ import annotations

import math
import warnings
from typing import Any

from .... import nn
from ..autograd import no_grad
from ..creation import empty
from ..handles import Tensor
from ..publish import function
from .forms import Source
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

__all__ = [
    "GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell",
]  # fmt: skip

_GATES = {"rnn": 1, "gru": 3, "lstm": 4}
_USUAL = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False}
_USUAL |= {"dropout": 0, "bidirectional": False}
_published = {
    name: function(getattr(nn, name), method=False, dtypes="same" if "_" in name else None)
    for each in _GATES
    for name in (each, f"{each}_cell")
}


class _Recurrent(Module):
    """The weights of one or several layers."""

    _kind: str
    nonlinearity: str

    def _add(
        self, sizes: list[tuple[int, str]], hidden: int, bias: bool, of: Any, projected: int = 0
    ) -> None:
        rows = _GATES[self._kind] * hidden
        for size, suffix in sizes:
            shapes: dict[str, tuple[int, ...]] = {
                "weight_ih": (rows, size),
                "weight_hh": (rows, projected or hidden),
            }
            if bias:
                shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
            if projected:
                shapes["weight_hr"] = (projected, hidden)
            for name, shape in shapes.items():
                self.register_parameter(name + suffix, Parameter(empty(*shape, **of)))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        with no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-bound, bound)

    def _weights(self, suffix: str) -> list[Any]:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        found = (self._parameters.get(name + suffix) for name in names)
        return [weight for weight in found if weight is not None]

    def _options(self) -> dict[str, Any]:
        return {"nonlinearity": self.nonlinearity} if self._kind == "rnn" else {}

    def _choose(self, nonlinearity: str) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f'nonlinearity must be "tanh" or "relu", not {nonlinearity!r}')
        self.nonlinearity = nonlinearity

    def extra_repr(self) -> str:
        """Its sizes, and options that are not the usual ones."""
        found = [f"{self.input_size}, {self.hidden_size}"]
        for name, usual in _USUAL.items():
            value = getattr(self, name, usual)
            found += [f"{name}={value}"] if value != usual else []
        return ", ".join(found)


# --- one step ---


class _Cell(_Recurrent):
    """One step of a recurrent layer."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        self._add([(input_size, "")], hidden_size, bias, {"device": device, "dtype": dtype})

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The next state."""
        if input.ndim not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.ndim}D instead"
            )
        cell = _published[f"{self._kind}_cell"]
        return cell(input, hx, self._weights(""), **self._options())


class GRUCell(_Cell):
    """One step of a gated recurrent layer."""

    _kind = "gru"


class LSTMCell(_Cell):
    """One step of a layer with long and short memory."""

    _kind = "lstm"


class RNNCell(_Cell):
    """One step of a simple recurrent layer."""

    _kind = "rnn"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self._choose(nonlinearity)


# --- sequences ---


def _check_types(kind: type, options: dict[str, Any]) -> None:
    """Refuse options of another type."""
    for name, value in options.items():
        if not isinstance(value, kind):
            found = type(value).__name__
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {found}")


class _Layers(_Recurrent):
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
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        sizes = {"input_size": input_size, "hidden_size": hidden_size, "num_layers": num_layers}
        _check_types(int, sizes)
        _check_types(bool, {"bias": bias, "batch_first": batch_first})
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(f"{name} must be greater than zero, not {size}")
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(f"dropout should be a number in range [0, 1], not {dropout!r}")
        if dropout and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero "
                f"dropout expects num_layers greater than 1, but got dropout={dropout} and "
                "num_layers=1",
                stacklevel=2,
            )
        if proj_size and self._kind != "lstm":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if not 0 <= proj_size < max(hidden_size, 1):
            raise ValueError(f"proj_size must be from 0 to hidden_size - 1, not {proj_size}")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.batch_first, self.dropout, self.bidirectional = batch_first, dropout, bidirectional
        self.bias, self.proj_size = bias, proj_size
        ways = ("", "_reverse") if bidirectional else ("",)
        inner = (proj_size or hidden_size) * len(ways)
        shapes = [
            (inner if layer else input_size, f"_l{layer}{way}")
            for layer in range(num_layers)
            for way in ways
        ]
        self._suffixes = [suffix for _, suffix in shapes]
        self._add(shapes, hidden_size, bias, {"device": device, "dtype": dtype}, proj_size)

    def flatten_parameters(self) -> None:
        """Do nothing: there is no other layout in memory."""

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The outputs of the last layer at all times, and the last states of all layers."""
        if isinstance(input, PackedSequence):
            return self._over_packed(input, hx)
        return self._run(input, hx, self.batch_first)

    def _run(self, input: Tensor, hx: Any, batch_first: bool, lengths: Any = None) -> Any:
        own = next(self.parameters()).dtype
        if input.dtype != own:
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({own})")
        return _published[self._kind](
            input,
            [self._weights(suffix) for suffix in self._suffixes],
            hx,
            bidirectional=self.bidirectional,
            batch_first=batch_first,
            dropout=self.dropout if self.training else 0.0,
            lengths=lengths,
            key=Source,
            **self._options(),
        )

    def _over_packed(self, packed: PackedSequence, hx: Any) -> Any:
        """The same for packed sequences. States are in the order that the sequences had."""
        order, back = packed.sorted_indices, packed.unsorted_indices

        def ordered(state: Any, places: Any) -> Any:
            if state is None or places is None:
                return state
            if isinstance(state, tuple):
                return tuple(s.index_select(1, places) for s in state)
            return state.index_select(1, places)

        out, state = self._run(packed.padded(), ordered(hx, order), False, packed.lengths)
        return packed.packed(out), ordered(state, back)


class GRU(_Layers):
    """Gated recurrent layers."""

    _kind = "gru"


class LSTM(_Layers):
    """Layers with long and short memory."""

    _kind = "lstm"


class RNN(_Layers):
    """Simple recurrent layers."""

    _kind = "rnn"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        *args: Any,
        **options: Any,
    ) -> None:
        super().__init__(input_size, hidden_size, num_layers, bias, *args, **options)
        self._choose(nonlinearity)
