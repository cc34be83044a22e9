"""The same programs with `torch` and with `arraygrad.compat.torch`: `python -m benchmarks.facade`.

Programs of many small ops, as in custom loops, where the time is that of the library; and functions
of neural networks, which PyTorch computes by one kernel each. The two take turns, with one thread
each, and the medians of the processor's time are compared. ``python -m benchmarks.facade gelu
norm`` runs the programs with these words in their names.
"""

from __future__ import annotations

import functools
import math
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[Any], Callable[[], Any]]


def rosenbrock(torch: Any) -> Callable[[], Any]:
    """A step of gradient descent on a function of ten variables."""
    x = torch.linspace(-1, 1, 10).requires_grad_()

    def run() -> Any:
        y = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        (g,) = torch.autograd.grad(y, x)
        with torch.no_grad():
            x.sub_(1e-4 * g)
        return y

    return run


def network(torch: Any) -> Callable[[], Any]:
    """A step of training of a small network."""
    nn = torch.nn
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.ones(32, 8), torch.ones(32, 1)

    def run() -> Any:
        optimiser.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimiser.step()
        return loss

    return run


def recurrence(torch: Any) -> Callable[[], Any]:
    """A recurrence of a hundred steps, and its gradient."""
    w = torch.full((8, 8), 0.1).requires_grad_()
    start = torch.ones(8)

    def run() -> Any:
        h = start
        for _ in range(100):
            h = torch.tanh(w @ h + start)
        return torch.autograd.grad(h.sum(), w)

    return run


def own_function(torch: Any) -> Callable[[], Any]:
    """Twenty calls of a function with its own derivative."""

    class Square(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * g * x

    x = torch.full((4,), 0.1).requires_grad_()

    def run() -> Any:
        y = x
        for _ in range(20):
            y = Square.apply(y) + x
        return torch.autograd.grad(y.sum(), x)

    return run


def written(torch: Any) -> Callable[[], Any]:
    """An array that is filled element by element, and its gradient."""
    x = torch.ones(20).requires_grad_()

    def run() -> Any:
        out = torch.zeros(20)
        for i in range(20):
            out[i] = x[i] * x[i - 1]
        return torch.autograd.grad(out.sum(), x)

    return run


# --- functions of neural networks, and their gradients -------------------------------------------


def gradient(
    function: Callable[..., Any], *shapes: tuple[int, ...], data: Callable[[Any], Any] | None = None
) -> Program:
    """``function(torch, *arrays, *data(torch))`` of random arrays, and the gradients by these."""

    def program(torch: Any) -> Callable[[], Any]:
        rng = np.random.default_rng(0)
        leaves = [torch.tensor(rng.normal(size=shape).astype(np.float32)) for shape in shapes]
        for leaf in leaves:
            leaf.requires_grad_()
        given = () if data is None else data(torch)
        out = function(torch, *leaves, *given)
        seed = torch.tensor(rng.normal(size=tuple(out.shape)).astype(np.float32))

        def run() -> Any:
            return torch.autograd.grad(function(torch, *leaves, *given), leaves, seed)

        return run

    return program


def named(name: str, **options: Any) -> Callable[..., Any]:
    """A function of ``torch.nn.functional``."""
    return lambda torch, *arrays: getattr(torch.nn.functional, name)(*arrays, **options)


def targets(shape: tuple[int, ...], classes: int = 0) -> Callable[[Any], Any]:
    """Random numbers between zero and one; or random classes."""

    def data(torch: Any) -> Any:
        rng = np.random.default_rng(1)
        if classes:
            return (torch.tensor(rng.integers(0, classes, shape)),)
        return (torch.tensor(rng.random(shape).astype(np.float32)),)

    return data


def batch_norm(torch: Any, x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.batch_norm(x, None, None, weight, bias, training=True)


def layer_norm(torch: Any, x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias)


def group_norm(torch: Any, x: Any, weight: Any, bias: Any) -> Any:
    return torch.nn.functional.group_norm(x, 8, weight, bias)


def adamw(torch: Any, count: int, size: int) -> Callable[[], Any]:
    """A step of AdamW on some parameters."""
    parameters = [torch.full((size,), 0.5).requires_grad_() for _ in range(count)]
    for p in parameters:
        p.grad = torch.full((size,), 0.1)
    options = {"fused": True} if torch.__name__ == "torch" else {}
    return torch.optim.AdamW(parameters, **options).step  # type: ignore[no-any-return]


def training(torch: Any, make: Callable[[Any], Any], *shape: int) -> Callable[[], Any]:
    """A step of training of a classifier: cross entropy, gradients, AdamW."""
    model = make(torch.nn)
    options = {"fused": True} if torch.__name__ == "torch" else {}
    optimiser = torch.optim.AdamW(model.parameters(), **options)
    x = torch.tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32))
    (labels,) = targets(shape[:1], 10)(torch)

    def run() -> Any:
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimiser.step()
        return loss

    return run


def mlp(nn: Any) -> Any:
    return nn.Sequential(
        nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 10)
    )


def cnn(nn: Any) -> Any:
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 64, 10),
    )


def transformer(nn: Any) -> Any:
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, activation="gelu", batch_first=True)
    return nn.Sequential(layer, nn.Flatten(), nn.Linear(32 * 64, 10))


