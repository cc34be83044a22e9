"""`torch.utils.data`: datasets, samplers, and loaders that make batches of them."""

from __future__ import annotations

import bisect
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from ..creation import tensor
from ..functions.joining import stack
from ..handles import Tensor
from ..random import Generator, multinomial, randint, randperm

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset",
    "RandomSampler", "Sampler", "SequentialSampler", "Subset", "SubsetRandomSampler",
    "TensorDataset", "WeightedRandomSampler", "default_collate", "get_worker_info", "random_split",
]  # fmt: skip


class _Of:
    """What can be written with the type of its samples, as in `Dataset[int]`."""

    def __class_getitem__(cls, _: Any) -> type[Self]:
        return cls


class Dataset(_Of):
    """Samples by number. A subclass defines `__getitem__`, and most often `__len__`."""

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Samples one after the other. A subclass defines `__iter__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset):
    """Samples are slices along the first axis of some tensors."""

    def __init__(self, *tensors: Tensor) -> None:
        if len({len(t) for t in tensors}) > 1:
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class Subset(Dataset):
    """Some samples of a dataset."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """Several samples at once."""
        places = [self.indices[i] for i in indices]
        if hasattr(self.dataset, "__getitems__"):
            return self.dataset.__getitems__(places)  # type: ignore[no-any-return]
        return [self.dataset[i] for i in places]

    def __len__(self) -> int:
        return len(self.indices)


class ChainDataset(IterableDataset):
    """The samples of several datasets that are iterated over, one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


class ConcatDataset(Dataset):
    """The samples of several datasets, one dataset after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __getitem__(self, index: int) -> Any:
        if not -len(self) <= index < len(self):
            raise ValueError(f"index {index} is beyond the length {len(self)} of the datasets")
        index %= len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - before]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset]:
    """A dataset divided at random into parts of given lengths, or of given shares that sum to 1."""
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        counts = [math.floor(total * share) for share in lengths]
        for i in range(total - sum(counts)):  # what is left goes round
            counts[i % len(counts)] += 1
    else:
        counts = [int(n) for n in lengths]
    if sum(counts) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(total, generator=generator).tolist()
    ends = list(itertools.accumulate(counts))
    return [Subset(dataset, order[e - n : e]) for e, n in zip(ends, counts, strict=True)]


# --- the order of samples ---


class Sampler(_Of):
    """An order of samples. A subclass defines `__iter__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class SequentialSampler(Sampler):
    """One sample after the other."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """Samples in random order, or drawn again and again."""

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self.num_samples = len(data_source) if num_samples is None else num_samples
        if not isinstance(self.num_samples, int) or self.num_samples < 0 or num_samples == 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )

    def __iter__(self) -> Iterator[int]:
        size = len(self.data_source)
        if self.replacement:
            drawn = randint(0, size, (self.num_samples,), generator=self.generator)
            return iter(drawn.tolist())
        orders = (
            randperm(size, generator=self.generator).tolist()
            for _ in range(math.ceil(self.num_samples / max(size, 1)))
        )
        return itertools.islice(itertools.chain.from_iterable(orders), self.num_samples)

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Given places in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        order = randperm(len(self.indices), generator=self.generator).tolist()
        return (self.indices[i] for i in order)

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Samples drawn with given weights."""

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        self.weights = tensor([float(w) for w in weights])
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """The samples of another order in batches; `drop_last` leaves out a smaller last one."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[Any]]:
        places = iter(self.sampler)
        while batch := list(itertools.islice(places, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        size = len(self.sampler)
        return size // self.batch_size if self.drop_last else math.ceil(size / self.batch_size)


# --- batches ---


def default_collate(batch: Sequence[Any]) -> Any:
    """Samples as one batch: tensors and numbers stacked, and structures of them in their form."""
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch))
    if isinstance(first, np.ndarray | np.generic):
        return stack([tensor(np.asarray(sample)) for sample in batch])
    if isinstance(first, float):
        return tensor(np.array(batch, np.float64))
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, Sequence):
        if len({len(sample) for sample in batch}) > 1:
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [default_collate(part) for part in zip(*batch, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else parts
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}"
    )


class DataLoader(_Of):
    """Batches of the samples of a dataset, made in this process."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers:
            warnings.warn(
                f"DataLoader(num_workers={num_workers}): batches are made in this process, so that "
                "there are no workers",
                UserWarning,
                stacklevel=2,
            )
        self.num_workers, self.pin_memory, self.generator = num_workers, pin_memory, generator
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        streams = isinstance(dataset, IterableDataset)
        if streams and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("DataLoader with IterableDataset: there is no order to choose")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler or drop_last):
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                "drop_last"
            )
        if batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually "
                "exclusive with drop_last"
            )
        if sampler is None and not streams:
            usual = SequentialSampler(dataset)
            sampler = RandomSampler(dataset, generator=generator) if shuffle else usual
        self.sampler = dataset if streams else sampler
        if batch_sampler is None and batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_sampler = batch_sampler
        as_it_is: Callable[[Any], Any] = _as_it_is if batch_sampler is None else default_collate
        self.collate_fn = as_it_is if collate_fn is None else collate_fn

    def __iter__(self) -> Iterator[Any]:
        order = self.sampler if self.batch_sampler is None else self.batch_sampler
        for places in order:
            if isinstance(self.dataset, IterableDataset):  # the samples themselves
                yield self.collate_fn(places)
            elif self.batch_sampler is None:
                yield self.collate_fn(self.dataset[places])
            elif hasattr(self.dataset, "__getitems__"):
                yield self.collate_fn(self.dataset.__getitems__(places))
            else:
                yield self.collate_fn([self.dataset[i] for i in places])

    def __len__(self) -> int:
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def get_worker_info() -> None:
    """None: there are no workers."""
    return


def _as_it_is(sample: Any) -> Any:
    return sample if isinstance(sample, Tensor | str | bytes) else _converted(sample)


def _converted(sample: Any) -> Any:
    """A sample without a batch axis, with tensors in the place of NumPy arrays."""
    if isinstance(sample, np.ndarray | np.generic):
        return tensor(np.asarray(sample))
    if isinstance(sample, Mapping):
        return {key: _converted(value) for key, value in sample.items()}
    if isinstance(sample, tuple | list) and not hasattr(sample, "_fields"):
        return [_converted(part) for part in sample]
    return sample
