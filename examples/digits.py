"""A convolutional network that reads handwritten digits: more than 97 % of those it has not seen.

    python examples/digits.py             # about a quarter of a minute on two cores
    python examples/digits.py digits.png  # and draw what it gets wrong

The parameters are arrays in a dict, and the network is a function of them. The running statistics
of the batch norms are a result of the function. Random numbers come from keys. Needs
`pip install arraygrad scikit-learn`, and matplotlib for the picture.
"""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import arraygrad as ag
from arraygrad import nn, optim
from arraygrad.saving import load, save

CHANNELS, HIDDEN, BATCH = (16, 32), 64, 64


def data(seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Images of 8 by 8 pixels and their digits: four fifths to learn from, one fifth to test."""
    images, labels = load_digits(return_X_y=True)
    images = (images.astype(np.float32) / 8 - 1).reshape(-1, 1, 8, 8)
    order = np.random.default_rng(seed).permutation(len(labels))
    cut = len(labels) * 4 // 5
    return images[order[:cut]], labels[order[:cut]], images[order[cut:]], labels[order[cut:]]


def start(key: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """First values of the parameters, and of the statistics that the batch norms follow."""
    keys = iter(ag.random.split(key, 4))
    params: dict[str, Any] = {}
    for i, (inputs, outputs) in enumerate(zip((1, *CHANNELS), CHANNELS, strict=False)):
        shape = (outputs, inputs, 3, 3)
        params[f"filter{i}"] = nn.init.kaiming_normal(shape, key=next(keys)).numpy()
        params[f"scale{i}"], params[f"shift{i}"] = np.ones(outputs), np.zeros(outputs)
    for i, shape in enumerate([(HIDDEN, CHANNELS[-1] * 4), (10, HIDDEN)]):
        params[f"weight{i}"] = nn.init.kaiming_normal(shape, key=next(keys)).numpy()
        params[f"bias{i}"] = np.zeros(shape[0])
    statistics = {f"mean{i}": np.zeros(n, np.float32) for i, n in enumerate(CHANNELS)}
    statistics |= {f"var{i}": np.ones(n, np.float32) for i, n in enumerate(CHANNELS)}
    return {name: value.astype(np.float32) for name, value in params.items()}, statistics


def network(params: Any, statistics: Any, x: Any, key: Any = None) -> tuple[Any, Any]:
    """The logits of images, and the new statistics; with a key, as in training."""
    after = {}
    for i in range(len(CHANNELS)):
        x = nn.conv2d(x, params[f"filter{i}"], padding=1)
        held = (*(statistics[f"{n}{i}"] for n in ("mean", "var")), params[f"scale{i}"])
        x, *new = nn.batch_norm(x, *held, params[f"shift{i}"], training=key is not None)
        after |= {f"mean{i}": new[0], f"var{i}": new[1]}
        x = nn.max_pool2d(nn.relu(x), 2)
    x = nn.relu(nn.linear(x.reshape(len(x), -1), params["weight0"], params["bias0"]))
    x = nn.dropout(x, 0.3, key is not None, key=key)
    return nn.linear(x, params["weight1"], params["bias1"]), after


def loss_of(params: Any, statistics: Any, x: Any, y: Any, key: Any) -> tuple[Any, Any]:
    """The cross entropy of a batch, and the new statistics."""
    logits, after = network(params, statistics, x, key)
    return nn.cross_entropy(logits, y, label_smoothing=0.05), after


def train(images: Any, labels: Any, epochs: int, seed: int = 0) -> tuple[Any, Any, list[float]]:
    """The parameters after some passes over the images, the statistics, and the losses."""
    keys = ag.random.Stream(seed)
    params, statistics = start(keys.key())
    rule = optim.adamw(optim.cosine(3e-3, epochs * (len(labels) // BATCH)), weight_decay=0.02)
    state, losses = rule.init(params), []
    gradient = ag.func.value_and_grad(loss_of, has_aux=True)
    for _ in range(epochs):
        order = np.asarray(ag.random.permutation(keys.key(), len(labels)))
        for i in range(len(labels) // BATCH):
            chosen = order[i * BATCH : (i + 1) * BATCH]
            batch = images[chosen], labels[chosen], keys.key()
            (loss, after), grads = gradient(params, statistics, *batch)
            changes, state = rule.update(grads, state, params)
            params, statistics = optim.apply(params, changes), after
            losses.append(float(loss))
        print(f"\rloss {np.mean(losses[-20:]):.3f}", end="", flush=True)
    print()
    return params, statistics, losses


def draw(path: str, losses: list[float], images: Any, labels: Any, found: Any) -> None:
    """A picture of the loss, and of the digits that were read wrongly."""
    import matplotlib.pyplot as plt

    wrong = np.flatnonzero(found != labels)[:8]
    figure, axes = plt.subplots(1, 1 + len(wrong), figsize=(10, 2), layout="constrained")
    np.atleast_1d(axes)[0].semilogy(losses)
    for axis, i in zip(np.atleast_1d(axes)[1:], wrong, strict=True):
        axis.imshow(images[i, 0], cmap="gray_r")
        axis.set(title=f"{labels[i]} read as {found[i]}", xticks=[], yticks=[])
    figure.savefig(path)


def main(epochs: int = 15, picture: str | None = None) -> float:
    """The share of the test images that the network reads rightly, with weights from a file."""
    images, labels, test_images, test_labels = data()
    params, statistics, losses = train(images, labels, epochs)
    with tempfile.TemporaryDirectory() as folder:
        save({"params": params, "statistics": statistics}, f"{folder}/digits.npz")
        saved = load(f"{folder}/digits.npz")
    found = np.asarray(network(saved["params"], saved["statistics"], test_images)[0]).argmax(1)
    if picture is not None:
        draw(picture, losses, test_images, test_labels, found)
    return float((found == test_labels).mean())


if __name__ == "__main__":
    print(f"{main(picture=next(iter(sys.argv[1:]), None)):.1%} of the test images are read rightly")
