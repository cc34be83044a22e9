from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraygrad as ag
from arraygrad.core.cpython import PORTABLE
from arraygrad.show import drawing as module


def loss(params: Any, x: Any) -> Any:
    h = ag.tanh(x @ params["w"])
    return (h**2).sum()


ARGS = ({"w": np.full((2, 3), 0.5)}, np.ones((4, 2)))


def titles(drawing: Any) -> list[str]:
    return [box.title for box in drawing.boxes]


def test_graph_of_a_function() -> None:
    drawing = ag.draw(loss, *ARGS, values=True, gradients=True)
    assert titles(drawing) == ["params['w']", "x", "matmul", "tanh", "pow", "sum"]
    assert [box.inputs for box in drawing.boxes] == [[], [], [1, 0], [2], [3], [4]]
    w, _, product, h, _, total = drawing.boxes
    assert (w.shape, w.dtype, w.nbytes, w.value) == ("(2, 3)", "float64", 48, "0.5")
    assert (h.value, total.gradient) == ("0.7616", "1")
    assert product.saved == ARGS[0]["w"].nbytes + ARGS[1].nbytes
    if not PORTABLE:
        assert h.line.endswith('h = ag.tanh(x @ params["w"])')
        assert h.group == "loss"


def test_arrays_of_other_libraries() -> None:
    strict = pytest.importorskip("array_api_strict")
    drawing = ag.draw(ag.sin, strict.ones(3), values=True)
    assert [(box.title, box.value) for box in drawing.boxes] == [("x", "1"), ("sin", "")]


def test_graph_of_tensors() -> None:
    x = ag.tensor([[2.0, 1.0], [1.0, 3.0]], requires_grad=True)
    q, r = ag.linalg.qr(x)
    drawing = ag.draw({"sum": q.sum(), "r": r})
    assert titles(drawing) == ["leaf", "qr", "sum"]
    assert [box.inputs for box in drawing.boxes] == [[], [0], [1]]
    with ag.autograd.detect_anomaly():
        y = ag.sin(x)
    assert ag.draw(y).boxes[1].line.endswith("y = ag.sin(x)")


def test_text() -> None:
    drawing = ag.draw(lambda x: x * x, 3.0)
    assert drawing.mermaid().splitlines() == [
        "flowchart TD",
        '    n0(["x<br/>() float64"])',
        '    n1["multiply<br/>() float64<br/>keeps 16 bytes"]',
        "    n0 --> n1",
    ]
    assert "  n0 -> n1" in drawing.dot().splitlines()
    odd = ag.draw(loss, {"w": ARGS[0]["w"], 'a"\\<b>': 1.0}, ARGS[1])
    assert len(odd.boxes) == 6


def test_compiled_program() -> None:
    @ag.compile
    def ordered(x: Any) -> Any:
        return ag.sort(ag.tanh(x) / ag.sum(x))

    drawing = ag.draw(ordered, np.ones(5))
    groups = {box.title: box.group for box in drawing.boxes}
    assert groups["input 0"] == ""
    assert groups["tanh"].endswith("native")
    assert groups["argsort"].endswith("NumPy")
    assert 'label="step 0, native"' in drawing.dot()
    loop = ag.compile(lambda x: ag.func.fori_loop(0, 5, lambda i, c: ag.sin(c), x))
    groups = {box.title: box.group for box in ag.draw(loop, np.ones(4)).boxes}
    assert groups["scan"] == "step 0, a loop"
    with pytest.raises(TypeError, match="NumPy arrays"):
        ag.draw(ordered, ag.tensor([1.0]))


def nested(x: Any) -> Any:
    for _ in range(10):
        for _ in range(20):
            x = ag.sin(x) * 0.5
        x = x + 1
    return x.sum()


def test_loops_are_rolled_up() -> None:
    assert len(ag.draw(nested, 1.0, limit=1000).boxes) == 10 * 41 + 2
    assert len(ag.draw(nested, 1.0).boxes) == 41 + 2  # one turn of the outer loop
    drawing = ag.draw(nested, 1.0, limit=20)
    assert {(b.title, b.count) for b in drawing.boxes} >= {("sin", 200), ("multiply", 200)}
    assert sum(box.count for box in drawing.boxes) == 10 * 41 + 2
    around = [(j, i) for i, box in enumerate(drawing.boxes) for j in box.inputs if j >= i]
    assert around
    assert "-.->" in drawing.mermaid()
    assert "constraint=false" in drawing.dot()


def test_a_large_graph_without_loops_becomes_few_boxes() -> None:
    functions = [ag.sin, ag.cos, ag.tanh, ag.atan, ag.asinh]

    def irregular(x: Any) -> Any:
        for i in np.random.default_rng(0).integers(0, 5, 3000):
            x = functions[i](x)
        return x

    drawing = ag.draw(irregular, 0.1, limit=50)
    assert 25 <= len(drawing.boxes) <= 50
    assert sum(box.count for box in drawing.boxes) == 3001
    assert all(max(box.inputs, default=-1) < i for i, box in enumerate(drawing.boxes))


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = ag.draw(loss, *ARGS, limit=4)
    drawing.save(tmp_path / "a.dot")
    drawing.save(tmp_path / "a.mmd")
    assert (tmp_path / "a.dot").read_text(encoding="utf-8") == drawing.dot()
    with pytest.raises(ValueError, match=r"\.html, \.svg, \.dot, \.mmd"):
        drawing.save(tmp_path / "a.png")
    monkeypatch.setattr(module, "_svg", lambda dot: None)  # as without Graphviz
    with pytest.raises(RuntimeError, match=r"arraygrad\[draw\]"):
        drawing.save(tmp_path / "a.svg")
    assert not (tmp_path / "a.svg").exists()
    assert drawing._repr_svg_() is None
    assert "```mermaid" in drawing._repr_markdown_()  # type: ignore[operator]


def test_picture_and_page(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz")
    drawing = ag.draw(loss, *ARGS)
    assert drawing._repr_svg_() == drawing.svg()
    assert drawing._repr_markdown_() is None
    drawing.save(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert [f'id="n{i}"' in page for i in range(6)] == [True] * 6
    assert '"title": "tanh"' in page
    links = set(re.findall(r'(?:src|href)="?([^" >]+)', page))
    assert not {link for link in links if not link.startswith("#")}  # it needs no other file


BAD = {
    "without a graph": (lambda: ag.draw(ag.tensor(1.0)), "there is no graph"),
    "constant function": (lambda: ag.draw(lambda x: 1.0, 2.0), "there is no graph"),
    "arguments for a tensor": (lambda: ag.draw(ag.tensor(1.0), 2.0), "not for a Tensor"),
    "no box": (lambda: ag.draw(ag.sin, 1.0, limit=0), "at least 1"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    call, message = BAD[name]
    with pytest.raises((TypeError, ValueError, RuntimeError), match=message):
        call()
