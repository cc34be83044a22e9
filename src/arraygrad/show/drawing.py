"""`draw`: a graph, or a compiled program, as a picture. `show.boxes` has what is drawn.

Graphviz finds the places of the boxes: its program ``dot``, or the package pygraphviz, which has
Graphviz inside.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from typing import Any

import numpy as np

from ..arrays.creation import asarray
from ..arrays.tensor import Tensor
from ..autograd import grad
from ..backends.dtypes import isdtype
from ..compiler.call.compiled import Compiled
from ..core.cpython import user_frame
from ..core.modes import ModeContext
from ..core.nodes import GradientEdge, Node, record
from ..core.saved import NodeHooks
from ..core.structures import NAMESPACE, taken_apart
from ..errors import NoGradientError
from .boxes import Box, boxes_of_graph, boxes_of_program, collapsed, nodes_of
from .page import PAGE
from .tables import line_text, size_text

__all__ = ["Drawing", "draw"]

CURVED = 60  # boxes; beyond, edges are straight: Graphviz needs minutes for hundreds of curved ones


def draw(
    what: Any, *args: Any, values: bool = False, gradients: bool = False, limit: int = 200
) -> Drawing:
    """Draw the graph of tensors, of a function, or the program of a compiled function.

    Parameters
    ----------
    what : Tensor, structure of tensors, or callable
        The results whose graph is drawn; or a function, which is called with `args`.
    *args
        The arguments of the function. Arrays of floating point numbers become tensors that require
        gradients. A compiled function takes NumPy arrays.
    values : bool
        Whether boxes show values: the smallest and the largest element. A graph has the values of
        leaves, and those that derivative rules need.
    gradients : bool
        Whether boxes show gradients of the result, which must be one number.
    limit : int
        The most boxes of the drawing. In a larger graph, a loop becomes the boxes of one turn. If
        this is not enough, stretches of ops in the same function become boxes.

    Returns
    -------
    Drawing
        Jupyter shows it. `Drawing.save` writes a web page, SVG, DOT or Mermaid.

    Examples
    --------
    >>> import numpy as np, arraygrad as ag
    >>> def loss(w, x):
    ...     return (ag.tanh(x @ w) ** 2).sum()
    >>> drawing = ag.draw(loss, np.ones(2), np.ones((3, 2)))
    >>> drawing
    <drawing of 6 ops in 6 boxes: see save("graph.html"), dot() and mermaid()>
    >>> print(ag.draw(ag.sin(ag.tensor(1.0, requires_grad=True))).mermaid())
    flowchart TD
        n0(["leaf<br/>() float64"])
        n1["sin<br/>() float64<br/>keeps 8 bytes"]
        n0 --> n1
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    if isinstance(what, Compiled):
        return Drawing(collapsed(boxes_of_program(what.executable(*args)), limit))
    lines: dict[int, tuple[Any, int]] = {}
    names: dict[Node, str] = {}
    if callable(what):
        what = _called(what, args, lines, names)
    elif args:
        raise TypeError(f"draw: arguments are for a function, not for a {type(what).__name__}")
    outputs = [x for x in taken_apart(what)[0] if isinstance(x, Tensor) and x.requires_grad]
    if not outputs:
        raise NoGradientError(
            "draw: no result requires gradients, so there is no graph: pass tensors that were "
            "computed from tensors with requires_grad=True, or a function and its arguments"
        )
    nodes = nodes_of(x._node for x in outputs)  # type: ignore[misc]
    found: dict[Node, Any] = {}
    if gradients:
        single = [n for n in nodes if not isinstance(n.shape, list)]
        edges = [GradientEdge(n) for n in single]
        found = dict(
            zip(single, grad(outputs, edges, retain_graph=True, allow_unused=True), strict=True)
        )

    def place(node: Node) -> tuple[str, str]:
        if node.number in lines:
            code, at = lines[node.number]
            return line_text(code, at), str(code.co_name)
        trace = node.extras.metadata.get("traceback", "") if node.extras is not None else ""
        last = re.findall(r'File "(.*)", line (\d+), in (.*)\n *(.*)', trace)[-1:]
        for file, number, function, text in last:
            return f"{os.path.basename(file)}:{number}  {text}", function
        return "", ""

    return Drawing(collapsed(boxes_of_graph(nodes, names, place, values, found), limit))


def _called(
    function: Any, args: tuple[Any, ...], lines: dict[int, tuple[Any, int]], names: dict[Node, str]
) -> Any:
    """The results of a function. Notes the lines of its ops, and the names of its arguments."""
    import inspect

    import optree

    def noted(*fields: Any) -> Node:
        node, frame = record(*fields), user_frame(1)
        if frame is not None:
            lines[node.number] = frame.f_code, frame.f_lasti
        return node

    leaves, spec = taken_apart(args)
    paths = optree.tree_paths(args, namespace=NAMESPACE)  # type: ignore[arg-type]
    try:
        parameters = list(inspect.signature(function).bind(*args).arguments)
    except (TypeError, ValueError):  # there is no signature, or the call below says what is wrong
        parameters = []
    given = []
    for leaf, path in zip(leaves, paths, strict=True):
        dtype = getattr(leaf, "dtype", np.float64 if isinstance(leaf, float | complex) else None)
        if dtype is not None and isdtype(dtype, ("real floating", "complex floating")):
            leaf = asarray(leaf.detach() if isinstance(leaf, Tensor) else leaf).requires_grad_()
            first = parameters[path[0]] if path[0] < len(parameters) else f"argument {path[0]}"
            names[leaf._node] = first + "".join(f"[{key!r}]" for key in path[1:])  # type: ignore[index]
        given.append(leaf)
    with ModeContext(saved_hooks=NodeHooks((_same, _same), noted)):
        return function(*spec.unflatten(given))


