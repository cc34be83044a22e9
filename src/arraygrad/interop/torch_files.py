"""Files of tensors in PyTorch's zip format, which run no code when they are read.

A file holds a pickle, `data.pkl`, in which each tensor is a shape and strides on a numbered
storage, and the bytes of each storage beside it. The pickle is read by an unpickler that knows the
few functions such files need and refuses all others by name. A facade says which these are.
"""

from __future__ import annotations

import io
import pickle
import struct
import sys
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import IO, Any

import numpy as np

# The names of PyTorch's storages, and the dtypes of their elements.
STORAGES = {
    "BFloat16Storage": "bfloat16", "BoolStorage": "bool", "ByteStorage": "uint8",
    "CharStorage": "int8", "ComplexDoubleStorage": "complex128", "ComplexFloatStorage": "complex64",
    "DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16",
    "IntStorage": "int32", "LongStorage": "int64", "ShortStorage": "int16",
}  # fmt: skip


# PyTorch's names of the dtypes, as in `FloatTensor`.
TYPE_NAMES = {kind: name.removesuffix("Storage") for name, kind in STORAGES.items()}


class Named:
    """What a name in a pickle stands for. It can be called, and has nothing that can be changed."""

    __slots__ = ("_call", "name", "value")

    def __init__(
        self, name: str, call: Callable[..., Any] | None = None, value: Any = None
    ) -> None:
        self.name, self._call, self.value = name, call, value

    def __call__(self, *args: Any) -> Any:
        if self._call is None:
            raise pickle.UnpicklingError(f"the file calls {self.name}, which is no function")
        return self._call(*args)


class Storage:
    """The memory that an array is part of, as bytes, and the name of its dtype."""

    __slots__ = ("held", "kind")

    def __init__(self, held: Any, kind: str) -> None:
        self.held, self.kind = held, kind


def numpy_dtype(kind: str) -> np.dtype[Any]:
    """The NumPy dtype of a name. bfloat16 needs the package ml_dtypes."""
    if kind != "bfloat16":
        return np.dtype(kind)
    try:
        import ml_dtypes
    except ImportError:
        raise NotImplementedError(
            "bfloat16 needs the package ml_dtypes, because NumPy has no such dtype: install it, or "
            "use float32"
        ) from None
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


def array_on(storage: Any, offset: Any, size: Any, stride: Any, kind: str | None = None) -> Any:
    """The array on a part of a storage. Forged numbers raise."""
    if not isinstance(storage, Storage):
        raise pickle.UnpicklingError("a tensor of the file has no storage")
    memory = storage.held.view(numpy_dtype(storage.kind if kind is None else kind))
    numbers = (offset, *size, *stride)
    if len(size) != len(stride) or any(type(n) is not int or n < 0 for n in numbers):
        raise RuntimeError(f"load(): a tensor has size {size}, stride {stride}, offset {offset}")
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if all(size) and last >= memory.size:
        raise RuntimeError(
            f"load(): a tensor of size {size}, stride {stride} and offset {offset} reaches beyond "
            f"its storage of {memory.size} elements"
        )
    if not all(size):
        return np.empty(size, memory.dtype)
    item = memory.itemsize
    return np.ndarray(size, memory.dtype, memory, offset * item, [step * item for step in stride])


