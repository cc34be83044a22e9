"""A variational autoencoder of handwritten digits: a script for PyTorch, which runs here as it is.

    python -m arraygrad.compat.torch examples/autoencoder.py digits.png  # about half a minute
    python examples/autoencoder.py digits.png                            # with PyTorch itself

The encoder gives a normal law for two numbers behind each image, the decoder an image for each two
numbers. The picture shows the images that the decoder makes on a grid of these numbers. Needs
`pip install arraygrad scikit-learn`, and matplotlib for the picture.
"""

import sys

import torch
import torch.nn.functional as F  # noqa: N812
from sklearn.datasets import load_digits
from torch import nn
from torch.distributions import Normal, kl_divergence
from torch.utils.data import DataLoader, TensorDataset


class Autoencoder(nn.Module):
    """Images of 64 pixels, as two numbers each."""

    def __init__(self, hidden: int = 128) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, hidden), nn.SiLU(), nn.Linear(hidden, 4))
        self.decoder = nn.Sequential(nn.Linear(2, hidden), nn.SiLU(), nn.Linear(hidden, 64))

    def forward(self, images):
        mean, size = self.encoder(images).chunk(2, dim=1)
        law = Normal(mean, F.softplus(size) + 1e-3)
        return law, self.decoder(law.rsample())


def bound(model, images):
    """The evidence lower bound of images, per image, with the opposite sign."""
    law, logits = model(images)
    missed = F.binary_cross_entropy_with_logits(logits, images, reduction="sum")
    return (missed + kl_divergence(law, Normal(0.0, 1.0)).sum()) / len(images)


def train(epochs):
    """The model after some passes over the images, and the mean bound of each pass."""
    torch.manual_seed(0)
    images = torch.tensor(load_digits().data / 16, dtype=torch.float32)
    loader = DataLoader(TensorDataset(images), batch_size=64, shuffle=True)
    model = Autoencoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * len(loader))
    bounds = []
    for epoch in range(epochs):
        total = 0.0
        for (batch,) in loader:
            optimizer.zero_grad()
            loss = bound(model, batch)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 10.0)
            optimizer.step()
            scheduler.step()
            total += loss.item() * len(batch)
        bounds.append(total / len(images))
        print(f"\repoch {epoch + 1}: {bounds[-1]:.2f}", end="", flush=True)
    print()
    return model, bounds


def draw(model, path, count=12):
    """The images of a grid of numbers."""
    import matplotlib.pyplot as plt

    places = Normal(0.0, 1.0).icdf(torch.linspace(0.03, 0.97, count))
    with torch.no_grad():
        grid = torch.stack(torch.meshgrid(places, places, indexing="ij"), dim=-1)
        images = torch.sigmoid(model.decoder(grid)).view(count, count, 8, 8)
    page = images.permute(0, 2, 1, 3).reshape(8 * count, 8 * count)
    plt.imsave(path, page.numpy(), cmap="gray_r")


def main(epochs=30, picture=None):
    """The bound of the first and the last pass."""
    model, bounds = train(epochs)
    if picture is not None:
        draw(model, picture)
    return bounds[0], bounds[-1]


if __name__ == "__main__":
    first, last = main(picture=next(iter(sys.argv[1:]), None))
    print(f"bound {first:.2f}, then {last:.2f}")
