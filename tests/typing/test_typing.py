"""Type checkers see the types of a user's program, and its mistakes."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import arraygrad as ag

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FILES = ["README.py", "mistakes.py", "program.py", "typing_page.py"]
# As for any user, and where arraygrad is found.
SETTINGS = {"typeCheckingMode": "strict", "extraPaths": [str(Path(ag.__file__).parents[1])]}

Errors = dict[str, dict[int, str]]  # messages by file, then by line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What is checked: the files here, and the first examples of two pages."""
    for name in ("mistakes.py", "program.py"):
        shutil.copy(HERE / name, tmp_path)
    for page, name in (("README.md", "README.py"), ("docs/typing.md", "typing_page.py")):
        text = (ROOT / page).read_text(encoding="utf-8")
        example = re.search(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        assert example is not None
        (tmp_path / name).write_text(example[1], encoding="utf-8")
    return tmp_path


def run(checker: str, *options: str) -> str:
    """What a checker prints, unless it failed in another way than by finding mistakes."""
    pytest.importorskip(checker)  # which the `dev` extra has, and not the `test` extra
    command = [sys.executable, "-m", checker, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def by_mypy(folder: Path) -> Errors:
    found: Errors = {name: {} for name in FILES}
    output = run("mypy", "--strict", "--output=json", *(str(folder / name) for name in FILES))
    for message in map(json.loads, output.splitlines()):
        name = Path(message["file"]).name
        if message["severity"] == "error" and name in found:  # those of a package no user sees
            found[name][message["line"]] = message["message"]
    return found


def by_pyright(folder: Path) -> Errors:
    found: Errors = {name: {} for name in FILES}
    for message in pyright_report(folder, len(FILES)):
        line = message["range"]["start"]["line"] + 1
        found[Path(message["file"]).name][line] = message["message"]
    return found


def pyright_report(folder: Path, files: int) -> list[dict[str, Any]]:
    (folder / "pyrightconfig.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    options = ("--outputjson", "--pythonpath", sys.executable, "--project", str(folder))
    report = json.loads(run("pyright", *options))
    assert report["summary"]["filesAnalyzed"] == files
    diagnostics: list[dict[str, Any]] = report["generalDiagnostics"]
    return diagnostics


@pytest.mark.parametrize("find", [by_mypy, by_pyright])
def test_a_checker_sees_types_and_mistakes(find: Callable[[Path], Errors], folder: Path) -> None:
    # In one test, because a run over all files takes no longer than one over a single file.
    errors = find(folder)
    assert errors["README.py"] == errors["program.py"] == errors["typing_page.py"] == {}
    lines = (HERE / "mistakes.py").read_text(encoding="utf-8").splitlines()
    marked = [number for number, line in enumerate(lines, 1) if "# mistake" in line]
    assert sorted(errors["mistakes.py"]) == marked, errors["mistakes.py"]


def test_the_program_runs() -> None:
    runpy.run_path(str(HERE / "program.py"))


# What cannot be said: it depends on values, or is a type of a library that need not be installed.
UNTYPED = {
    "autograd.forward_ad.make_dual",
    "func.eval_shape",
    "func.map",
    "func.sparsity",
    "gradient",
    "load",
    "optim.apply",
    "optim.average",
    "optim.ema",
    "optim.norm",
    "random.bernoulli",
    "random.beta",
    "random.categorical",
    "random.cauchy",
    "random.dirichlet",
    "random.exponential",
    "random.fold_in",
    "random.gamma",
    "random.gumbel",
    "random.integers",
    "random.key",
    "random.laplace",
    "random.logistic",
    "random.multivariate_normal",
    "random.normal",
    "random.permutation",
    "random.poisson",
    "random.split",
    "random.uniform",
    "result_type",
    "tree.map",
}


def test_every_public_name_has_a_type(tmp_path: Path) -> None:
    names = sorted(public_names(ag))
    program = ["import arraygrad as ag", *(f"reveal_type(ag.{name})" for name in names)]
    (tmp_path / "names.py").write_text("\n".join(program), encoding="utf-8")
    vague = set()
    for message in pyright_report(tmp_path, 1):
        # A generic class by itself has no type arguments yet.
        if re.search(r'(is "|-> )Any"$|is "(?!type\[).*Unknown', message["message"]):
            vague.add(names[message["range"]["start"]["line"] - 1])
    assert vague == UNTYPED


def public_names(module: ModuleType) -> Iterator[str]:
    """The public names of a module and of the modules in it, as one would write them."""
    for name in module.__all__:
        # SciPy's functions have no types, and neither do those of others that are adapted.
        if name in ("compat", "scipy"):
            continue
        value = getattr(module, name)
        if isinstance(value, ModuleType):
            yield from (f"{name}.{inner}" for inner in public_names(value))
        elif not name.startswith("__"):
            yield name