def _same(value: Any) -> Any:
    return value


class Drawing:
    """A drawing of a graph; `draw` makes it. Jupyter shows it as a picture.

    Attributes
    ----------
    boxes : list of Box
    """

    def __init__(self, boxes: list[Box]) -> None:
        self.boxes = boxes

    def dot(self) -> str:
        """The graph in the language of Graphviz."""
        curved = "" if len(self.boxes) <= CURVED else ", splines=line"
        lines = [
            "digraph {",
            f"  graph [nslimit=1, nslimit1=1, mclimit=0.3, fontname=Helvetica, color=gray{curved}]",
            '  node [shape=box, style="rounded,filled", fillcolor="#eef3fb", fontname=Helvetica]',
        ]
        groups: dict[str, list[str]] = {}
        for i, box in enumerate(self.boxes):
            label = "\\n".join(map(_quoted, _label(box)))
            more = "" if box.inputs else ', fillcolor="#fdf0d5"'
            line = f'n{i} [id=n{i}, label="{label}", tooltip="{_quoted(box.line)}"{more}]'
            groups.setdefault(box.group if box.group.startswith("step ") else "", []).append(line)
        for k, (group, members) in enumerate(groups.items()):
            if group:
                lines += [f'  subgraph cluster{k} {{ label="{group}"', *members, "  }"]
            else:
                lines += [f"  {line}" for line in members]
        for i, box in enumerate(self.boxes):
            for j in box.inputs:
                lines.append(f"  n{j} -> n{i}" + (" [style=dashed, constraint=false]" * (j >= i)))
        return "\n".join([*lines, "}"])

    def mermaid(self) -> str:
        """The graph in the language of Mermaid, which GitHub and Jupyter show in Markdown."""
        lines = ["flowchart TD"]
        for i, box in enumerate(self.boxes):
            parts = [html.escape(part, quote=False) for part in _label(box)]
            label = "<br/>".join(parts).replace('"', "#quot;")
            lines.append(f'    n{i}["{label}"]' if box.inputs else f'    n{i}(["{label}"])')
        for i, box in enumerate(self.boxes):
            lines += [f"    n{j} {'-.->' if j >= i else '-->'} n{i}" for j in box.inputs]
        return "\n".join(lines)

    def svg(self) -> str:
        """The picture. It needs Graphviz."""
        text = _svg(self.dot())
        if text is None:
            raise RuntimeError(
                "a picture needs Graphviz: install pygraphviz, which has Graphviz inside, by "
                "`pip install arraygrad[draw]`, or the program dot. dot() and mermaid() work "
                "without it"
            )
        return text[text.index("<svg") :]

    def html(self) -> str:
        """A web page without links to other files: zoom, move, search, and a click for details."""
        boxes = [_details(box) for box in self.boxes]
        details = json.dumps(boxes).replace("<", "\\u003c")  # it cannot end the script
        parts = {"{details}": details, "{svg}": self.svg()}
        return re.sub("{(details|svg)}", lambda found: parts[found[0]], PAGE)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file: a web page, or a picture, or text, by the end of its name.

        The ends are ``.html``, ``.svg``, ``.dot`` and ``.mmd``.
        """
        makers = {".html": self.html, ".svg": self.svg, ".dot": self.dot, ".mmd": self.mermaid}
        end = os.path.splitext(path)[1]
        if end not in makers:
            raise ValueError(f"the name must end in {', '.join(makers)}, not in {end!r}")
        text = makers[end]()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _repr_svg_(self) -> str | None:
        text = _svg(self.dot())
        return None if text is None else text[text.index("<svg") :]

    def _repr_markdown_(self) -> str | None:
        return f"```mermaid\n{self.mermaid()}\n```" if _svg("digraph {}") is None else None

    def __repr__(self) -> str:
        ops = sum(box.count for box in self.boxes)
        return (
            f'<drawing of {ops} ops in {len(self.boxes)} boxes: see save("graph.html"), dot() and '
            "mermaid()>"
        )


def _details(box: Box) -> dict[str, Any]:
    """What a page shows for a box."""
    texts = {name: getattr(box, name) for name in ("title", "shape", "dtype")}
    texts |= {"size": size_text(box.nbytes), "keeps": size_text(box.saved)}
    texts |= {name: getattr(box, name) for name in ("value", "gradient", "line", "group")}
    texts["ops"] = ", ".join(f"{name} ×{count}" for name, count in box.ops.most_common())
    return {name: text for name, text in texts.items() if text}


def _label(box: Box) -> list[str]:
    """The lines of text in a box."""
    times = f" ×{box.count}" if box.count > 1 and "×" not in box.title else ""
    lines = [box.title + times, f"{box.shape} {box.dtype}".strip()]
    if box.nbytes >= 1000:
        lines.append(size_text(box.nbytes))
    if box.saved:
        lines.append(f"keeps {size_text(box.saved)}")
    if box.value:
        lines.append(box.value)
    if box.gradient:
        lines.append(f"gradient {box.gradient}")
    return [line for line in lines if line]


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _svg(dot: str) -> str | None:
    """What Graphviz makes of a text; None if Graphviz is not installed."""
    program = shutil.which("dot")
    if program is not None:
        command = [program, "-Tsvg"]
        return subprocess.run(command, input=dot, capture_output=True, check=True, text=True).stdout
    try:
        import pygraphviz
    except ImportError:
        return None
    return pygraphviz.AGraph(dot).draw(format="svg", prog="dot").decode()  # type: ignore[no-any-return]
