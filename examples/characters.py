"""A small transformer that learns to write, letter by letter, from the help texts of Python.

    python examples/characters.py             # about a minute on two cores
    python examples/characters.py letters.png # and draw how the loss falls

The parameters are arrays in a dict, and the network is a function of them. Its gradient is compiled
where llvmlite is installed. Needs `pip install arraygrad`, and matplotlib for the picture.
"""

from __future__ import annotations

import importlib.util
import pydoc_data.topics
import sys
from typing import Any

import numpy as np

import arraygrad as ag
from arraygrad import nn, optim

WIDTH, HEADS, LAYERS, LENGTH, BATCH = 64, 4, 2, 64, 16
SHAPES = {
    "before": (WIDTH,),
    "joint": (3 * WIDTH, WIDTH),
    "out": (WIDTH, WIDTH),
    "after": (WIDTH,),
    "up": (4 * WIDTH, WIDTH),
    "down": (WIDTH, 4 * WIDTH),
}


def data() -> tuple[str, Any]:
    """The letters that occur in a text, and the text as numbers of these letters."""
    text = "\n".join(pydoc_data.topics.topics[name] for name in sorted(pydoc_data.topics.topics))
    letters = "".join(sorted(set(text)))
    number = {letter: i for i, letter in enumerate(letters)}
    return letters, np.array([number[letter] for letter in text])


def start(key: Any, letters: int) -> dict[str, Any]:
    """First values of the parameters."""
    shapes = {"letters": (letters, WIDTH), "places": (LENGTH, WIDTH), "end": (WIDTH,)}
    shapes |= {f"{name}{i}": shape for i in range(LAYERS) for name, shape in SHAPES.items()}
    params: dict[str, Any] = {}
    for each, (name, shape) in zip(ag.random.split(key, len(shapes)), shapes.items(), strict=True):
        drawn = 0.02 * ag.random.normal(each, shape)
        params[name] = np.asarray(drawn if len(shape) > 1 else np.ones(shape), np.float32)
    return params


def network(params: Any, text: Any) -> Any:
    """The logits of the letter that follows each letter of some lines of text."""
    x = nn.embedding(text, params["letters"]) + params["places"][: text.shape[1]]
    for i in range(LAYERS):
        p = {name: params[f"{name}{i}"] for name in SHAPES}
        given = nn.linear(nn.layer_norm(x, (WIDTH,), p["before"]), p["joint"])
        heads = given.reshape(*x.shape[:2], 3, HEADS, WIDTH // HEADS)
        query, key, value = (ag.permute_dims(heads[:, :, j], (0, 2, 1, 3)) for j in range(3))
        seen = nn.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + nn.linear(ag.permute_dims(seen, (0, 2, 1, 3)).reshape(x.shape), p["out"])
        wide = nn.gelu(nn.linear(nn.layer_norm(x, (WIDTH,), p["after"]), p["up"]))
        x = x + nn.linear(wide, p["down"])
    return nn.linear(nn.layer_norm(x, (WIDTH,), params["end"]), params["letters"])


def loss_of(params: Any, text: Any) -> Any:
    """The mean cross entropy of each letter after the first one of a line."""
    logits = network(params, text[:, :-1])
    return nn.cross_entropy(logits.reshape(-1, logits.shape[-1]), text[:, 1:].reshape(-1))


def train(text: Any, letters: int, steps: int, seed: int = 0) -> tuple[Any, list[float]]:
    """The parameters after some steps, and the losses."""
    keys = ag.random.Stream(seed)
    params = start(keys.key(), letters)
    rule = optim.adamw(optim.cosine(4e-3, steps), weight_decay=0.01)
    state, losses = rule.init(params), []
    gradient: Any = ag.func.value_and_grad(loss_of)
    if importlib.util.find_spec("llvmlite") is not None:
        gradient = ag.compile(gradient)
    for step in range(steps):
        first = np.asarray(ag.random.integers(keys.key(), 0, len(text) - LENGTH, BATCH))
        loss, grads = gradient(params, text[first[:, None] + np.arange(LENGTH + 1)])
        changes, state = rule.update(grads, state, params)
        params = optim.apply(params, changes)
        losses.append(float(loss))
        if step % 20 == 0:
            print(f"\rstep {step}: loss {np.mean(losses[-20:]):.3f}", end="", flush=True)
    print()
    return params, losses


def written(params: Any, letters: str, begin: str, count: int, seed: int = 0) -> str:
    """A text that the network writes, one letter after the other.

    It always sees as many letters, as in training: kernels are made for each length.
    """
    keys = ag.random.Stream(seed)
    for _ in range(count):
        seen = np.array([[letters.index(letter) for letter in begin[-LENGTH:].rjust(LENGTH)]])
        logits = network(params, seen)[0, -1]
        begin += letters[int(ag.random.categorical(keys.key(), logits / 0.7))]
    return begin


def main(steps: int = 600, picture: str | None = None) -> float:
    """The mean loss of the last steps."""
    letters, text = data()
    params, losses = train(text, len(letters), steps)
    print(written(params, letters, "The ", 200))
    if picture is not None:
        import matplotlib.pyplot as plt

        figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
        axis.plot(losses)
        axis.set(xlabel="step", ylabel="cross entropy of a letter")
        figure.savefig(picture)
    return float(np.mean(losses[-20:]))


if __name__ == "__main__":
    print(f"loss {main(picture=next(iter(sys.argv[1:]), None)):.2f}")
