"""Learning rates: numbers and arrays give the same; PyTorch's where it has them."""

import numpy as np
import pytest

from arraygrad import optim

SCHEDULES = {
    "linear": optim.linear(0.1, 1.0, 7),
    "cosine": optim.cosine(1.0, 9, 0.1),
    "exponential": optim.exponential(1.0, 0.5, 3),
    "polynomial": optim.polynomial(1.0, 8, 2.0),
    "piecewise": optim.piecewise(1.0, {3: 0.1, 6: 0.5}),
    "join": optim.join([optim.linear(0.0, 1.0, 4), optim.cosine(1.0, 10)], [4]),
    "one_cycle": optim.one_cycle(1.0, 12),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_arrays_give_what_numbers_give(name):
    rate = SCHEDULES[name]
    for step in range(12):
        value = rate(step)
        assert isinstance(value, float)
        np.testing.assert_allclose(np.asarray(rate(np.asarray(step))), value, 1e-14, 1e-16)


def test_pytorchs_rates():
    torch = pytest.importorskip("torch")
    from torch.optim import lr_scheduler as theirs

    def rates(make, steps=12):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        scheduler = make(optimizer)
        found = []
        for _ in range(steps):
            found.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
        return found

    pairs = [
        (lambda o: theirs.LinearLR(o, 0.1, 1.0, 7), SCHEDULES["linear"], 12),
        (lambda o: theirs.CosineAnnealingLR(o, 9, 0.1), SCHEDULES["cosine"], 9),
        (lambda o: theirs.StepLR(o, 3, 0.5), SCHEDULES["exponential"], 12),
        (lambda o: theirs.PolynomialLR(o, 8, 2.0), SCHEDULES["polynomial"], 12),
        (lambda o: theirs.OneCycleLR(o, 1.0, total_steps=13), optim.one_cycle(1.0, 13), 12),
    ]
    for make, rate, steps in pairs:
        np.testing.assert_allclose(
            [rate(i) for i in range(steps)], rates(make, steps), 1e-12, 1e-14
        )


def test_errors():
    with pytest.raises(ValueError, match="steps must be positive"):
        optim.linear(0.0, 1.0, 0)
    with pytest.raises(ValueError, match="boundaries must be 1 rising"):
        optim.join([optim.linear(0.0, 1.0, 4)] * 2, [])
    with pytest.raises(ValueError, match="pct_start"):
        optim.one_cycle(1.0, 2)
