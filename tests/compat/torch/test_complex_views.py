"""`view_as_real` and `view_as_complex` beside PyTorch.

Writes are seen, and differentiated, on both sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arraygrad.compat import torch as ours

theirs = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(3, 4)) + 1j * RNG.normal(size=(3, 4))
PAIRS = RNG.normal(size=(3, 4, 2))


def written_parts(torch: Any) -> Any:
    x = torch.tensor(NUMBERS)
    r = torch.view_as_real(x)
    r[0, 0, 1] = 5.0
    x[1] = 2 - 3j
    r.view(-1)[3] = 11.0
    torch.view_as_complex(r)[2, 2] = 1j
    return x, r


def written_pairs(torch: Any) -> Any:
    x = torch.tensor(PAIRS)
    c = torch.view_as_complex(x)
    c[0] *= 2j
    x[1, :, 0] = 1.0
    return x, c


def layouts(torch: Any) -> Any:
    x = torch.tensor(NUMBERS)
    r = torch.view_as_real(x.T)
    c = torch.view_as_complex(r)
    c[0, 0] = 9
    number = torch.tensor(1 + 2j)
    torch.view_as_real(number)[1] = 3
    found = [list(r.stride()), list(c.stride()), r._base is x, r.reshape(4, 6)._is_view()]
    return x, number, torch.tensor(found[0] + found[1] + found[2:])


def gradient_through_parts(torch: Any) -> Any:
    x = torch.tensor(NUMBERS, requires_grad=True)
    y = x.clone()
    r = torch.view_as_real(y)
    r[..., 1] = r[..., 0].clone() ** 2
    r.transpose(0, 1)[0].mul_(3.0)
    index = torch.tensor([0, 0]), torch.tensor([1, 1]), torch.tensor([0, 1])
    r[index] = torch.tensor([3.0, 4.0], dtype=torch.float64)
    return torch.autograd.grad((y.abs() ** 2).sum() + (r**3).sum(), x)


def gradient_through_pairs(torch: Any) -> Any:
    x = torch.tensor(PAIRS, requires_grad=True)
    y = x * 1.5
    c = torch.view_as_complex(y)
    c[1] = c[0].clone() * (1 + 2j)
    c.mul_(c.clone())
    return torch.autograd.grad((y**3).sum() + c.abs().sum(), x)


def gradient_of_other_order(torch: Any) -> Any:
    x = torch.tensor(PAIRS, requires_grad=True)
    c = torch.view_as_complex(x.clone()).reshape(12)
    c.mul_(2)
    return torch.autograd.grad(c.sum().abs(), x)


def second_order(torch: Any) -> Any:
    x = torch.tensor(NUMBERS, requires_grad=True)
    (g,) = torch.autograd.grad((torch.view_as_real(x) ** 3).sum(), x, create_graph=True)
    return g, torch.autograd.grad((torch.view_as_real(g) ** 2).sum(), x)[0]


def forward_mode(torch: Any) -> Any:
    def parts(x: Any) -> Any:
        return torch.view_as_real(x * x).pow(2)

    def numbers(x: Any) -> Any:
        return torch.view_as_complex(x * x).pow(2)

    x, p = torch.tensor(NUMBERS), torch.tensor(PAIRS)
    return torch.func.jvp(parts, (x,), (x.flip(0),)), torch.func.jvp(numbers, (p,), (p.flip(0),))


def batches(torch: Any) -> Any:
    def parts(x: Any) -> Any:
        y = x.clone()
        r = torch.view_as_real(y)
        r[..., 0] += 1
        r[0] *= 2
        return y

    def numbers(x: Any) -> Any:
        y = x.clone()
        torch.view_as_complex(y)[0] *= 2j
        return y

    x, p = torch.tensor(NUMBERS), torch.tensor(PAIRS)
    jacobian = torch.func.jacrev(lambda p: torch.view_as_complex(p.sin()).abs())(p)
    return torch.vmap(parts)(x), torch.vmap(parts, 1)(x), torch.vmap(numbers)(p), jacobian


def flat(found: Any) -> list[Any]:
    return [x for f in found for x in flat(f)] if isinstance(found, tuple) else [found]


@pytest.mark.parametrize(
    "program",
    [
        written_parts,
        written_pairs,
        layouts,
        gradient_through_parts,
        gradient_through_pairs,
        gradient_of_other_order,
        second_order,
        forward_mode,
        batches,
    ],
)
def test_as_in_pytorch(program: Any) -> None:
    for found, expected in zip(flat(program(ours)), flat(program(theirs)), strict=True):
        wanted = expected.detach().resolve_conj().numpy()
        np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t: t.view_as_real(t.ones(2)), "complex tensors"),
        (lambda t: t.view_as_complex(t.ones(2, dtype=t.int64)), "float and double|floating"),
        (lambda t: t.view_as_complex(t.ones(())), "one or more dimensions"),
        (lambda t: t.view_as_complex(t.ones(3)), "size 2"),
        (lambda t: t.view_as_complex(t.ones(2, 3).T), "stride 1"),
    ],
)
def test_errors(call: Any, text: str) -> None:
    for torch in (ours, theirs):
        with pytest.raises(RuntimeError, match=text):
            call(torch)


def test_a_write_to_one_part_of_a_saved_number_is_noticed() -> None:
    for torch in (ours, theirs):
        pairs = torch.tensor(PAIRS, requires_grad=True) * 1.0
        numbers = torch.view_as_complex(pairs)
        out = (numbers * numbers).abs().sum()
        pairs[..., 1] = 5.0
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.backward()
