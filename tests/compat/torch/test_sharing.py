"""Which results share memory with their tensor: a write to such a result is a write to the tensor.

Each name is compared with PyTorch, too, if it is installed.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest
from rows import Row, over

import arraygrad.compat.torch as ours

COPIES = """
flip(x, [0]); fliplr(x); flipud(x); rot90(x); rot90(x, 0); rot90(x, 2); roll(x, 0); roll(x, 1, 0)
tile(x, (1, 1)); x.repeat(1, 1); x.repeat_interleave(1, 0); diag(x); diff(x, n=0); x.clone()
x[[0, 1]]; x[x > -9]; index_select(x, 0, tensor([0, 1])); take(x, tensor([0, 1]))
where(x > -9, x, x)
gather(x, 0, tensor([[0, 0], [1, 1]])); masked_select(x, x > -9); cat([x]); stack([x]); vstack([x])
column_stack([x]); tril(x); triu(x); clamp(x, -9, 9); abs(x); nan_to_num(x); x.masked_fill(x > 9, 0)
tensor(x); sort(x)[0]; block_diag(x); round(x); nn.functional.relu(x); nn.functional.pad(x, (0, 0))
nn.functional.pixel_shuffle(x[None, None], 1); nn.functional.pixel_unshuffle(x[None, None], 1)
nn.functional.channel_shuffle(x[None, :, :, None], 1); nn.functional.interpolate(x[None], size=2)
nn.functional.max_pool2d(x[None], 1); nn.functional.avg_pool2d(x[None], 1); x.lerp(x, 0.0)
nn.functional.embedding(tensor([0, 1]), x); x.renorm(2, 0, 99.0)
"""

SHARED = """
movedim(x, 0, 1); swapaxes(x, 0, 1); x.t(); x.T; x.mT; x.permute(1, 0); narrow(x, 0, 0, 1)
x.diagonal(); x.select(0, 0); x.unbind()[0]; x.split(1)[0]; x.chunk(2)[0]; tensor_split(x, 2)[0]
x.view(-1); x.reshape(-1); x.ravel(); x.flatten(); x.contiguous(); x.squeeze(); x.unsqueeze(0)
atleast_1d(x); atleast_3d(x); x.expand(2, 2); x.view_as(x); x.expand_as(x); x.real; real(x); conj(x)
resolve_conj(x); resolve_neg(x); x.float(); x.to(x.dtype); x.type_as(x); x.cpu(); x.detach(); x.data
x[:]; x[...]; x[0]; x[None]; as_tensor(x); x.unflatten(0, (2, 1)); nn.Identity()(x)
nn.Dropout(0.5).eval()(x); nn.functional.dropout(x, 0.0); nn.Flatten()(x)
positive(x); +x; einsum("ij->ji", x)
"""

CASES = [
    Row(code, code, (code, is_shared))
    for text, is_shared in ((COPIES, False), (SHARED, True))
    for line in text.strip().splitlines()
    for code in line.split("; ")
]


def shares(torch: Any, code: str) -> bool:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    names = {name: getattr(torch, name) for name in dir(torch) if not name.startswith("__")}
    result, before = eval(code, {**names, "x": x}), x.clone()
    with torch.no_grad():
        result.add_(10.0)
    return not bool((x == before).all())


@over("code, is_shared", CASES, first=len(CASES))
def test_a_result_shares_memory_as_in_pytorch(code: str, is_shared: bool) -> None:
    assert shares(ours, code) is is_shared


@over("code, is_shared", CASES, first=len(CASES))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_table_is_that_of_pytorch(code: str, is_shared: bool) -> None:
    theirs = pytest.importorskip("torch")
    assert sys.modules["torch"] is theirs
    assert shares(theirs, code) is is_shared
