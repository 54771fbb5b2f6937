"""Saving and loading quantized tensors: bit for bit, atomic, and clear about bad files."""

from __future__ import annotations

import builtins
import json
import math
import os
import tracemalloc
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

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
    **{f"wide/{fmt}": nf.mx_quantize(with_specials(), fmt) for fmt in ("bfloat16", "tfloat32", "float32")},
    "nvfp4": nf.nvfp4_quantize(X * 1e-3),
    "nvfp4 zeros": nf.nvfp4_quantize(np.zeros((2, 17))),
    "mx empty": nf.mx_quantize(np.empty((0, 4))),
    "mx none": nf.mx_quantize(np.empty((3, 0))),
    "float32 scale": replace(nf.quantize([1.0, 2.0], 4), scale=np.float32([0.5]), zero_point=np.int8([0])),
    "payloads": np.array([0x7FF8000000000001, 0xFFF0000000000123], np.uint64).view(np.float64),
    "nothing": np.empty((3, 0, 2), np.int16),
    "file": X[0],
    "allow_pickle": X[1],
    "päth/to.npy": X[2],
    "plain": X.astype(np.float32),
    "halves": np.asfortranarray(X.astype(np.float16)),
    "flags": np.array([True, False]),
    "big": X[0].astype(">f8"),
    "count": np.int64(7),
}


def check_equal(found: Any, wanted: Any) -> None:
    if isinstance(wanted, nf.Quantized | nf.Blocks):
        assert type(found) is type(wanted)
        for name, value in vars(wanted).items():
            other = getattr(found, name)
            if isinstance(value, np.ndarray | np.generic):
                check_equal(other, value)
            else:
                assert type(other) is type(value) and other == value, name
        assert np.array_equal(found.dequantize(), wanted.dequantize(), equal_nan=True)
    else:
        array = np.asarray(wanted)
        array = array.astype(array.dtype.newbyteorder("="))
        assert isinstance(found, np.ndarray) and (found.dtype, found.shape) == (array.dtype, array.shape)
        assert found.tobytes() == array.tobytes() and found.flags.writeable


@pytest.mark.parametrize("kind", KINDS)
def test_everything_comes_back_bit_for_bit(tmp_path: Path, kind: str) -> None:
    nf.save(tmp_path / kind, TENSORS)
    found = nf.load(tmp_path / kind)
    assert found.keys() == TENSORS.keys()
    for name, wanted in TENSORS.items():
        check_equal(found[name], wanted)
    assert [path.name for path in tmp_path.iterdir()] == [kind]


@st.composite
def tensors(draw: st.DrawFn) -> Any:
    """Return a quantized tensor of any scheme, with the values that are hard to keep among its numbers."""
    special = st.sampled_from([0.0, -0.0, 5e-324, 2.0**-133, 448.0, 3.4e38, 1e-30])
    shape = tuple(draw(st.lists(st.integers(0, 40), min_size=1, max_size=2)))
    x = np.random.default_rng(draw(st.integers(0, 2**32))).standard_normal(shape)
    x.flat[: draw(st.integers(0, x.size))] = draw(special)
    kind = draw(st.sampled_from(["absmax", "zero_point", "mx", "nvfp4"]))
    if kind == "nvfp4":
        return nf.nvfp4_quantize(x, draw(st.integers(1, 20)))
    if kind == "mx":
        x.flat[: draw(st.integers(0, 1)) * x.size] = draw(st.sampled_from([math.nan, math.inf]))
        fmt = draw(st.sampled_from(["E4M3", "E5M2", "E2M3", "E3M2", "E2M1", "int8", ODD]))
        return nf.mx_quantize(x, fmt, draw(st.sampled_from(["floor", "rceil"])), draw(st.integers(1, 40)))
    axis = draw(st.sampled_from([None, 0, -1]))
    size = draw(st.sampled_from([each for each in range(1, 41) if shape[-1] % each == 0])) if axis is None else None
    return nf.quantize(x, draw(st.integers(2, 16)), kind, axis, size)


@given(st.lists(tensors(), max_size=3), st.sampled_from(KINDS))
@settings(max_examples=40, deadline=None)
def test_any_tensors_come_back_bit_for_bit(tmp_path_factory: Any, wanted: list[Any], kind: str) -> None:
    path = tmp_path_factory.getbasetemp() / f"any-{kind}"
    nf.save(path, {str(index): tensor for index, tensor in enumerate(wanted)})
    found = nf.load(path)
    assert list(found) == [str(index) for index in range(len(wanted))]
    for index, tensor in enumerate(wanted):
        check_equal(found[str(index)], tensor)