class Last:
    """A recurrent network, and a classifier of its last output."""

    def __init__(self, nn: Any, name: str) -> None:
        self.network, self.classifier = getattr(nn, name)(128, 128), nn.Linear(128, 10)

    def parameters(self) -> list[Any]:
        return [*self.network.parameters(), *self.classifier.parameters()]

    def __call__(self, x: Any) -> Any:
        return self.classifier(self.network(x.transpose(0, 1))[0][-1])


def recurrent(torch: Any, name: str) -> Callable[[], Any]:
    """A recurrent network over 50 steps of 64×128, and the gradients by all arrays."""
    model = getattr(torch.nn, name)(128, 128)
    x = torch.tensor(np.random.default_rng(0).normal(size=(50, 64, 128)).astype(np.float32))
    leaves = [x.requires_grad_(), *model.parameters()]
    return lambda: torch.autograd.grad(model(x)[0].sum(), leaves)


def inference(torch: Any) -> Callable[[], Any]:
    """A network applied to one sample, without gradients."""
    model, x = mlp(torch.nn), torch.ones(1, 784)

    def run() -> Any:
        with torch.no_grad():
            return model(x)

    return run


SIZES = {"4k": 4096, "65k": 65536, "262k": 262144, "750k": 750_000, "4M": 1 << 22}
IMAGES = (16, 16, 32, 32)

PROGRAMS: dict[str, Program] = {
    **{p.__name__: p for p in (rosenbrock, network, recurrence, own_function, written)},
    **{
        f"{name} {label}": gradient(named(name), (size,))
        for name in ("relu", "gelu", "silu", "sigmoid")
        for label, size in SIZES.items()
    },
    **{
        f"softmax {label}": gradient(named("softmax", dim=-1), (size // 64, 64))
        for label, size in SIZES.items()
    },
    "layer_norm 512×1024": gradient(layer_norm, (512, 1024), (1024,), (1024,)),
    "group_norm 8 of 32": gradient(group_norm, (16, 32, 32, 32), (32,), (32,)),
    "batch_norm": gradient(batch_norm, (16, 32, 32, 32), (32,), (32,)),
    "cross_entropy 64×10": gradient(named("cross_entropy"), (64, 10), data=targets((64,), 10)),
    "cross_entropy 2048×1000": gradient(
        named("cross_entropy"), (2048, 1000), data=targets((2048,), 1000)
    ),
    "bce_with_logits 65k": gradient(
        named("binary_cross_entropy_with_logits"), (65536,), data=targets((65536,))
    ),
    "smooth_l1 65k": gradient(named("smooth_l1_loss"), (65536,), data=targets((65536,))),
    "mse 65k": gradient(named("mse_loss"), (65536,), data=targets((65536,))),
    "conv2d": gradient(named("conv2d", padding=1), IMAGES, (32, 16, 3, 3), (32,)),
    "conv2d, stride 2": gradient(named("conv2d", stride=2), IMAGES, (32, 16, 3, 3), (32,)),
    "conv2d, depthwise": gradient(named("conv2d", groups=16), IMAGES, (16, 1, 3, 3), (16,)),
    "max_pool2d": gradient(named("max_pool2d", kernel_size=2), IMAGES),
    "avg_pool2d": gradient(named("avg_pool2d", kernel_size=2), IMAGES),
    "linear 64×784→256": gradient(named("linear"), (64, 784), (256, 784), (256,)),
    "attention": gradient(named("scaled_dot_product_attention"), *((4, 4, 128, 32),) * 3),
    **{name: functools.partial(recurrent, name=name) for name in ("RNN", "GRU", "LSTM")},
    "AdamW 60×4k": functools.partial(adamw, count=60, size=4096),
    "AdamW 4×1M": functools.partial(adamw, count=4, size=1 << 20),
    "training an MLP": lambda torch: training(torch, mlp, 64, 784),
    "training a CNN": lambda torch: training(torch, cnn, 16, 3, 32, 32),
    "training a transformer": lambda torch: training(torch, transformer, 16, 32, 64),
    "training an LSTM": lambda torch: training(torch, lambda nn: Last(nn, "LSTM"), 64, 50, 128),
    "inference of one sample": inference,
}


def seconds(run: Callable[[], Any], repeat: int) -> float:
    """The time of one call."""
    start = time.process_time()
    for _ in range(repeat):
        run()
    return (time.process_time() - start) / repeat


def compare(program: Program, rounds: int = 15) -> tuple[float, float]:
    """The times with arraygrad and with PyTorch, in microseconds."""
    import torch

    import arraygrad as ag
    import arraygrad.compat.torch

    torch.set_num_threads(1)
    ag.set_num_threads(1)
    runs = [program(arraygrad.compat.torch), program(torch)]
    for run in runs:
        run()
        run()
    repeat = max(1, int(0.01 / seconds(runs[0], 1)))
    times = [[seconds(run, repeat) for run in runs] for _ in range(rounds)]
    ours, theirs = (statistics.median(column) * 1e6 for column in zip(*times, strict=True))
    return ours, theirs


def main() -> None:
    """Print a table."""
    words = sys.argv[1:]
    chosen = {n: p for n, p in PROGRAMS.items() if not words or any(w in n for w in words)}
    print(f"{'program':>24} {'compat.torch':>13} {'torch':>10} {'ratio':>6}")
    found = []
    for name, program in chosen.items():
        ours, theirs = compare(program)
        found.append(ours / theirs)
        print(f"{name:>24} {ours:>10.0f} µs {theirs:>7.0f} µs {found[-1]:>6.2f}", flush=True)
    print(f"geometric mean: {math.prod(found) ** (1 / len(found)):.2f}")


if __name__ == "__main__":
    main()
