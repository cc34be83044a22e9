"""Machine code on disk: who may put it there, broken files, and how much of it is kept."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.compiler.llvm import native, stored
from arraygrad.compiler.llvm.stored import CodeStore, digest

X = np.array([1.0, 2.0])


def fresh(monkeypatch: Any, store: CodeStore) -> list[str]:
    """Let compiled functions use a store. Returns the texts that LLVM compiles from now on."""
    made: list[str] = []
    optimized = native._optimized

    def counted(text: str, machine: Any) -> Any:
        made.append(text)
        return optimized(text, machine)

    monkeypatch.setattr(native, "store", lambda: store)
    monkeypatch.setattr(native, "_optimized", counted)
    monkeypatch.setattr(native, "_known", {})
    return made


def run() -> Any:
    f = ag.compile(lambda x: ag.sin(x) * 2 + ag.func.fori_loop(0, 3, lambda i, s: s * x, x))
    return [f(X) for _ in range(3)][-1]


@pytest.fixture(scope="module", autouse=True)
def made_once() -> None:
    """What is made once in a process is there."""
    run()


EXPECTED = np.sin(X) * 2 + X**4


def test_code_is_compiled_once(tmp_path: Path, monkeypatch: Any) -> None:
    made = fresh(monkeypatch, CodeStore(tmp_path / "new" / "folder"))
    np.testing.assert_allclose(run(), EXPECTED)
    assert made
    count = len(made)
    monkeypatch.setattr(native, "_known", {})
    np.testing.assert_allclose(run(), EXPECTED)
    assert len(made) == count


def test_other_process(tmp_path: Path) -> None:
    script = (
        "import numpy as np, arraygrad as ag\n"
        "from arraygrad.compiler.llvm import native\n"
        "made, before = [], native._optimized\n"
        "native._optimized = lambda text, machine: made.append(text) or before(text, machine)\n"
        "f = ag.compile(ag.func.grad(lambda x: ag.sum(ag.sin(x) * x)))\n"
        "x = np.ones(7)\n"
        "f(x), f(x)\n"
        "print(len(made), np.allclose(f(x), np.cos(1) + np.sin(1)))\n"
    )
    environment = {**os.environ, "ARRAYGRAD_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", script]
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
    for process in both:  # at once, both are right
        assert process.communicate()[0].split()[1] == b"True"
    found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    assert found.stdout.split() == [b"0", b"True"]


@pytest.mark.parametrize("damage", [b"", b"something else", None])
def test_broken_files_are_made_anew(tmp_path: Path, monkeypatch: Any, damage: bytes | None) -> None:
    made = fresh(monkeypatch, CodeStore(tmp_path))
    run()
    count = len(made)
    for path in tmp_path.iterdir():
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]) if damage is None else damage)
    monkeypatch.setattr(native, "_known", {})
    np.testing.assert_allclose(run(), EXPECTED)
    assert len(made) == 2 * count
    monkeypatch.setattr(native, "_known", {})
    np.testing.assert_allclose(run(), EXPECTED)
    assert len(made) == 2 * count


def warned(monkeypatch: Any, folder: Path) -> str:
    """The one warning that a folder gives that cannot be used. The results are right."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = fresh(monkeypatch, CodeStore(folder))
        np.testing.assert_allclose(run(), EXPECTED)
        monkeypatch.setattr(native, "_known", {})
        np.testing.assert_allclose(run(), EXPECTED)
    assert made
    (warning,) = found
    assert "ARRAYGRAD_CACHE" in str(warning.message)
    return str(warning.message)


def test_a_file_in_the_place_of_the_folder(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "file").write_text("")
    assert "File exists" in warned(monkeypatch, tmp_path / "file")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no such users")
def test_folder_that_others_can_write_to(tmp_path: Path, monkeypatch: Any) -> None:
    tmp_path.chmod(0o777)
    assert "other users can write to it" in warned(monkeypatch, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no such users")
def test_file_that_others_can_write_to(tmp_path: Path, monkeypatch: Any) -> None:
    fresh(monkeypatch, CodeStore(tmp_path))
    run()
    for path in tmp_path.iterdir():
        path.chmod(0o666)
    assert "other users can write to it" in warned(monkeypatch, tmp_path)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no such users")
def test_folder_of_another_user(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(stored.os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    assert "belongs to another user" in warned(monkeypatch, tmp_path)


def test_full_disk(tmp_path: Path, monkeypatch: Any) -> None:
    def replace(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(stored.os, "replace", replace)
    assert "No space left" in warned(monkeypatch, tmp_path)
    assert not list(tmp_path.iterdir())


def test_folder_that_is_named_from_the_working_folder(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ARRAYGRAD_CACHE", "code")
    monkeypatch.chdir(tmp_path)
    store = stored.store.__wrapped__()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # as many programs do
    store.write("name", b"code")
    assert store.read("name") == b"code"
    assert [path.name for path in (tmp_path / "code").iterdir()] == ["name"]


def test_the_oldest_files_go(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(stored, "_BETWEEN", 1)
    store = CodeStore(tmp_path, limit=4000)
    for i in range(10):
        store.write(str(i), bytes(900))
        if i < 9:
            os.utime(tmp_path / str(i), (i, i))
    left = {path.name for path in tmp_path.iterdir()}
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 5000
    assert "9" in left
    assert "0" not in left
    assert store.read("9") == bytes(900)
    assert store.read("0") is None


def test_names_tell_texts_apart() -> None:
    names = [digest("a", "bc"), digest("ab", "c"), digest("abc"), digest("a", "bc", "")]
    assert len(set(names)) == 4


def test_nothing_is_kept(monkeypatch: Any) -> None:
    made = fresh(monkeypatch, CodeStore(None))
    run()
    count = len(made)
    monkeypatch.setattr(native, "_known", {})
    np.testing.assert_allclose(run(), EXPECTED)
    assert len(made) == 2 * count
