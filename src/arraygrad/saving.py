"""Structures of arrays in files, which run no code when they are read: `save` and `load`.

The arrays are in a file of safetensors or of NumPy (npz), under the path to them. Beside them is
the structure as JSON, so that dictionaries, lists, tuples, numbers and text come back as they were.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .arrays.tensor import Tensor
from .backends import backend_of
from .core.array import Array

__all__ = ["load", "save"]

_STRUCTURE = "arraygrad.structure"
_RESERVED = (_STRUCTURE, "__metadata__")  # the second by safetensors


def save(structure: Any, file: str | os.PathLike[str]) -> None:
    """Write a structure of arrays to a file.

    Parameters
    ----------
    structure : any structure
        Arrays, tensors, numbers, text and None in dictionaries with text as keys, lists and tuples.
        Arrays of other libraries are read as NumPy's.
    file : path
        The name ends in ``.npz``, or in ``.safetensors``, which needs the package safetensors.

    Returns
    -------
    None

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import arraygrad as ag
    >>> path = os.path.join(tempfile.mkdtemp(), "weights.npz")
    >>> ag.save({"layers": [np.ones(2), np.zeros(3)], "step": 7}, path)
    >>> ag.load(path)
    {'layers': [array([1., 1.]), array([0., 0., 0.])], 'step': 7}
    """
    write, _ = _format(file)
    arrays: dict[str, Any] = {}
    text = json.dumps(_described(structure, "", arrays))
    path = Path(file)
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:  # a file that cannot be written to the end leaves the one before as it was
        write(partial, arrays, text)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def load(file: str | os.PathLike[str]) -> Any:
    """Read what `save` wrote. A file that another program wrote is a dictionary of arrays.

    Parameters
    ----------
    file : path
        A file of NumPy, ``.npz``, or of ``.safetensors``.

    Returns
    -------
    structure
        Of the same types as the one that was saved; tensors require gradients if they did.

    Raises
    ------
    ValueError
        If the file is damaged, cut off or forged.

    Examples
    --------
    >>> import os, tempfile
    >>> import arraygrad as ag
    >>> path = os.path.join(tempfile.mkdtemp(), "weights.npz")
    >>> ag.save({"w": ag.ones(2)}, path)
    >>> ag.load(path)
    {'w': tensor([1., 1.])}
    """
    _, read = _format(file)
    try:
        arrays, text = read(Path(file))
        return dict(arrays) if text is None else _rebuilt(json.loads(text), arrays)
    except (FileNotFoundError, IsADirectoryError, PermissionError, ImportError):
        raise
    except Exception as error:  # the libraries raise errors of many types
        raise ValueError(f"load(): {file} is damaged, cut off or forged: {error}") from error


# --- the structure ---


def _described(value: Any, path: str, arrays: dict[str, Any]) -> Any:
    """The structure as JSON. The arrays in it are added to `arrays`."""
    kind, place = type(value), path or "its top"
    if value is None or kind in (bool, int, float, str):
        return {"value": value}
    if kind is complex:
        return {"complex": [value.real, value.imag]}
    if kind is dict and all(type(key) is str for key in value):
        inside = [[k, _described(v, f"{path}.{k}".strip("."), arrays)] for k, v in value.items()]
        return {"dict": inside}
    if kind in (list, tuple):
        parts = enumerate(value)
        return {kind.__name__: [_described(v, f"{path}.{i}".strip("."), arrays) for i, v in parts]}
    if not hasattr(value, "dtype"):
        raise TypeError(
            f"save(): structure has a {kind.__name__} at {place}: only arrays, "
            "numbers, text and None can be saved, in dictionaries with text as keys, lists, tuples"
        )
    if isinstance(value, Array) and not isinstance(value, Tensor):
        raise TypeError(f"save(): the array at {place} belongs to a transform: return it first")
    plain = value.detach().array if isinstance(value, Tensor) else value
    array = np.asarray(backend_of(plain).to_numpy(plain))
    made: dict[str, Any] = {"shape": list(array.shape), "dtype": array.dtype.name}
    if array.dtype.kind not in "biufcV" or (array.dtype.kind == "V" and array.dtype.fields):
        raise TypeError(f"save(): the array at {place} has dtype {array.dtype}, which is no number")
    name = path or "array"
    if name in _RESERVED or not name.isprintable() or len(name) > 10_000:
        name = f"array {len(arrays)}"
    while name in arrays:  # of the paths a.b, two may be the same
        name += "'"
    arrays[name] = np.ascontiguousarray(array).reshape(array.shape)
    if isinstance(value, Tensor):
        made["tensor"] = value.requires_grad
    if isinstance(value, np.generic):
        made["number"] = True
    return {"array": name, **made}


def _rebuilt(told: dict[str, Any], arrays: dict[str, Any]) -> Any:
    if "value" in told:
        return told["value"]
    if "complex" in told:
        return complex(*told["complex"])
    if "dict" in told:
        return {key: _rebuilt(value, arrays) for key, value in told["dict"]}
    for kind in (list, tuple):
        if kind.__name__ in told:
            return kind(_rebuilt(value, arrays) for value in told[kind.__name__])
    array = _typed(arrays[told["array"]], told["dtype"])
    if list(array.shape) != told["shape"]:
        raise ValueError(f"{told['array']} has shape {array.shape}, not {told['shape']}")
    if "tensor" not in told:
        return array[()] if "number" in told else array
    made = Tensor(array)
    return made.requires_grad_() if told["tensor"] else made


def _typed(array: Any, name: str) -> Any:
    """An array in its own dtype, of which the file may have had only the bytes."""
    if array.dtype.name == name:
        return array
    if name.startswith("complex"):
        return np.ascontiguousarray(array).view(name)[..., 0]
    try:
        import ml_dtypes
    except ImportError:
        raise ValueError(f"dtype {name} needs the package ml_dtypes") from None
    return array.view(np.dtype(getattr(ml_dtypes, name)))


# --- the formats ---


def _write_npz(path: Path, arrays: dict[str, Any], text: str) -> None:
    import zipfile

    told = np.frombuffer(text.encode(), np.uint8)
    with zipfile.ZipFile(path, "w") as archive:  # np.savez refuses some names
        for name, array in {**arrays, _STRUCTURE: told}.items():
            held = array.view(f"u{array.itemsize}") if array.dtype.kind == "V" else array
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, held, allow_pickle=False)


def _read_npz(path: Path) -> tuple[dict[str, Any], str | None]:
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
        arrays = {name.removesuffix(".npy"): file[name] for name in file.zip.namelist()}
    text = arrays.pop(_STRUCTURE, None)
    return arrays, None if text is None else bytes(text).decode()


def _write_safetensors(path: Path, arrays: dict[str, Any], text: str) -> None:
    numpy = _safetensors()[0]
    held = {}
    for name, a in arrays.items():  # the format has no complex numbers in all of its versions
        held[name] = a[..., None].view(a.real.dtype) if a.dtype.kind == "c" else a
    numpy.save_file(held, path, {_STRUCTURE: text})


def _read_safetensors(path: Path) -> tuple[dict[str, Any], str | None]:
    safe_open = _safetensors()[1]
    with safe_open(path, framework="np") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, (  # noqa: SIM118
            file.metadata() or {}
        ).get(_STRUCTURE)


def _safetensors() -> tuple[Any, Any]:
    try:
        import safetensors.numpy
    except ImportError:
        raise ImportError(
            "files of safetensors need a package: pip install 'arraygrad[safetensors]'; or use a "
            "name that ends in .npz"
        ) from None
    return safetensors.numpy, safetensors.safe_open


_FORMATS: dict[str, tuple[Callable[..., None], Callable[..., Any]]] = {
    ".npz": (_write_npz, _read_npz),
    ".safetensors": (_write_safetensors, _read_safetensors),
}


def _format(file: str | os.PathLike[str]) -> Any:
    if not isinstance(file, str | os.PathLike):
        kind = type(file).__name__
        raise TypeError(f"file must be a path, not {kind}: save(structure, file), load(file)")
    found = _FORMATS.get(Path(file).suffix)
    if found is None:
        raise ValueError(f"file must have a name that ends in .npz or .safetensors, not {file}")
    return found
