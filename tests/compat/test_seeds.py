"""The examples and signatures in the documents of the four systems, against our modules."""

from __future__ import annotations

import doctest
import inspect
import re
from typing import Any

import numpy as np
import pytest
import seed_documents as seeds

from arraygrad.compat import lucid, rtorch, sorix, torch


def parameters(function: Any) -> list[tuple[str, object]]:
    return [
        (p.name, ... if p.default is p.empty else p.default)
        for p in inspect.signature(function).parameters.values()
    ]


class IgnoreSpaces(doctest.OutputChecker):
    """Compares without spaces and the name of Lucid's default dtype.

    The documents have spaces where no NumPy prints any, and no dtype, which NumPy always prints.
    """

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        got = got.replace(", dtype=float32", "")
        return "".join(want.split()) == "".join(got.split())


@pytest.mark.parametrize("document", [seeds.LUCID, seeds.LUCID_RENDERED])
def test_lucid_examples_run_as_they_are(document: str) -> None:
    examples = seeds.examples(seeds.read(document))
    imports = [e for e in examples if e.source == "import lucid\n"]
    assert len(examples) == 12
    assert len(imports) == 1
    imports[0].source = "import arraygrad.compat.lucid as lucid\n"
    runner = doctest.DocTestRunner(IgnoreSpaces())
    report: list[str] = []
    test = doctest.DocTest(examples, {}, document, document, 0, None)
    outcome = runner.run(test, out=report.append)
    assert outcome.attempted == 12
    assert outcome.failed == 0, "".join(report)


def test_r_example_runs_when_spelled_in_python() -> None:
    text = seeds.read(seeds.RTORCH)
    source = seeds.r_example_as_python(text)
    assert "autograd_grad(loss, [w, b])" in source
    names: dict[str, Any] = {}
    exec("from arraygrad.compat.rtorch import *", names)
    exec(source, names)
    w, b, x, y, o = (names[n] for n in ("w", "b", "x", "y", "o"))
    printed = re.findall(r"#> \[ CPUFloatType\{(\d+)\} \]", text)
    assert isinstance(o, list)
    assert [g.shape for g in o] == [(int(n),) for n in printed]
    assert {g.dtype for g in o} == {np.dtype(np.float32)}
    w, b, x, y = (t.detach().numpy().astype(np.float64) for t in (w, b, x, y))
    assert x.shape == (100,)
    error = w * x + b - y
    np.testing.assert_allclose(o[0].numpy(), [np.mean(2 * error * x)], rtol=1e-5)
    np.testing.assert_allclose(o[1].numpy(), [np.mean(2 * error)], rtol=1e-5)


def test_lucid_signature() -> None:
    documented = seeds.python_signature(seeds.read(seeds.LUCID))
    assert parameters(lucid.autograd.grad)[: len(documented)] == documented


def test_sorix_signature() -> None:
    assert parameters(sorix.grad) == seeds.python_signature(seeds.read(seeds.SORIX))


def test_torch_signature() -> None:
    assert parameters(torch.autograd.grad) == seeds.rendered_signature(seeds.read(seeds.TORCH))


def test_r_signature() -> None:
    documented = seeds.r_signature(seeds.read(seeds.RTORCH))
    # A default in Python cannot be another parameter: None stands for it.
    assert ("retain_graph", "create_graph") in documented
    expected = [(n, None if n == "retain_graph" else d) for n, d in documented]
    assert parameters(rtorch.autograd_grad) == expected
