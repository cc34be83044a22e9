"""Machine code on disk: a second process starts without compiling.

Each file holds the code of one module. Its name is a digest of all that the code depends on. The
code is run, so it is read only from a folder and from files that belong to the user, and that
nobody else can write to.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path

from ...core.locks import once

_FORMAT = b"arraygrad machine code 1\n"
_CHECKED = len(_FORMAT) + 32  # bytes before the code: the format, and the digest of the code
LIMIT = 256 << 20  # bytes of all files together
_BETWEEN = 256  # how many files are written before the sizes are looked at again
_DAY = 86_400  # seconds


def digest(*parts: str) -> str:
    """A name for what some texts say, in which no two lists of texts are the same."""
    found = hashlib.sha256()
    for part in parts:
        found.update(f"{len(part)}:".encode())
        found.update(part.encode())
    return found.hexdigest()


class CodeStore:
    """A folder with machine code.

    Parameters
    ----------
    folder : Path or None
        Made if it is not there. None for a store that keeps nothing.
    limit : int
        The number of bytes that the files may have together. The files that were not used for the
        longest time go first.
    """

    def __init__(self, folder: Path | None, limit: int = LIMIT) -> None:
        self._folder, self._limit = folder, limit
        self._written = 0
        if folder is None:
            return
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_private(folder.stat())
        except OSError as error:
            self._give_up(error)

    def read(self, name: str) -> bytes | None:
        """The code with a name; None if there is none, or the file is broken."""
        if self._folder is None:
            return None
        path = self._folder / name
        try:
            with path.open("rb") as file:
                found = os.fstat(file.fileno())
                _check_private(found)
                data = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._give_up(error)
            return None
        code = data[_CHECKED:]
        if data[:_CHECKED] != _FORMAT + hashlib.sha256(code).digest():
            return None  # it will be written again
        if time.time() - found.st_mtime > _DAY:  # it was used
            with suppress(OSError):
                os.utime(path)
        return code

    def write(self, name: str, code: bytes) -> None:
        """Keep code. Other processes see the whole file, or none."""
        if self._folder is None:
            return
        try:
            if self._written % _BETWEEN == 0:
                self._make_room()
            self._written += 1
            handle, temporary = tempfile.mkstemp(dir=self._folder)  # for nobody else to read
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_FORMAT + hashlib.sha256(code).digest() + code)
                os.replace(temporary, self._folder / name)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError as error:
            self._give_up(error)

    def _make_room(self) -> None:
        """Remove the oldest files, if all of them are too large together."""
        assert self._folder is not None
        files = []
        for entry in os.scandir(self._folder):
            with suppress(OSError):  # another process has removed it
                files.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
        total = sum(size for _, size, _ in files)
        if total <= self._limit:
            return
        for _, size, path in sorted(files):
            with suppress(OSError):
                os.unlink(path)
            total -= size
            if total <= 3 * self._limit // 4:
                return

    def _give_up(self, error: OSError) -> None:
        folder, self._folder = self._folder, None
        warnings.warn(
            f"compiled code is not kept in {folder}: {error}. Each process compiles anew. Set the "
            "environment variable ARRAYGRAD_CACHE to another folder, or to 0 to keep nothing",
            stacklevel=2,
        )


def _check_private(found: os.stat_result) -> None:
    """Raise if others than the user can write to a file or folder."""
    if not hasattr(os, "getuid"):  # Windows, where profiles are private
        return
    if found.st_uid != os.getuid():
        raise PermissionError("it belongs to another user, who could put code there")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError("other users can write to it, and could put code there")


@once
def store() -> CodeStore:
    """The store of this process: in the folder that ``ARRAYGRAD_CACHE`` names, or the user's."""
    named = os.environ.get("ARRAYGRAD_CACHE")
    if named == "0":
        return CodeStore(None)
    return CodeStore(Path(named).absolute() if named else _users_folder())


def _users_folder() -> Path | None:
    """Where programs of this user keep what can be made again; None if there is no such place."""
    if sys.platform == "win32":
        start = os.environ.get("LOCALAPPDATA")
        return Path(start) / "arraygrad" / "cache" if start else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "arraygrad"
    start = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(start) if os.path.isabs(start) else home / ".cache") / "arraygrad"
