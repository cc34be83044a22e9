"""A convolutional network that reads handwritten digits, and what it looks at.

The parameters are arrays in a dict, and the network is a function of them. The gradient of a score
by the pixels says which of them speak for the digit (red), and which against it (blue).
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import arraygrad as ag
from arraygrad import nn, optim

SHAPES = {"first": (16, 1, 3, 3), "second": (32, 16, 3, 3), "inner": (64, 128), "last": (10, 64)}


def scores(p: Any, x: Any) -> Any:
    """How much each image looks like each digit."""
    for name in ("first", "second"):
        x = nn.max_pool2d(nn.relu(nn.conv2d(x, p[name], p[f"{name} offset"], padding=1)), 2)
    x = nn.relu(nn.linear(x.reshape(len(x), -1), p["inner"], p["inner offset"]))
    return nn.linear(x, p["last"], p["last offset"])


def loss(p: Any, x: Any, digit: Any) -> Any:
    """The cross entropy of a batch."""
    return nn.cross_entropy(scores(p, x), digit, label_smoothing=0.05)


def main(epochs: int = 12) -> Any:
    """Learn from four fifths of the images, and draw what counts in ten of the others."""
    images, digits = load_digits(return_X_y=True)
    images = (images / 8 - 1).reshape(-1, 1, 8, 8)
    rng = np.random.default_rng(0)
    learn, test = np.split(rng.permutation(len(digits)), [1408])
    keys = zip(SHAPES.items(), ag.random.split(ag.random.key(0), 4), strict=True)
    params: Any = {name: nn.init.kaiming_normal(shape, key=key) for (name, shape), key in keys}
    params |= {f"{name} offset": np.zeros(shape[0]) for name, shape in SHAPES.items()}
    adam = optim.adamw(optim.cosine(3e-3, epochs * 22), weight_decay=0.02)
    state, step = adam.init(params), ag.compile(ag.func.grad(loss))
    for batch in [b for _ in range(epochs) for b in np.split(rng.permutation(learn), 22)]:
        change, state = adam.update(step(params, images[batch], digits[batch]), state, params)
        params = optim.apply(params, change)
    right = np.mean(np.asarray(scores(params, images[test])).argmax(1) == digits[test])
    fig, axes = plt.subplots(2, 10, figsize=(7.2, 1.9))
    for digit, (top, bottom) in enumerate(axes.T):
        image = images[test[digits[test] == digit][:1]]
        top.imshow(image[0, 0], cmap="gray_r")
        slope = ag.func.grad(lambda x, digit=digit: scores(params, x)[0, digit])(image)[0, 0]
        bottom.imshow(slope, cmap="RdBu_r", vmin=-abs(slope).max(), vmax=abs(slope).max())
    plt.setp(axes, xticks=[], yticks=[])
    fig.suptitle(f"{right:.1%} of new digits are read rightly. Which pixels speak for each?")
    return fig


if __name__ == "__main__":
    main()
    plt.show()
