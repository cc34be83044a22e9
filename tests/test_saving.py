"""Structures of arrays in files: they come back as they were, and damaged files are refused."""

import json
import pickle
import zipfile

import numpy as np
import pytest

import arraygrad as ag

FORMATS = [".npz", ".safetensors"]


@pytest.fixture(params=FORMATS)
def path(request, tmp_path):
    if request.param == ".safetensors":
        pytest.importorskip("safetensors")
    return tmp_path / f"file{request.param}"


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        return all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        assert len(a) == len(b)
        return all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, ag.Tensor):
        assert a.requires_grad == b.requires_grad
        return same(a.detach().numpy(), b.detach().numpy())
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        return True
    assert a == b or (a != a and b != b)
    return True


def test_round_trip(path):
    rng = np.random.default_rng(0)
    kinds = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 "
    structure = {
        "kinds": [np.ones(2, kind) for kind in (kinds + "complex64 complex128").split()],
        "special": np.array([np.nan, -0.0, np.inf]),
        "strided": rng.standard_normal((3, 4)).T[::2],
        "number": np.float64(3.5),
        "file": np.array(2.5),
        "empty": np.zeros((0, 3)),
        "complex": rng.standard_normal((2, 3)) + 1j,
        "tensors": (ag.tensor([1.0], requires_grad=True), ag.tensor([1, 2])),
        "a.b": np.ones(1),
        "a.npy": np.full(1, 3.0),
        "arraygrad": {"structure": np.full(1, 4.0)},
        "\0\ud800": np.full(1, 5.0),
        "x" * 70_000: np.full(1, 6.0),
        "a": {"b": np.zeros(1), "": [np.full(1, 2.0)]},
        "b": np.zeros(1),
        "b.npy": np.ones(1),
        "other": [1, -(2**70), 0.1, float("inf"), float("nan"), 1j, "text", None, True, (), [], {}],
    }
    ag.save(structure, path)
    same(structure, ag.load(path))


@pytest.mark.parametrize(
    "structure", [np.arange(3.0), ag.tensor([1.0]), [], 3, None, {"__metadata__": np.ones(1)}]
)
def test_round_trip_of_a_leaf(path, structure):
    ag.save(structure, path)
    same(structure, ag.load(path))


def test_short_floats(path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(4, dtype=ml_dtypes.bfloat16)
    ag.save({"x": x}, path)
    same({"x": x}, ag.load(path))


def test_every_cut_off_file_is_refused(path, tmp_path):
    ag.save({"x": np.arange(5.0), "y": [np.ones(2)]}, path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 11):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="damaged, cut off or forged"):
            ag.load(path)


def test_a_file_of_another_program_is_a_dictionary(path):
    arrays = {"w": np.ones((2, 3)), "b": np.zeros(3, np.float32)}
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        from safetensors.numpy import save_file

        save_file(arrays, path)
    read = ag.load(path)
    assert sorted(read) == ["b", "w"]
    same(read["w"], arrays["w"])


def test_pickled_objects_are_refused(tmp_path):
    path = tmp_path / "file.npz"
    np.savez(path, x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="forged"):
        ag.load(path)
    path.write_bytes(pickle.dumps([1]))
    with pytest.raises(ValueError, match="forged"):
        ag.load(path)


@pytest.mark.parametrize(
    "told",
    [
        {"array": "y", "shape": [3], "dtype": "float64"},
        {"array": "x", "shape": [4], "dtype": "float64"},
        {"array": "x", "shape": [3], "dtype": "no_such"},
        {"thing": 1},
        [],
    ],
)
def test_a_forged_structure_is_refused(tmp_path, told):
    path = tmp_path / "file.npz"
    text = np.frombuffer(json.dumps(told).encode(), np.uint8)
    np.savez(path, **{"x": np.ones(3), "arraygrad.structure": text})
    with pytest.raises(ValueError, match="forged"):
        ag.load(path)


def test_what_cannot_be_saved_is_named(path):
    ag.save([1], path)
    for structure, word in [
        ({"a": [object()]}, r"object at a\.0"),
        ({1: 2}, "dict at its top"),
        ({"a": np.array(["x"])}, "at a has dtype"),
    ]:
        with pytest.raises(TypeError, match=word):
            ag.save(structure, path)
    assert ag.load(path) == [1]
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(ValueError, match=r"\.npz or \.safetensors"):
        ag.save([1], path.with_suffix(".txt"))
    with pytest.raises(FileNotFoundError):
        ag.load(path.with_name("no.npz"))


def test_npz_files_are_zip_files_of_their_paths(tmp_path):
    path = tmp_path / "file.npz"
    ag.save({"layers": [{"w": np.ones(2)}]}, path)
    assert "layers.0.w.npy" in zipfile.ZipFile(path).namelist()


def test_without_the_package_the_error_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "safetensors.numpy", None)
    with pytest.raises(ImportError, match=r"arraygrad\[safetensors\]"):
        ag.save([1], tmp_path / "file.safetensors")


def test_arguments_in_the_other_order(tmp_path):
    with pytest.raises(TypeError, match=r"file must be a path, not dict: save\(structure, file\)"):
        ag.save(tmp_path / "file.npz", {"w": np.ones(2)})