def test_pieces_of_a_large_tensor_have_no_seam_and_take_little_memory(tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((3, 70_001))
    for fmt in ("E2M3", "E2M1", "E4M3", "tfloat32"):
        wanted = nf.mx_quantize(x, fmt)
        nf.save(tmp_path / "x.npz", {"w": wanted})
        check_equal(nf.load(tmp_path / "x.npz")["w"], wanted)
    wanted = nf.mx_quantize(np.ones((3, 400_000)), "E2M1")
    tracemalloc.start()
    nf.save(tmp_path / "x.npz", {"w": wanted})
    saving = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    found = nf.load(tmp_path / "x.npz")["w"]
    loading = tracemalloc.get_traced_memory()[1] - found.elements.nbytes
    tracemalloc.stop()
    assert saving < 5 * 2**20 and loading < 5 * 2**20 < wanted.elements.nbytes


def test_the_axis_of_channels_and_the_order_of_packing_are_kept(tmp_path: Path) -> None:
    wanted = nf.quantize(X, 6, "zero_point", axis=-1)
    assert wanted.scale.shape == (1, 70)

    def turn(arrays: dict[str, Any], w: dict[str, Any], _: Any) -> None:
        w["order"] = "high"
        arrays["w.codes"] = nf.pack(nf.unpack(arrays["w.codes"], 6), 6, "high")

    check_equal(nf.load(spoiled(tmp_path, lambda *_: None, wanted))["w"], wanted)
    check_equal(nf.load(spoiled(tmp_path, turn, wanted))["w"], wanted)
    wanted = nf.mx_quantize(X, "E2M3")
    check_equal(nf.load(spoiled(tmp_path, turn, wanted))["w"], wanted)


def test_an_archive_is_opened_once_however_many_tensors_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nf.save(tmp_path / "x.npz", {str(index): nf.quantize(X, 4) for index in range(50)})
    opened = []
    genuine = zipfile.ZipFile.__init__

    def counted(self: zipfile.ZipFile, *rest: Any, **options: Any) -> None:
        opened.append(1)
        genuine(self, *rest, **options)

    monkeypatch.setattr(zipfile.ZipFile, "__init__", counted)
    assert len(nf.load(tmp_path / "x.npz")) == 50 and len(opened) == 1


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


QUANTIZED = nf.quantize(X, 4)
BLOCKS = nf.mx_quantize(X, "E2M1")


@pytest.mark.parametrize(
    ("tensors", "error", "words"),
    [
        ({"x": np.array(["a"])}, TypeError, "x has dtype <U1; quantize it"),
        ({"x": np.array([1j])}, TypeError, "dtype complex128"),
        ({"x": torch.zeros(2, dtype=torch.bfloat16)}, TypeError, r"store encode\(x, 'bfloat16'\)"),
        ({"__numfmt__": X}, ValueError, "other than __numfmt__ and __metadata__, got '__numfmt__'"),
        ({"": X}, ValueError, "a tensor's name is text"),
        ({"a\0b": X}, ValueError, r"the name 'a\\x00b' can't be stored"),
        ({"\ud800": X}, ValueError, "can't be stored; choose a shorter one"),
        ({"x" * 1_001: X}, ValueError, "can't be stored; choose a shorter one"),
        ({"x": [[1], [2, 3]]}, ValueError, "x is no array"),
        (X, TypeError, "expected a dict of names and tensors, got ndarray"),
        ({"q": replace(QUANTIZED, codes=np.full((6, 70), 8))}, ValueError, "q has codes from 8 to 8, and INT4 holds"),
        ({"q": replace(QUANTIZED, scale=np.ones((5, 1)))}, ValueError, "q contradicts itself: a scale of shape"),
        ({"q": replace(QUANTIZED, zero_point=0.0)}, ValueError, "q contradicts itself: its scale is float64 and its"),
        ({"q": replace(QUANTIZED, group_size=8)}, ValueError, "groups of 8 don't fit codes of shape"),
        ({"q": replace(QUANTIZED, scheme="best")}, ValueError, "q contradicts itself: 'best'"),
        ({"b": replace(BLOCKS, elements=X)}, ValueError, "b's elements aren't all values of E2M1"),
        ({"b": replace(BLOCKS, scales=BLOCKS.scales * 1.5)}, ValueError, "b's scales aren't all values of E8M0"),
        ({"b": replace(BLOCKS, scales=BLOCKS.scales[:, :2])}, ValueError, "b has scales of shape"),
        ({"b": replace(BLOCKS, fmt=nf.INT8)}, ValueError, "b's elements aren't all values of INT8"),
        ({"b": replace(BLOCKS, fmt=nf.INT8, elements=X * math.inf)}, ValueError, "b's elements aren't all values of"),
        ({"b": replace(BLOCKS, fmt=nf.FloatFormat(20, 10))}, ValueError, "goes beyond all use"),
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


@pytest.mark.parametrize("kind", KINDS)
def test_a_failed_write_leaves_the_old_file(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / kind
    nf.save(path, {"old": X})
    before = path.read_bytes()

    def full(*rest: Any, **_: object) -> None:
        if kind == "x.npz":
            raise OSError(28, "No space left on device")
        Path(rest[1]).write_bytes(b"half")
        raise safetensors.SafetensorError("I/O error: No space left on device")

    owner = np.lib.format if kind == "x.npz" else safetensors.numpy
    monkeypatch.setattr(owner, "write_array" if kind == "x.npz" else "save_file", full)
    with pytest.raises(OSError, match="No space left"):
        nf.save(path, {"new": X})
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_links_are_followed_and_modes_kept(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    mask = os.umask(0o027)
    try:
        nf.save(path, {"x": X})
        assert path.stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(mask)
    path.chmod(0o600)
    link = tmp_path / f"link-{kind}"
    link.symlink_to(path)
    nf.save(link, {"y": X})
    assert link.is_symlink() and list(nf.load(path)) == ["y"] and path.stat().st_mode & 0o777 == 0o600


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*none; make it, or save elsewhere"):
        nf.save(tmp_path / "none" / "x.npz", {})
    (tmp_path / "x.npz").mkdir()
    with pytest.raises(OSError, match=r"x\.npz is no file"):
        nf.save(tmp_path / "x.npz", {})
    with pytest.raises(ValueError, match=r"x\.npz is a folder"):
        nf.load(tmp_path / "x.npz")


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
    "many axes": lambda arrays, w, _: w.update(shape=[1] * 100),
    "no axes": lambda arrays, w, _: w.update(shape=[]),
    "no whole number": lambda arrays, w, _: w.update(shape=[6.0, 70]),
    "kind": lambda arrays, w, _: w.update(kind="pickle"),
    "order": lambda arrays, w, _: w.update(order="middle"),
    "no order": lambda arrays, w, _: w.pop("order"),
    "codes gone": lambda arrays, w, _: arrays.pop("w.codes"),
    "codes short": lambda arrays, w, _: arrays.update({"w.codes": arrays["w.codes"][:-1]}),
    "codes of floats": lambda arrays, w, _: arrays.update({"w.codes": arrays["w.codes"].astype(float)}),
}
FALSE_QUANTIZED: dict[str, Any] = {
    "bits": lambda arrays, w, _: w.update(bits=99),
    "scheme": lambda arrays, w, _: w.update(scheme="best"),
    "group": lambda arrays, w, _: w.update(group_size=64),
    "group of nothing": lambda arrays, w, _: w.update(group_size=0),
    "group of less": lambda arrays, w, _: w.update(group_size=-14),
    "bits that are true": lambda arrays, w, _: w.update(bits=True),
    "scales": lambda arrays, w, _: arrays.update({"w.scale": np.ones((5, 1))}),
    "scales of integers": lambda arrays, w, _: arrays.update({"w.scale": np.ones((6, 1), int)}),
    "no scales": lambda arrays, w, _: arrays.pop("w.scale"),
    "zero points": lambda arrays, w, _: arrays.update({"w.zero_point": np.zeros((6, 1))}),
}
FALSE_BLOCKS: dict[str, Any] = {
    "format": lambda arrays, w, _: w["format"].update(mantissa_bits=-1),
    "specials": lambda arrays, w, _: w["format"].update(specials="none"),
    "scale format": lambda arrays, w, _: w.update(scale_format={"bits": 8, "signed": True}),
    "huge bias": lambda arrays, w, _: w["format"].update(bias=10**12),
    "huge exponent": lambda arrays, w, _: w["scale_format"].update(exponent_bits=40),
    "unknown field": lambda arrays, w, _: w["format"].update(radix=10),
    "format by name": lambda arrays, w, _: w.update(format="E4M3"),
    "integers that MX lacks": lambda arrays, w, _: w.update(format={"bits": 8, "signed": False}),
    "block": lambda arrays, w, _: w.update(block=0),
    "half a block": lambda arrays, w, _: w.update(block=16.5),
    "scales": lambda arrays, w, _: arrays.update({"w.scales": np.zeros((6, 2), np.uint8)}),
    "tensor scale": lambda arrays, w, _: w.update(tensor_scale="much"),
}


@pytest.mark.parametrize("lie", [*LIES, *FALSE_QUANTIZED])
def test_a_description_of_codes_that_lies_is_refused(tmp_path: Path, lie: str) -> None:
    check_refused(spoiled(tmp_path, (LIES | FALSE_QUANTIZED)[lie], nf.quantize(X, 4, axis=0)))


@pytest.mark.parametrize("lie", [*LIES, *FALSE_BLOCKS])
def test_a_description_of_blocks_that_lies_is_refused(tmp_path: Path, lie: str) -> None:
    check_refused(spoiled(tmp_path, (LIES | FALSE_BLOCKS)[lie], nf.mx_quantize(X)))


def check_refused(path: Path) -> None:
    """Check that a file is refused by name and with a cure, at the cost of little memory."""
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"bad\.npz: w isn't what its description says .*save it again"):
        nf.load(path)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_another_version_and_a_broken_description_are_told_apart(tmp_path: Path) -> None:
    path = spoiled(tmp_path, lambda arrays, w, whole: whole.update(version=2), nf.quantize(X))
    with pytest.raises(ValueError, match=r"bad\.npz has layout 2 and this numfmt reads layout 1; update numfmt"):
        nf.load(path)
    path = spoiled(tmp_path, lambda arrays, w, whole: whole.update(version=9, tensors="new"), nf.quantize(X))
    with pytest.raises(ValueError, match=r"has layout 9 .*; update numfmt"):
        nf.load(path)
    path = spoiled(tmp_path, lambda arrays, w, whole: arrays.update(w=X), nf.quantize(X))
    with pytest.raises(ValueError, match=r"bad\.npz: there are two tensors named 'w'"):
        nf.load(path)
    bad_versions = (b'{"version": "1", "tensors": {}}', b'{"version": true, "tensors": {}}', b'{"tensors": {}}')
    for text in (b"{", b"[]", b'{"version": 1, "tensors": []}', b"\xff", b"[" * 100_000, *bad_versions):
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


def test_arrays_that_overlap_or_have_one_name_are_refused(tmp_path: Path) -> None:
    entry = {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}
    header = json.dumps({f"x{index}": entry for index in range(3)}).encode()
    (tmp_path / "x.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(16))
    with pytest.raises(ValueError, match=r"x\.safetensors: two of its tensors share the bytes"):
        nf.load(tmp_path / "x.safetensors")
    np.savez(tmp_path / "x.npz", x=X)
    with zipfile.ZipFile(tmp_path / "x.npz", "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("x.npy", archive.read("x.npy"))
    with pytest.raises(ValueError, match=r"x\.npz: it holds two arrays of one name"):
        nf.load(tmp_path / "x.npz")


def test_shapes_that_no_array_has_are_refused(tmp_path: Path) -> None:
    for shape in ([0, 2**62], [0] * 65):
        header = json.dumps({"x": {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]}}).encode()
        (tmp_path / "x.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
        with pytest.raises(ValueError, match=r"x\.safetensors: x says that its shape is .*, which no array has"):
            nf.load(tmp_path / "x.safetensors")


@pytest.mark.parametrize("kind", KINDS)
def test_any_damage_gives_a_tensor_or_an_error_that_names_the_file(tmp_path: Path, kind: str) -> None:
    path, rng = tmp_path / kind, np.random.default_rng(3)
    nf.save(path, {"q": nf.quantize(X[:2, :4], 3, axis=0), "b": nf.mx_quantize(X[0, :40], ODD), "x": X[0, :3]})
    good = path.read_bytes()
    for length in range(0, len(good), 97):
        path.write_bytes(good[:length])
        with pytest.raises(ValueError, match=rf"{kind}.*again"):
            nf.load(path)
    refused = 0
    for _ in range(100):
        data = bytearray(good)
        data[rng.integers(len(data))] ^= 1 << rng.integers(8)
        path.write_bytes(data)
        try:
            nf.load(path)
        except ValueError as error:
            assert kind in str(error)
            refused += 1
    assert refused > 50
