"""`torch.nn.utils.rnn`: sequences of several lengths, in one tensor."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...creation import full, tensor
from ...functions.joining import cat, stack
from ...functions.reductions import argsort
from ...handles import Tensor

__all__ = [
    "PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedSequence(NamedTuple):
    """Sequences in order of their lengths: first the first elements of all."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: Any, **keywords: Any) -> PackedSequence:
        """The sequences in another dtype."""
        return self._replace(data=self.data.to(*args, **keywords))

    @property
    def lengths(self) -> list[int]:
        """The lengths of the sequences, from the longest on."""
        sizes = self.batch_sizes.tolist()
        return [sum(size > i for size in sizes) for i in range(sizes[0])]

    def packed(self, padded: Tensor) -> PackedSequence:
        """Other numbers for the same lengths, from a tensor (steps, sequences, …) in this order."""
        sizes = self.batch_sizes.tolist()
        return self._replace(data=cat([padded[t, :n] for t, n in enumerate(sizes)]))

    def padded(self, padding_value: float = 0.0, total_length: int | None = None) -> Tensor:
        """A tensor (steps, sequences, …), in the order of the lengths."""
        sizes = self.batch_sizes.tolist()
        steps = len(sizes) if total_length is None else total_length
        rest = tuple(self.data.shape[1:])
        parts, at = [], 0
        for size in sizes + [0] * (steps - len(sizes)):
            filled = full((sizes[0] - size, *rest), padding_value, dtype=self.data.dtype)
            parts.append(cat([self.data[at : at + size], filled]))
            at += size
        return stack(parts)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """The sequences in a padded tensor, (steps, sequences, …) or the other way round."""
    counts = [int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]
    x = input.transpose(0, 1) if batch_first else input
    if len(counts) != x.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size="
            f"{x.shape[1]})"
        )
    if min(counts) <= 0 or max(counts) > x.shape[0]:
        raise RuntimeError(
            f"Length of all samples has to be greater than 0, and at most {x.shape[0]}: {counts}"
        )
    order = unsorted = None
    if enforce_sorted:
        if counts != sorted(counts, reverse=True):
            raise RuntimeError(
                "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
                "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence "
                "to sidestep this requirement"
            )
    else:
        order = argsort(tensor(counts), descending=True, stable=True)
        unsorted = argsort(order)
        x, counts = x.index_select(1, order), sorted(counts, reverse=True)
    sizes = [sum(n > t for n in counts) for t in range(counts[0])]
    return PackedSequence(x, tensor(sizes), order, unsorted).packed(x)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """A padded tensor with the sequences in the order that they had, and their lengths."""
    steps = len(sequence.batch_sizes)
    if total_length is not None and total_length < steps:
        raise ValueError(
            f"Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {steps}"
        )
    x, counts = sequence.padded(padding_value, total_length), tensor(sequence.lengths)
    if sequence.unsorted_indices is not None:
        x = x.index_select(1, sequence.unsorted_indices)
        counts = counts[sequence.unsorted_indices]
    return (x.transpose(0, 1) if batch_first else x), counts


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Tensors of several lengths side by side, with a value after, or before, the short ones."""
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"padding_side must be left or right, but got {padding_side}")
    longest = max(s.shape[0] for s in sequences)
    padded = []
    for s in sequences:
        more = full((longest - s.shape[0], *s.shape[1:]), padding_value, dtype=s.dtype)
        padded.append(cat([s, more] if padding_side == "right" else [more, s]))
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> Any:
    """The sequences in a padded tensor, as a list."""
    x = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:n] for row, n in zip(x, lengths.tolist(), strict=True)]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Tensors of several lengths as packed sequences."""
    counts = [s.shape[0] for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), counts, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> Any:
    """Packed sequences as a list of tensors."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))
