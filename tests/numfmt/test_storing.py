"""Saving and loading quantized tensors: bit for bit, atomic, and clear about bad files."""

from __future__ import annotations

import builtins
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import torch

import numfmt as nf

X = np.random.default_rng(5).standard_normal((6, 70))
KINDS = ["x.npz", "x.safetensors"]
ODD = nf.FloatFormat(3, 4, 5, "fnuz", name="odd")


def with_specials() -> np.ndarray:
    x = X.copy()
    x[0, :40] = 0.0
    x[1, 3], x[2, 69] = math.nan, math.inf
    return x


TENSORS: dict[str, Any] = {
    "absmax": nf.quantize(X, 4),
    "channel": nf.quantize(X, 8, axis=0),
    "group": nf.quantize(X, 3, group_size=14),
    "zero point": nf.quantize(np.abs(X), 5, "zero_point", axis=(0, 1)),
    "scalar": nf.quantize(0.3, 16),
    "empty": nf.quantize(np.empty((0, 4)), 4),
    **{f"mx/{fmt}": nf.mx_quantize(with_specials(), fmt) for fmt in ("E4M3", "E5M2", "E2M3", "E3M2", "E2M1", "int8")},
    "mx.odd": nf.mx_quantize(X, ODD, "rceil", 7),
    "nvfp4": nf.nvfp4_quantize(X * 1e-3),
    "plain": X.astype(np.float32),
    "halves": np.asfortranarray(X.astype(np.float16)),
    "flags": np.array([True, False]),
    "big": X[0].astype(">f8"),
    "count": np.int64(7),
}


def check_equal(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted) or isinstance(found, np.ndarray)
    if isinstance(wanted, nf.Quantized | nf.Blocks):
        for name, value in vars(wanted).items():
            other = getattr(found, name)
            if isinstance(value, np.ndarray):
                assert other.dtype == value.dtype and np.array_equal(
                    other, value, equal_nan=value.dtype.kind == "f"
                ), name
                assert np.array_equal(np.signbit(other), np.signbit(value)) or np.isnan(value).any()
            else:
                assert other == value, name
        assert np.array_equal(found.dequantize(), wanted.dequantize(), equal_nan=True)
    else:
        assert found.dtype == np.asarray(wanted).dtype.newbyteorder("=") and np.array_equal(found, wanted)
        assert found.shape == np.asarray(wanted).shape


@pytest.mark.parametrize("kind", KINDS)
def test_everything_comes_back_bit_for_bit(tmp_path: Path, kind: str) -> None:
    nf.save(tmp_path / kind, TENSORS)
    found = nf.load(tmp_path / kind)
    assert found.keys() == TENSORS.keys()
    for name, wanted in TENSORS.items():
        check_equal(found[name], wanted)
    assert [path.name for path in tmp_path.iterdir()] == [kind]


def test_codes_are_stored_packed_and_stock_readers_see_them(tmp_path: Path) -> None:
    blocks = nf.mx_quantize(X, "E2M1")
    nf.save(tmp_path / "x.npz", {"w": blocks})
    nf.save(tmp_path / "x.safetensors", {"w": blocks})
    with np.load(tmp_path / "x.npz", allow_pickle=False) as file:
        packed, scales = file["w.codes"], file["w.scales"]
    stock = safetensors.numpy.load_file(tmp_path / "x.safetensors")
    assert packed.nbytes == X.size // 2 and scales.dtype == np.uint8 and scales.shape == (6, 3)
    assert np.array_equal(stock["w.codes"], packed) and np.array_equal(stock["w.scales"], scales)
    low = packed & 15
    assert np.array_equal(nf.decode(low, nf.E2M1), blocks.elements.ravel()[::2])


def test_tensors_of_torch_are_saved_as_arrays(tmp_path: Path) -> None:
    tensor = torch.from_numpy(X)
    nf.save(tmp_path / "x.npz", {"q": nf.quantize(tensor, 4), "t": tensor.float().requires_grad_()})
    found = nf.load(tmp_path / "x.npz")
    check_equal(found["q"], nf.quantize(X, 4))
    assert np.array_equal(found["t"], X.astype(np.float32))


def test_files_of_others_load_as_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=X)
    safetensors.numpy.save_file({"x": X}, tmp_path / "a.safetensors", {"format": "pt"})
    for name in ("a.npz", "a.safetensors"):
        assert np.array_equal(nf.load(tmp_path / name)["x"], X)
    from safetensors.torch import save_file

    save_file({"x": torch.from_numpy(X).bfloat16()}, tmp_path / "b.safetensors")
    found = nf.load(tmp_path / "b.safetensors")["x"]
    assert found.dtype == np.float32 and np.array_equal(found, nf.round_to(X, nf.BF16))