def _bytes(text: Any, encoding: Any = "latin1") -> bytes:
    """How pickles of protocol 2 write bytes."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError("the file encodes something that is no string of bytes")
    return text.encode("latin1")


def _byte_array(*args: Any) -> bytearray:
    if len(args) > 1 or not isinstance(args[0] if args else b"", bytes):
        raise pickle.UnpicklingError("the file makes a bytearray of something that is no bytes")
    return bytearray(*args)


_ALWAYS: dict[str, Callable[..., Any]] = {
    "_codecs.encode": _bytes,
    "builtins.bytearray": _byte_array,
    "builtins.complex": complex,
    "builtins.set": set,
    "collections.Counter": Counter,
    "collections.OrderedDict": OrderedDict,
}


class _Restricted(pickle._Unpickler):
    """An unpickler that calls only what its table names."""

    dispatch = pickle._Unpickler.dispatch.copy()
    for _code in (
        pickle.INST, pickle.OBJ, pickle.NEWOBJ, pickle.NEWOBJ_EX, pickle.EXT1, pickle.EXT2,
        pickle.EXT4, pickle.PERSID, pickle.NEXT_BUFFER, pickle.READONLY_BUFFER,
        pickle.BYTEARRAY8,  # takes memory for as many bytes as it says before there are any
    ):  # fmt: skip
        del dispatch[_code[0]]

    def __init__(self, file: IO[bytes], names: Mapping[str, Any]) -> None:
        super().__init__(file)
        self._names = names

    def find_class(self, module: str, name: str) -> Any:
        full = f"{'builtins' if module == '__builtin__' else module}.{name}"
        if full in _ALWAYS:
            return Named(full, _ALWAYS[full])
        try:
            return self._names[full]
        except KeyError:
            raise pickle.UnpicklingError(
                f"Weights only load failed: the file wants to use {full}, which is no part of a "
                "structure of tensors. If you trust the file, and the code that it runs, use "
                "weights_only=False"
            ) from None

    def _build(self) -> None:
        """Set attributes, as `_metadata` of a module's state, but only those of a dictionary."""
        state = self.stack.pop()  # type: ignore[attr-defined]
        target = self.stack[-1]  # type: ignore[attr-defined]
        if type(target) is not OrderedDict or type(state) is not dict:
            raise pickle.UnpicklingError(f"the file sets attributes of a {type(target).__name__}")
        for name, value in state.items():
            if type(name) is not str or hasattr(OrderedDict, name):
                raise pickle.UnpicklingError(f"the file sets the attribute {name!r} of a dict")
            setattr(target, name, value)

    dispatch[pickle.BUILD[0]] = _build  # type: ignore[assignment]


class _Trusted(pickle.Unpickler):
    """Python's unpickler, with the facade's meaning of PyTorch's names."""

    def __init__(self, file: IO[bytes], names: Mapping[str, Any]) -> None:
        super().__init__(file)
        self._names = names

    def find_class(self, module: str, name: str) -> Any:
        found = self._names.get(f"{module}.{name}")
        return super().find_class(module, name) if found is None else found


def read(f: Any, names: Mapping[str, Any], trusted: bool = False) -> Any:
    """Read a file that `write`, or PyTorch, wrote.

    Parameters
    ----------
    f : path or file
        The file.
    names : mapping
        The values of names in the pickle, such as "torch._utils._rebuild_tensor_v2": a `Named`, or
        something that cannot be changed.
    trusted : bool
        Whether the file may call every function that Python can import.

    Returns
    -------
    object
        What was saved.
    """
    with nullcontext(f) if hasattr(f, "read") else open(f, "rb") as file:
        data = file.read()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _read_archive(archive, len(data), names, trusted)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError, struct.error) as error:
        if trusted and data.startswith(b"\x80"):
            return pickle.loads(data)
        raise RuntimeError(
            f"load(): the file is damaged, cut off, or no zip file of torch.save: {error}"
        ) from error


def _read_archive(
    archive: zipfile.ZipFile, size: int, names: Mapping[str, Any], trusted: bool
) -> Any:
    infos = {}
    for info in archive.infolist():
        if info.compress_type != zipfile.ZIP_STORED or info.file_size > size:
            raise RuntimeError(f"load(): record {info.filename!r} is compressed, or forged")
        infos[info.filename.partition("/")[2]] = info

    if sum(info.file_size for info in infos.values()) > size:
        raise RuntimeError("load(): records of the file overlap: it is forged")

    def record(name: str) -> bytes:
        if name not in infos:
            raise RuntimeError(f"load(): the file has no record {name!r}: it is damaged or forged")
        return archive.read(infos[name])

    if "byteorder" in infos and record("byteorder") != sys.byteorder.encode():
        raise RuntimeError("load(): the file is of a machine with another order of bytes")
    held: dict[str, Any] = {}

    def storage(saved: Any) -> Storage:
        types = [str, Named, str, str, int]
        if type(saved) is not tuple or [type(part) for part in saved] != types:
            raise pickle.UnpicklingError(f"the file refers to {saved!r}, which is no storage")
        _, kind, key, _, count = saved
        if key not in held:  # all tensors of one storage share its memory
            held[key] = np.frombuffer(bytearray(record(f"data/{key}")), np.uint8)
        name = STORAGES.get(kind.name.rpartition(".")[2], "uint8")
        if held[key].size != count * (2 if name == "bfloat16" else np.dtype(name).itemsize):
            raise RuntimeError(f"load(): storage {key} does not have the {count} elements it says")
        return Storage(held[key], name)

    storages = {f"torch.{name}": Named(f"torch.{name}") for name in STORAGES}
    untyped = "torch.storage.UntypedStorage"
    unpickler: Any = (_Trusted if trusted else _Restricted)(
        io.BytesIO(record("data.pkl")), {**storages, untyped: Named(untyped), **names}
    )
    unpickler.persistent_load = storage
    if trusted:
        return unpickler.load()
    try:
        return unpickler.load()
    except (pickle.UnpicklingError, RuntimeError, MemoryError):
        raise
    except Exception as error:  # whatever a forged pickle does to an unpickler
        raise RuntimeError(f"load(): data.pkl is damaged or forged: {error!r}") from error


