"""Tensors in files, and the command line of the census: right, bounded in memory, and clear about bad files."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

import numfmt as nf
from numfmt.__main__ import main
from numfmt.tensor_files import read_tensors

NUMBERS = np.random.default_rng(0).standard_normal((300, 500)).astype(np.float32)


def whole(path: Path, name: str) -> np.ndarray:
    (tensor,) = (each for each in read_tensors(path) if each.name == name)
    blocks = list(tensor.blocks())
    return np.concatenate(blocks) if blocks else np.array([])


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", ">f4", "i8", "u1", "?"])
@pytest.mark.parametrize("kind", ["npy", "npz", "compressed npz", "safetensors"])
def test_every_kind_of_file_gives_its_numbers(tmp_path: Path, kind: str, dtype: str) -> None:
    x = (NUMBERS * 3).astype(dtype)
    path = tmp_path / f"x.{kind.split()[-1]}"
    if kind == "npy":
        np.save(path, x)
    elif kind == "safetensors":
        x = x.astype(x.dtype.newbyteorder("="))
        safetensors.numpy.save_file({"x": x, "empty": x[:0]}, path)
    else:
        (np.savez_compressed if "compressed" in kind else np.savez)(path, x=x, empty=x[:0])
    assert np.array_equal(whole(path, "x"), x.ravel())
    if kind != "npy":
        assert whole(path, "empty").size == 0


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.float16])
def test_the_narrow_dtypes_of_safetensors(tmp_path: Path, dtype: torch.dtype) -> None:
    x = torch.from_numpy(NUMBERS).to(dtype)
    safetensors.torch.save_file({"w": x}, tmp_path / "x.safetensors", metadata={"made": "by a test"})
    assert np.array_equal(whole(tmp_path / "x.safetensors", "w"), x.double().numpy().ravel())


def test_order_and_scalars(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", np.asfortranarray(NUMBERS))
    assert np.array_equal(np.sort(whole(tmp_path / "f.npy", "f")), np.sort(NUMBERS.ravel()))
    np.save(tmp_path / "s.npy", np.float64(0.1))
    assert whole(tmp_path / "s.npy", "s").tolist() == [0.1]


def header(text: bytes, data: bytes = b"", length: int | None = None) -> bytes:
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype: object = "F32", shape: object = (1,), offsets: object = (0, 4)) -> bytes:
    return json.dumps({"x": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}).encode()


def entries(*offsets: tuple[int, int]) -> bytes:
    """Return a header of tensors of bytes, one for each two offsets."""
    listed = enumerate(offsets)
    return json.dumps(
        {f"x{n}": {"dtype": "U8", "shape": [e - b], "data_offsets": [b, e]} for n, (b, e) in listed}
    ).encode()


def npy(x: np.ndarray, cut: int = 0, allow_pickle: bool = False) -> bytes:
    file = io.BytesIO()
    np.save(file, x, allow_pickle=allow_pickle)
    return file.getvalue()[: -cut or None]


BAD = {
    "empty.npy": (b"", "no array that NumPy saved"),
    "noise.npy": (b"\x00" * 500, "no array that NumPy saved"),
    "short.npy": (npy(NUMBERS, cut=10), "600,000 bytes of data, and 599,990 are there; copy or save the file again"),
    "objects.npy": (npy(np.array([{}]), allow_pickle=True), "holds Python objects, which are no real numbers"),
    "complex.npy": (npy(np.array([1j])), "holds dtype complex128"),
    "text.npy": (npy(np.array(["a"])), "holds dtype <U1"),
    "huge.npy": (npy(np.zeros(1)).replace(b"(1,), }", b"(10**18,), }"), "no array that NumPy saved"),
    "vast.npy": (npy(np.zeros(1)).replace(b"(1,), }      ", b"(9999999,), }"), "79,999,992 bytes of data, and 8 are"),
    "open.npy": (npy(np.zeros(1)).replace(b"(1,), }", b"(1,),  "), "no array that NumPy saved"),
    "deep.npy": (npy(np.zeros(1)).replace(b"(1,), }" + b" " * 50, b"(" * 57), "no array that NumPy saved"),
    "minus.npy": (npy(np.zeros(1)).replace(b"(1,)", b"(-1,)"), "its shape is (-1,), which no array has"),
    "fields.npy": (npy(np.zeros(1, "f4,i4")), "holds fields with names; save each field as an array of its own"),
    "fields 3.npy": (npy(np.zeros(1, "f4,i4")).replace(b"Y\x01", b"Y\x03"), "holds fields with names"),
    "raw.npy": (npy(np.zeros(3, ml_dtypes.bfloat16)), "2 raw bytes an element, as NumPy stores BF16 and FP8 without"),
    "dates.npy": (npy(np.zeros(3, "M8[D]")), "holds dtype datetime64[D], which are no real numbers; save these as"),
    "empty.npz": (b"", "no archive that NumPy saved"),
    "noise.npz": (b"PK\x03\x04" + b"\x00" * 500, "no archive that NumPy saved"),
    "empty.safetensors": (b"", "its header should have"),
    "long.safetensors": (header(b"{}", length=2**63), "its header should have 9,223,372,036,854,775,808 bytes"),
    "noise.safetensors": (header(b"\xff\xfe"), "its header isn't what the format asks for"),
    "list.safetensors": (header(b"[]"), "its header isn't what the format asks for"),
    "deep.safetensors": (header(b"[" * 100_000), "its header isn't what the format asks for"),
    "bare.safetensors": (header(b'{"x": 3}'), "x lacks a dtype, a shape or two offsets"),
    "kind.safetensors": (header(entry("Q4"), b"1234"), "x has dtype 'Q4', and can be read as F64"),
    "list kind.safetensors": (header(entry(["F32"]), b"1234"), "x lacks a dtype"),
    "minus.safetensors": (header(entry(offsets=(-4, 0)), b"1234"), "x lacks a dtype, a shape or two offsets"),
    "true.safetensors": (header(entry(shape=(True,)), b"1234"), "x lacks a dtype, a shape or two offsets"),
    "beyond.safetensors": (header(entry(offsets=(4, 8)), b"1234"), "which can't be"),
    "size.safetensors": (header(entry(shape=(2,)), b"12345678"), "which can't be"),
    "vast.safetensors": (header(entry(shape=(2**62, 2**62)), b"1234"), "which no array has"),
    "overlap.safetensors": (header(entries((0, 3), (2, 4)), b"1234"), "two of its tensors share the bytes"),
    "hole.safetensors": (header(entries((0, 1), (2, 4)), b"1234"), "belong to no tensor"),
    "tail.safetensors": (
        header(entries((0, 1), (1, 3)), b"1234"),
        "belong to no tensor; copy or save the file again",
    ),
    "twice.safetensors": (header(entry()[:-1] + b", " + entry()[1:], b"1234"), "a name comes twice"),
    "digits.safetensors": (header(b'{"x": ' + b"9" * 9000 + b"}"), "its header isn't what the format asks for"),
    "axes.safetensors": (header(entry(shape=(2**62,) * 10_000), b"1234"), "which no array has"),
    "line\nfeed.safetensors": (header(b'{"a\\nb": 3}'), "a\\nb lacks a dtype"),
    "x.txt": (b"1 2 3", "the name should end in .npy, .npz, .safetensors"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_gets_one_clear_line(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    data, message = BAD[name]
    path = tmp_path / name
    path.write_bytes(data)
    assert main(["census", str(path)]) == 2
    found = capsys.readouterr()
    assert found.out == "" and found.err.count("\n") == 1
    assert str(path).replace("\n", "\\n") in found.err and message in found.err


def test_damage_inside_an_archive_is_found_when_its_turn_comes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, x=NUMBERS)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    assert main(["census", str(path)]) == 2
    assert "the data can't be read" in capsys.readouterr().err
    with zipfile.ZipFile(tmp_path / "objects.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert main(["census", str(tmp_path / "objects.npz")]) == 2
    assert "readme.txt is no array that NumPy saved" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["npy", "npz", "compressed npz", "bzip2 npz", "lzma npz", "safetensors"])
def test_any_damage_gives_numbers_or_an_error_of_one_line(tmp_path: Path, kind: str) -> None:
    x = np.arange(12, dtype=np.float32)
    path, rng = tmp_path / f"x.{kind.split()[-1]}", np.random.default_rng(len(kind))
    if kind == "npy":
        np.save(path, x)
    elif kind == "safetensors":
        safetensors.numpy.save_file({"x": x, "y": x[:3]}, path)
    else:
        methods = {"npz": 0, "compressed npz": 8, "bzip2 npz": 12, "lzma npz": 14}
        with zipfile.ZipFile(path, "w", methods[kind]) as archive:
            archive.writestr("x.npy", npy(x))
    good = path.read_bytes()
    for length in range(0, len(good), 11):
        path.write_bytes(good[:length])
        with pytest.raises(ValueError, match=rf"^.*x\.{kind.split()[-1]}[^\n]*again$"):
            read_all(path)
    refused = 0
    for _ in range(80):
        data = bytearray(good)
        for place in rng.integers(min(len(good), 400), size=rng.integers(1, 4)):
            data[place] = rng.integers(256)
        path.write_bytes(data)
        try:
            read_all(path)
        except ValueError as error:
            assert str(path) in str(error) and "\n" not in str(error)
            refused += 1
    assert refused > 30


def read_all(path: Path) -> int:
    return sum(block.size for tensor in read_tensors(path) for block in tensor.blocks())


def test_a_stored_number_that_was_changed_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, x=NUMBERS)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"x\.npz: the data can't be read \(Bad CRC-32"):
        read_all(path)


def test_what_cannot_be_read_does_not_keep_others_from_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, words=np.array(["a"]), w=NUMBERS)
    assert main(["census", str(path)]) == 2
    assert "words holds dtype <U1, which are no real numbers" in capsys.readouterr().err
    assert main(["census", str(path), "--tensor", "w"]) == 0
    assert capsys.readouterr().out.startswith("w: 150,000 numbers")
    path = tmp_path / "x.safetensors"
    names = {"q": {"dtype": "F4", "shape": [4], "data_offsets": [0, 2]}}
    names |= {"w": {"dtype": "U8", "shape": [1], "data_offsets": [2, 3]}}
    path.write_bytes(header(json.dumps(names).encode(), b"123"))
    assert main(["census", str(path), "--tensor", "w"]) == 0
    assert main(["census", str(path)]) == 2
    assert "q has dtype 'F4', and can be read as F64" in capsys.readouterr().err


def test_names_that_are_no_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder.npy").mkdir()
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "loop.npy").symlink_to("loop.npy")
    for name, message in (
        ("folder.npy", "is a folder; name the file in it"),
        ("gone.npz", "doesn't exist; check the name and the folder"),
        ("ga\nrba\udcffge.npy", r"ga\nrba\udcffge.npy doesn't exist"),
        ("pipe.npy", "is no ordinary file; copy its contents to one"),
        ("loop.npy", "doesn't exist"),
        ("x" * 300 + ".npy", "can't be read: File name too long"),
        ("", "is a folder"),
    ):
        assert main(["census", str(tmp_path / name)]) == 2
        found = capsys.readouterr().err
        assert message in found and found.count("\n") == 1


def test_strange_names_are_shown_and_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "n\udcff\x1b[31m.npz"
    np.savez(path, **{"0": NUMBERS, "-1": NUMBERS[:2], "a\x1bb": NUMBERS[:1]})
    for name, count in (("0", "150,000"), ("-1", "1,000"), ("a\x1bb", "500"), (r"a\x1bb", "500")):
        assert main(["census", str(path), f"--tensor={name}"]) == 0
        assert f": {count} numbers" in capsys.readouterr().out
    assert main(["census", str(path), "--tensor", "0", "--html", str(tmp_path / "page.html"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == str(path)
    assert r"Census of n\udcff\x1b[31m.npz" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert main(["census", str(path)]) == 0
    assert r"a\x1bb: 500 numbers" in capsys.readouterr().out
    assert main(["census", str(path), "--tensor", "\x1b"]) == 2
    assert (
        capsys.readouterr().err == rf"{tmp_path}/n\udcff\x1b[31m.npz has no tensor '\x1b'; there are: 0, -1, a\x1bb"
        "\n"
    )


def test_an_unknown_tensor_among_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.safetensors"
    safetensors.numpy.save_file({f"layers.{n}.weight": NUMBERS[:1] for n in range(80)}, path)
    assert main(["census", str(path), "--tensor", "layer.7.weight"]) == 2
    found = capsys.readouterr().err
    assert "did you mean layers.7.weight? There are: layers.0.weight, " in found and " and 30 more\n" in found


def test_one_tensor_can_be_chosen_and_json_is_plain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x y.npz"
    np.savez(path, a=np.array([1.0, 1e-9, np.inf]), b=NUMBERS)
    assert main(["census", str(path), "--tensor", "a", "--json", "--format", "fp16", "--format", "E4M3"]) == 0
    found = json.loads(capsys.readouterr().out)
    (tensor,) = found["tensors"]
    assert (tensor["name"], tensor["shape"], tensor["dtype"], tensor["infinities"]) == ("a", [3], "float64", 1)
    assert [row["format"] for row in tensor["formats"]] == ["FP16", "E4M3"]
    assert tensor["formats"][0]["zeroed"] == 0.5
    assert main(["census", str(path)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("a: 3 numbers") and "\n\nb: 150,000 numbers" in text
    assert main(["census", str(path), "--tensor", "c"]) == 2
    assert "has no tensor 'c'; there are: a, b" in capsys.readouterr().err
    assert main(["census", str(path), "--format", "e9"]) == 2
    assert "unknown format 'e9'" in capsys.readouterr().err


def test_the_page_is_written_with_its_title_escaped(tmp_path: Path) -> None:
    path = tmp_path / "<i>.npy"
    np.save(path, NUMBERS)
    assert main(["census", str(path), "--html", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<i>" not in page and "&lt;i&gt;" in page and page.count("<tr>") == 1 + len(nf.census([1.0]).formats)


def test_a_page_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.npy"
    np.save(path, NUMBERS)
    before = path.read_bytes()
    for page, message in (
        (path, "it is the file to be read"),
        (tmp_path, "it is a folder"),
        (path / "a" / "b", "no such"),
    ):
        assert main(["census", str(path), "--html", str(page)]) == 2
        found = capsys.readouterr()
        assert found.out == "" and message in found.err and "name another file after --html" in found.err
    assert path.read_bytes() == before


def test_a_reader_that_leaves_early_and_one_without_unicode(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, **{f"\u6743\u91cd{n}": NUMBERS[:1] for n in range(60)})
    command = [sys.executable, "-m", "numfmt", "census", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert (process.stderr.read(), process.wait(timeout=30)) == (b"", 141)
    run = subprocess.run(
        [*command, "--tensor", "\u6743\u91cd3"], capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}
    )
    assert run.stdout.startswith(rb"\u6743\u91cd3: 500 numbers") and run.stderr == b""


def test_blocks_of_large_files_are_all_that_is_held(tmp_path: Path) -> None:
    x = np.zeros(2**22, np.float32)  # 16 MiB
    np.savez_compressed(tmp_path / "x.npz", x=x)
    safetensors.numpy.save_file({"x": x}, tmp_path / "x.safetensors")
    for name in ("x.npz", "x.safetensors"):
        (tensor,) = read_tensors(tmp_path / name)
        tracemalloc.start()
        assert sum(block.size for block in tensor.blocks()) == x.size
        assert tracemalloc.get_traced_memory()[1] < 2**21
        tracemalloc.stop()


def test_a_file_larger_than_the_memory_it_may_use(tmp_path: Path) -> None:
    path = tmp_path / "large.npy"
    size = 2**25  # 128 MiB of float32, mostly a hole in the file
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(size,))
    file[:10] = 1.0
    del file
    code = (
        "import resource, sys; from numfmt.__main__ import main\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "main(['census', sys.argv[1], '--format', 'e4m3'])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert "33,554,432 numbers: 33,554,422 zeros" in run.stdout
    assert int(run.stdout.splitlines()[-1]) < 32 * 1024  # KiB


def test_only_long_work_that_someone_watches_has_a_progress_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, **{"[/] [bold]": NUMBERS})
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert main(["census", str(path)]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("numfmt._census_command._LONG", 1)
    assert main(["census", str(path)]) == 0
    assert "[/] [bold]" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "rich.progress", None)  # as if rich were not installed
    assert main(["census", str(path)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_a_progress_bar_is_drawn_for_those_who_watch_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "long.npy"
    np.save(path, np.ones(20_000_000, np.float32))
    command = [sys.executable, "-m", "numfmt", "census", str(path)]
    leader, follower = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=follower, start_new_session=True) as process:
        os.close(follower)
        seen = b""
        while b"%" not in seen:
            seen += os.read(leader, 4096)
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 130
    seen += os.read(leader, 65536)
    assert b"long" in seen and b"interrupted" in seen and b"Traceback" not in seen
    os.close(leader)