@pytest.mark.parametrize(
    ("tensors", "error", "words"),
    [
        ({"x": np.array(["a"])}, TypeError, "x has dtype <U1; quantize it"),
        ({"x": np.array([1j])}, TypeError, "dtype complex128"),
        ({"x": torch.zeros(2, dtype=torch.bfloat16)}, TypeError, r"store encode\(x, 'bfloat16'\)"),
        ({"__x": X}, ValueError, "doesn't begin with __, got '__x'"),
        ({3: X}, ValueError, "a tensor's name is text"),
        ({"w": nf.quantize(X, 4), "w.scale": X}, ValueError, "two tensors would be stored as 'w.scale'"),
    ],
)
def test_what_cannot_be_saved_leaves_the_old_file(
    tmp_path: Path, tensors: dict[Any, Any], error: type[Exception], words: str
) -> None:
    path = tmp_path / "x.npz"
    nf.save(path, {"old": X})
    before = path.read_bytes()
    with pytest.raises(error, match=words):
        nf.save(path, tensors)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_save_leaves_the_old_file(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / kind
    nf.save(path, {"old": X})
    before = path.read_bytes()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        nf.save(path, {"new": X})
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


def test_without_the_package_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    genuine = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("safetensors"):
            raise ImportError(name)
        return genuine(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r"pip install safetensors, or save as \.npz"):
        nf.save(tmp_path / "x.safetensors", {"x": X})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", [lambda path: nf.save(path, {}), nf.load])
def test_other_suffixes_are_refused(tmp_path: Path, call: Any) -> None:
    with pytest.raises(ValueError, match=r"x\.pt: the name should end in \.npz or \.safetensors"):
        call(tmp_path / "x.pt")


def spoiled(tmp_path: Path, change: Any, tensor: Any) -> Path:
    """Save a tensor, change the arrays or the description, and write the file anew."""
    nf.save(tmp_path / "good.npz", {"w": tensor})
    with np.load(tmp_path / "good.npz") as file:
        arrays = dict(file)
    description = json.loads(bytes(arrays.pop("__numfmt__")))
    change(arrays, description["tensors"]["w"], description)
    arrays["__numfmt__"] = np.frombuffer(json.dumps(description).encode(), np.uint8)
    np.savez(tmp_path / "bad.npz", **arrays)
    return tmp_path / "bad.npz"


LIES: dict[str, Any] = {
    "shape": lambda arrays, w, _: w.update(shape=[6, 71]),
    "huge shape": lambda arrays, w, _: w.update(shape=[2**40, 2**20]),
    "negative shape": lambda arrays, w, _: w.update(shape=[-6, -70]),
    "no shape": lambda arrays, w, _: w.pop("shape"),
    "text for a shape": lambda arrays, w, _: w.update(shape="ab"),
    "kind": lambda arrays, w, _: w.update(kind="pickle"),
    "codes gone": lambda arrays, w, _: arrays.pop("w.codes"),
    "codes short": lambda arrays, w, _: arrays.update({"w.codes": arrays["w.codes"][:-1]}),
    "codes of floats": lambda arrays, w, _: arrays.update({"w.codes": arrays["w.codes"].astype(float)}),
}
QUANTIZED: dict[str, Any] = {
    "bits": lambda arrays, w, _: w.update(bits=99),
    "scheme": lambda arrays, w, _: w.update(scheme="best"),
    "group": lambda arrays, w, _: w.update(group_size=64),
    "group of nothing": lambda arrays, w, _: w.update(group_size=0),
    "scales": lambda arrays, w, _: arrays.update({"w.scale": np.ones((5, 1))}),
    "zero points": lambda arrays, w, _: arrays.update({"w.zero_point": np.zeros((6, 1))}),
}
BLOCKS: dict[str, Any] = {
    "format": lambda arrays, w, _: w["format"].update(mantissa_bits=-1),
    "specials": lambda arrays, w, _: w["format"].update(specials="none"),
    "scale format": lambda arrays, w, _: w.update(scale_format={"bits": 8, "signed": True}),
    "block": lambda arrays, w, _: w.update(block=0),
    "scales": lambda arrays, w, _: arrays.update({"w.scales": np.zeros((6, 2), np.uint8)}),
    "tensor scale": lambda arrays, w, _: w.update(tensor_scale="much"),
}


@pytest.mark.parametrize("lie", [*LIES, *QUANTIZED])
def test_a_description_of_codes_that_lies_is_refused(tmp_path: Path, lie: str) -> None:
    path = spoiled(tmp_path, (LIES | QUANTIZED)[lie], nf.quantize(X, 4, axis=0))
    with pytest.raises(ValueError, match=r"bad\.npz: w isn't what its description says .*save it again"):
        nf.load(path)


@pytest.mark.parametrize("lie", [*LIES, *BLOCKS])
def test_a_description_of_blocks_that_lies_is_refused(tmp_path: Path, lie: str) -> None:
    path = spoiled(tmp_path, (LIES | BLOCKS)[lie], nf.mx_quantize(X))
    with pytest.raises(ValueError, match=r"bad\.npz: w isn't what its description says .*save it again"):
        nf.load(path)


def test_another_version_and_a_broken_description_are_told_apart(tmp_path: Path) -> None:
    path = spoiled(tmp_path, lambda arrays, w, whole: whole.update(version=2), nf.quantize(X))
    with pytest.raises(ValueError, match=r"written by another version \(layout 2, this one reads 1\)"):
        nf.load(path)
    for text in (b"{", b"[]", b'{"version": 1, "tensors": []}', b"\xff", b"[" * 100_000):
        np.savez(tmp_path / "broken.npz", __numfmt__=np.frombuffer(text, np.uint8))
        with pytest.raises(ValueError, match=r"broken\.npz: its description can't be read"):
            nf.load(tmp_path / "broken.npz")
    safetensors.numpy.save_file({"x": X}, tmp_path / "broken.safetensors", {"numfmt": "{"})
    with pytest.raises(ValueError, match=r"broken\.safetensors: its description can't be read"):
        nf.load(tmp_path / "broken.safetensors")


def test_pickles_and_damage_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "pickle.npz", x=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match=r"pickle\.npz: x holds Python objects"):
        nf.load(tmp_path / "pickle.npz")
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match=r"cut\.npz: it is no archive"):
        nf.load(tmp_path / "cut.npz")
    with pytest.raises(ValueError, match=r"gone\.npz doesn't exist"):
        nf.load(tmp_path / "gone.npz")