# --- writing ---


class _Pickler(pickle._Pickler):
    """A pickler that writes names which no module here has."""

    dispatch = pickle._Pickler.dispatch.copy()

    def __init__(self, file: IO[bytes], describe: Callable[[Any], Any]) -> None:
        super().__init__(file, 2)
        self.records: list[bytes] = []
        self._describe = describe
        self._storages: dict[Any, tuple[str, Any]] = {}

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        described = self._describe(obj)
        super().save(described if isinstance(described, Named) else obj, save_persistent_id)  # type: ignore[misc]

    def reducer_override(self, obj: Any) -> Any:
        return self._describe(obj)

    def persistent_id(self, obj: Any) -> Any:
        if type(obj) is not Storage:
            return None
        where = (obj.held.__array_interface__["data"][0], obj.held.size, obj.kind)
        if where not in self._storages:  # the array stays alive, so that no other has its place
            self._storages[where] = (str(len(self.records)), obj.held)
            self.records.append(obj.held.tobytes())
        name = next((n for n, kind in STORAGES.items() if kind == obj.kind), None)
        if name is None:
            kind, count = Named("torch.storage.UntypedStorage"), obj.held.size
        else:
            kind = Named(f"torch.{name}")
            count = obj.held.size // numpy_dtype(obj.kind).itemsize
        return ("storage", kind, self._storages[where][0], "cpu", count)

    def _save_name(self, obj: Named) -> None:
        module, _, name = obj.name.rpartition(".")
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())  # type: ignore[attr-defined]
        self.memoize(obj)  # type: ignore[attr-defined]

    dispatch[Named] = _save_name  # type: ignore[assignment]


def parts_of(array: Any) -> tuple[Storage, int, tuple[int, ...], tuple[int, ...]]:
    """The storage of an array, and its offset, size and stride there, counted in elements."""
    root = array
    while True:
        base = getattr(root.base, "array", root.base)  # a holder of memory, or the array
        if not isinstance(base, np.ndarray):
            break
        root = base
    item = array.itemsize
    offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    odd = any(step < 0 or step % item for step in array.strides)
    if odd or offset % item or root.nbytes % item or not root.flags.c_contiguous:
        array, offset = (root := np.array(array, order="C", copy=True)), 0
    storage = Storage(root.reshape(-1).view(np.uint8), array.dtype.name)
    return storage, offset // item, array.shape, tuple(step // item for step in array.strides)


def write(obj: Any, f: Any, describe: Callable[[Any], Any]) -> None:
    """Write an object to a file.

    Parameters
    ----------
    obj : object
        Tensors in any structure, and all else that Python can pickle.
    f : path or file
        The file.
    describe : callable
        What to write for an object: a tuple of a `Named` and its arguments, a `Named`, or
        NotImplemented for Python's own way.
    """
    stream = io.BytesIO()
    pickler: Any = _Pickler(stream, describe)
    pickler.dump(obj)
    records: Iterable[tuple[str, bytes]] = [
        ("data.pkl", stream.getvalue()),
        ("byteorder", sys.byteorder.encode()),
        *((f"data/{i}", data) for i, data in enumerate(pickler.records)),
        ("version", b"3\n"),
    ]
    with (
        nullcontext(f) if hasattr(f, "write") else open(f, "wb") as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for name, data in records:
            archive.writestr(f"archive/{name}", data)
