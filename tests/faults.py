"""Plant faults, one at a time, and say which of them no test notices.

::

    python tests/faults.py                    # the quick run of the tests: their first rows
    python tests/faults.py --rows all
    python tests/faults.py --only vmap        # the faults with this word in their name or file
    python tests/faults.py --sound            # the same tests without faults: all must pass

The script works on a copy of the repository. For each fault of `faults_table.py` it replaces a text
in a file, runs the tests that concern this file, and puts the text back. The exit status is 1 if a
fault was not noticed, or could not be planted because its text has changed.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from faults_table import FAULTS, Fault

ROOT = Path(__file__).parents[1]
LIMIT = 300  # seconds for the tests of one fault; none of them needs a tenth of it


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", choices=["first", "all"], default="first")
    parser.add_argument("--only", default="", metavar="WORD", help="faults with this word in them")
    parser.add_argument("--list", action="store_true", help="only name the faults")
    parser.add_argument("--sound", action="store_true", help="plant nothing: all tests must pass")
    options = parser.parse_args()
    chosen = [fault for fault in FAULTS if options.only in f"{fault.file}: {fault.name}"]
    if options.list:
        print("\n".join(f"{fault.file}: {fault.name}" for fault in chosen))
        return 0
    if options.sound:  # each command once
        chosen = list({fault.tests: fault for fault in chosen}.values())
    expected = "unnoticed" if options.sound else "noticed"
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repository"
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        for number, fault in enumerate(chosen, 1):
            start = time.monotonic()
            outcome, why = outcome_of(root, fault, options.rows, plants=not options.sound)
            outcomes.append(outcome)
            seconds = f"{time.monotonic() - start:.0f} s"
            mark = "" if outcome == expected else "  <--"
            print(f"{number}/{len(chosen)} {outcome}, {seconds}: {fault.file}: {fault.name}{mark}")
            if outcome != expected and why:
                print("    " + why.replace("\n", "\n    "))
            sys.stdout.flush()
    print(", ".join(f"{count} {outcome}" for outcome, count in Counter(outcomes).items()))
    return 0 if set(outcomes) <= {expected} else 1


def outcome_of(root: Path, fault: Fault, rows: str, plants: bool) -> tuple[str, str]:
    """Whether the tests notice a fault, and why if it is not clear."""
    path = root / "src" / "arraygrad" / fault.file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    count = text.count(fault.text)
    if count != 1:
        return "error", f"its text occurs {count} times: {fault.text!r}"
    tests = ["-x", "-q", "-p", "no:cacheprovider", "--rows", rows, *shlex.split(fault.tests)]
    command = [sys.executable, "-m", "pytest", *tests]
    try:
        if plants:
            write(path, text.replace(fault.text, fault.instead))
        done = subprocess.run(
            command, cwd=root, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return "error", f"the tests take more than {LIMIT} s: {shlex.join(tests)}"
    finally:
        write(path, text)
    if re.search(r"^\d+ failed.* in ", done.stdout, re.MULTILINE):
        outcome = "noticed"
    else:  # a file that cannot be imported says nothing about the tests
        outcome = "error" if done.returncode else "unnoticed"
    said = done.stdout if outcome == "error" or not plants else f"pytest {shlex.join(tests)}"
    return outcome, said[-2000:].rstrip()


def write(path: Path, text: str) -> None:
    """Write a file of Python, so that Python compiles it again even within the same second."""
    path.write_text(text, encoding="utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
