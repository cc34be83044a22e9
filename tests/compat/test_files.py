"""Files of tensors: what PyTorch writes is read and the other way round, and no file runs code."""

import importlib.util
import io
import os
import pickle
import sys
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

from arraygrad.compat import sorix, torch


def made(pickled, storages=(), **records):
    """A file of the given pickle and storages, as PyTorch lays it out."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        for i, data in enumerate(storages):
            archive.writestr(f"archive/data/{i}", data)
        for name, data in records.items():
            archive.writestr(f"archive/{name}", data)
    file.seek(0)
    return file


def pickled_tensor(size=(2, 2), stride=(1, 2), offset=1, count=6, kind="FloatStorage", key="0"):
    """The pickle of one tensor, opcode by opcode."""

    def text(value):
        return b"X" + len(value).to_bytes(4, "little") + value.encode()

    def number(value):
        return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)

    def numbers(values):
        return b"(" + b"".join(map(number, values)) + b"t"

    storage = b"(" + text("storage") + f"ctorch\n{kind}\n".encode() + text(key) + text("cpu")
    storage += number(count) + b"tQ"
    hooks = b"ccollections\nOrderedDict\n)R"
    arguments = b"(" + storage + number(offset) + numbers(size) + numbers(stride) + b"\x89" + hooks
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"tR."


SIX = np.arange(6, dtype=np.float32).tobytes()


def test_a_file_as_pytorch_lays_it_out_is_read():
    x = torch.load(made(pickled_tensor(), [SIX], byteorder=b"little", version=b"3\n"))
    assert isinstance(x, torch.Tensor)
    assert x.dtype == torch.float32
    assert x.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    x.add_(1)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"offset": 4}, "reaches beyond"),
        ({"size": (3, 2)}, None),
        ({"size": (2**40, 2)}, "reaches beyond"),
        ({"stride": (-1, 2)}, "stride"),
        ({"offset": -1}, "offset"),
        ({"stride": (1,)}, "stride"),
        ({"count": 7}, "elements"),
        ({"kind": "DoubleStorage"}, "elements"),
        ({"kind": "NoStorage"}, "NoStorage"),
        ({"key": "1"}, "no record"),
    ],
)
def test_a_forged_tensor_is_refused(change, word):
    file = made(pickled_tensor(**change), [SIX])
    if word is None:
        assert torch.load(file).shape == (3, 2)
        return
    with pytest.raises((RuntimeError, pickle.UnpicklingError), match=word):
        torch.load(file)


class Harmful:
    def __reduce__(self):
        return os.mkdir, ("harmed",)


@pytest.mark.parametrize("load", [torch.load, sorix.load])
@pytest.mark.parametrize("protocol", [2, 4])
def test_a_file_that_runs_code_is_refused_by_name(load, protocol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pickled = pickle.dumps([1, Harmful()], protocol)
    with pytest.raises(pickle.UnpicklingError, match=r"(posix|nt)\.mkdir.*weights_only=False"):
        load(made(pickled))
    with pytest.raises(RuntimeError, match="no zip file"):
        load(io.BytesIO(pickled))
    assert not os.path.exists("harmed")
    load(made(pickled), weights_only=False)
    assert os.path.exists("harmed")


@pytest.mark.parametrize(
    "pickled",
    [
        b"\x80\x02ctorch\nfloat32\nN(X\x05\x00\x00\x00_name" + b"X\x01\x00\x00\x00xd\x86b.",
        b"\x80\x02ctorch\nfloat32\n)R.",  # a dtype is no function
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n}X\x01\x00\x00\x00aK\x01sb.",
        b"\x80\x02ccollections\nOrderedDict\n)R}X\x05\x00\x00\x00itemsK\x01sb.",
        b"\x80\x02cbuiltins\nbytearray\n\x8a\x05\x00\x00\x00\x00\x7f\x85R.",
        b"\x80\x02ccollections\nOrderedDict\n)\x81.",
        b"\x80\x02(ccollections\nOrderedDict\no.",
        b"(iposix\nmkdir\n.",
        b"\x80\x02X\x01\x00\x00\x00aQ.",
        b"\x80\x02h\x07.",
        b"\x80\x05\x96\x00\x00\x00\x00\x00\x00\x00\x40.",  # a bytearray of 2**62 bytes
        b"\x80\x02]",
        b"",
        b"\xff",
    ],
)
def test_a_forged_pickle_is_refused_and_changes_nothing(pickled):
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        torch.load(made(pickled))
    assert repr(torch.float32) == "torch.float32"


def test_every_cut_off_file_is_refused():
    file = io.BytesIO()
    torch.save({"x": torch.arange(5.0)}, file)
    whole = file.getvalue()
    for length in range(0, len(whole), 7):
        with pytest.raises(RuntimeError, match=r"damaged|cut off"):
            torch.load(io.BytesIO(whole[:length]))


def test_a_place_before_the_file_is_refused():
    data = bytearray(made(b"\x80\x02}.").getvalue())
    end = data.rindex(b"PK\x05\x06")
    start = int.from_bytes(data[end + 16 : end + 20], "little")
    data[end + 16 : end + 20] = (start + 10**6).to_bytes(4, "little")
    with pytest.raises(RuntimeError, match="damaged"):
        torch.load(io.BytesIO(bytes(data)))


def test_a_changed_byte_of_a_storage_is_noticed():
    file = io.BytesIO()
    torch.save(torch.arange(5.0), file)
    whole = bytearray(file.getvalue())
    whole[whole.index(np.float32(3.0).tobytes())] ^= 1
    with pytest.raises(RuntimeError, match="damaged"):
        torch.load(io.BytesIO(bytes(whole)))


def test_a_compressed_record_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + b"]" * 10_000_000 + b".")
    file.seek(0)
    with pytest.raises(RuntimeError, match="compressed"):
        torch.load(file)


def test_records_that_share_their_bytes_are_no_bomb():
    """Many names for one record would fill the memory with copies of it."""
    file = made(b"\x80\x02}.", [b"x" * 1000])
    data = bytearray(file.getvalue())
    end = data.rindex(b"PK\x05\x06")
    start = int.from_bytes(data[end + 16 : end + 20], "little")
    entry = data[start:end]
    place = entry.index(b"archive/data/0")
    copies = b"".join(
        entry[: place + 13] + bytes([48 + i]) + entry[place + 14 :] for i in range(10)
    )
    tail = bytearray(data[end:])
    tail[8:12] = (20).to_bytes(2, "little") * 2
    tail[12:16] = len(copies).to_bytes(4, "little")
    with pytest.raises(RuntimeError, match="overlap"):
        torch.load(io.BytesIO(bytes(data[:start] + copies + tail)))


def test_round_trip_of_a_structure(tmp_path):
    x = torch.arange(12.0).reshape(3, 4)
    saved = OrderedDict(
        x=x,
        view=x.T[1:, ::2],
        kinds=[torch.zeros(2, dtype=d) for d in (torch.float16, torch.bool, torch.uint32)],
        complex=torch.tensor([1 + 2j], dtype=torch.complex128),
        parameter=torch.nn.Parameter(torch.ones(2)),
        frozen=torch.nn.Parameter(torch.ones(2), requires_grad=False),
        leaf=torch.ones(3, requires_grad=True),
        loss=torch.ones(3, requires_grad=True).sum(),
        empty=torch.zeros(0, 3),
        number=torch.tensor(2.5),
        other=(1, 2.5, "text", None, True, 3j, b"bytes", {1}, torch.float16, torch.Size([1])),
    )
    torch.save(saved, tmp_path / "file.pt")
    read = torch.load(tmp_path / "file.pt")
    assert list(read) == list(saved)
    assert read["other"] == saved["other"]
    flat = [v for v in saved.values() if isinstance(v, torch.Tensor)] + saved["kinds"]
    again = [v for v in read.values() if isinstance(v, torch.Tensor)] + read["kinds"]
    for a, b in zip(flat, again, strict=True):
        assert type(a) is type(b)
        assert (a.dtype, a.shape, a.requires_grad) == (b.dtype, b.shape, b.requires_grad)
        assert torch.equal(a, b)
    read["x"][0, 1] = 99
    assert read["view"][0, 0] == 99


def test_bfloat16_needs_ml_dtypes(monkeypatch):
    pickled = pickled_tensor(count=12, kind="BFloat16Storage")
    if importlib.util.find_spec("ml_dtypes"):
        x = torch.load(made(pickled, [SIX]))
        assert x.dtype == torch.bfloat16
        assert x.float().tolist() == [[0.0, 1.0], [0.0, 0.0]]
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(RuntimeError, match="ml_dtypes"):
        torch.load(made(pickled, [SIX]))


def test_pytorch_reads_what_is_written_and_writes_what_is_read(tmp_path):
    real = pytest.importorskip("torch")
    path = tmp_path / "file.pt"
    base = real.arange(12.0).reshape(3, 4)
    net = real.nn.Sequential(real.nn.Linear(2, 3), real.nn.BatchNorm1d(3))
    adam = real.optim.Adam(net.parameters())
    net(real.ones(4, 2)).sum().backward()
    adam.step()
    saved = {
        "base": base,
        "view": base.T[1:, ::2],
        "half": real.ones(3, dtype=real.float16),
        "short": real.tensor([1, 2], dtype=real.uint16),
        "complex": real.tensor([1 + 2j]),
        "parameter": real.nn.Parameter(real.ones(2)),
        "empty": real.zeros(0, 3),
        "net": net.state_dict(),
        "adam": adam.state_dict(),
        "other": [1, 2.5, None, 3j, b"bytes", {1}, real.Size([1])],
    }
    real.save(saved, path)
    read = torch.load(path)
    torch.save(read, path)
    again = real.load(path, weights_only=True)
    assert again["net"]._metadata == saved["net"]._metadata
    assert again["other"] == saved["other"]
    assert again["adam"]["param_groups"] == saved["adam"]["param_groups"]

    def flat(structure):
        if isinstance(structure, dict):
            return [leaf for value in structure.values() for leaf in flat(value)]
        return [structure] if isinstance(structure, real.Tensor) else []

    for a, b in zip(flat(saved), flat(again), strict=True):
        assert (a.dtype, a.shape, a.requires_grad) == (b.dtype, b.shape, b.requires_grad)
        assert real.equal(a, b)
    again["view"][0, 0] = 99
    assert again["base"][0, 1] == 99


def test_sorix_files(tmp_path):
    x = sorix.tensor([1.0, 2.0], requires_grad=True)
    sorix.save({"x": x, "a": np.arange(3), "n": 1}, tmp_path / "file")
    read = sorix.load(tmp_path / "file")
    assert isinstance(read["x"], sorix.Tensor)
    assert read["x"].requires_grad
    assert read["x"].data.dtype == x.data.dtype
    assert read["a"].tolist() == [0, 1, 2]
    assert read["n"] == 1


def test_the_state_of_a_generator_is_no_pickle():
    generator = torch.Generator().manual_seed(3)
    state = generator.get_state()
    first = torch.rand(4, generator=generator)
    generator.set_state(state)
    assert torch.equal(torch.rand(4, generator=generator), first)
    forged = torch.tensor(list(pickle.dumps(Harmful())), dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="state"):
        generator.set_state(forged)
    assert generator.initial_seed() == 3
