"""The leak gate: a secret planted in any place of a bundle is found there, and an honest bundle passes."""

from __future__ import annotations

import base64
import html
import io
import json
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any
from urllib.parse import quote

import nbformat
import numpy as np
import pytest

from autograder.releasing.leakgate import Leak, find_leaks
from autograder.releasing.manifest import MANIFEST
from autograder.releasing.secrets import collect_secrets
from tests.autograder.bundle_parts import list_again, mini_bundle
from tests.mini_course import CATALOGUE, SECTION

SOLUTION = "return sum([number, number])"
TOP_LEVEL = "seven_squared_minus_42 = int(math.pow(7, 2)) - 42"
HIDDEN = "assert seven_squared_minus_42 * 1000 == 7_000"
WRONG = "return number + 2"
NOTEBOOK = f"{SECTION}/{SECTION}.ipynb"

Plant = Callable[[Path], None]


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    course, bundle = mini_bundle(tmp_path_factory.mktemp("bundle"))
    return collect_secrets(course), bundle


@pytest.fixture
def secrets(clean: tuple[Any, Path]) -> Any:
    return clean[0]


@pytest.fixture
def bundle(clean: tuple[Any, Path], tmp_path: Path) -> Path:
    return copytree(clean[1], tmp_path / "bundle")


def b64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def notebook(change: Callable[[Any], None], name: str = NOTEBOOK) -> Plant:
    """Change a notebook of the bundle as plain JSON."""

    def plant(bundle: Path) -> None:
        data = json.loads((bundle / name).read_text())
        change(data)
        (bundle / name).write_text(json.dumps(data))

    return plant


def cell(number: int, **parts: Any) -> Plant:
    return notebook(lambda data: data["cells"][number - 1].update(parts))


def output(**mime: Any) -> Plant:
    shown = {
        "output_type": "display_data",
        "metadata": {},
        "data": {key.replace("__", "/"): mime[key] for key in mime},
    }
    return cell(2, outputs=[shown])


def file(name: str, content: str | bytes) -> Plant:
    def plant(bundle: Path) -> None:
        (bundle / name).parent.mkdir(parents=True, exist_ok=True)
        (bundle / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return plant


def append(name: str, content: str) -> Plant:
    return lambda bundle: file(name, (bundle / name).read_text() + content)(bundle)


def array(values: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array(values))
    return stream.getvalue()


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    parts = [(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)), *chunks]
    parts += [(b"IDAT", zlib.compress(b"\0\0")), (b"IEND", b"")]
    body = b"".join(struct.pack(">I", len(d)) + n + d + struct.pack(">I", zlib.crc32(n + d)) for n, d in parts)
    return b"\x89PNG\r\n\x1a\n" + body


def attachment(mime: str, content: bytes) -> Plant:
    return cell(1, attachments={"figure": {mime: b64(content)}})


def leaks_after(plant: Plant, bundle: Path, secrets: Any) -> tuple[Leak, ...]:
    plant(bundle)
    list_again(bundle)
    return find_leaks(bundle, secrets)


def test_an_honest_bundle_passes(bundle: Path, secrets: Any) -> None:
    assert find_leaks(bundle, secrets) == ()


def test_harmless_additions_pass(bundle: Path, secrets: Any) -> None:
    file(f"{SECTION}/data.npy", array([1.5, 2.5]))(bundle)
    file(f"{SECTION}/names.npy", array(["alpha", "beta"]))(bundle)
    file(f"{SECTION}/images/line.png", png((b"tEXt", b"Software\0a plotting library")))(bundle)
    file(f"{SECTION}/table.csv", "a,b\n1,2\n")(bundle)
    attachment("image/png", png())(bundle)
    assert leaks_after(cell(2, metadata={"tags": ["hide"]}), bundle, secrets) == ()


ANSWERS = [
    pytest.param(SOLUTION, "solution", f"line 1 of {SECTION}/double", id="solution"),
    pytest.param(TOP_LEVEL, "solution", f"line 1 of {SECTION}/seven", id="value"),
    pytest.param(HIDDEN, "hidden test", f"line 1 of {SECTION}/seven", id="hidden-test"),
    pytest.param(WRONG, "wrong answer", f"line 2 of {SECTION}/double (adds_two)", id="wrong-answer"),
]


@pytest.mark.parametrize(("line", "kind", "owner"), ANSWERS)
def test_each_kind_of_secret_is_named_but_not_repeated(
    line: str, kind: str, owner: str, bundle: Path, secrets: Any
) -> None:
    (leak,) = leaks_after(file(f"{SECTION}/notes.txt", line), bundle, secrets)
    assert (leak.file, leak.place, leak.kind) == (f"{SECTION}/notes.txt", "line 1", kind)
    assert leak.detail.startswith(f"{owner}.") and "public" in leak.detail
    assert line not in str(leak)


PLACES: list[Any] = [
    pytest.param(cell(1, source=f"Hm:\n\n    {SOLUTION}"), NOTEBOOK, "cell 1 (title), source, line 3", id="markdown"),
    pytest.param(
        cell(2, source=["import math\n", SOLUTION]), NOTEBOOK, "cell 2 (imports), source, line 2", id="code"
    ),
    pytest.param(
        cell(2, source=["return sum([num", "ber, number])"]), NOTEBOOK, "cell 2 (imports), source", id="split-strings"
    ),
    pytest.param(
        cell(5, metadata={"nbgrader": {"grade_id": "seven"}, "note": SOLUTION}),
        NOTEBOOK,
        "cell 5 (seven), metadata.note",
        id="cell-metadata",
    ),
    pytest.param(
        cell(2, metadata={SOLUTION: 1}), NOTEBOOK, f"cell 2 (imports), metadata.{SOLUTION}", id="metadata-key"
    ),
    pytest.param(
        cell(2, metadata={"tags": ["x", SOLUTION]}), NOTEBOOK, "cell 2 (imports), metadata.tags, line 2", id="tags"
    ),
    pytest.param(
        notebook(lambda data: data["metadata"].update(widgets={"state": [{"v": SOLUTION}]})),
        NOTEBOOK,
        "metadata.widgets.state[0], v",
        id="notebook-metadata",
    ),
    pytest.param(output(text__plain=SOLUTION), NOTEBOOK, "cell 2 (imports), output 1, data.text/plain", id="output"),
    pytest.param(
        output(text__html=f"<pre>{html.escape(SOLUTION)}</pre>"),
        NOTEBOOK,
        "cell 2 (imports), output 1, data.text/html",
        id="html-output",
    ),
    pytest.param(
        output(text__html="<b>return</b> <i>sum</i>([<i>number</i>, <i>number</i>])"),
        NOTEBOOK,
        "cell 2 (imports), output 1, data.text/html, in HTML",
        id="highlighted-html-output",
    ),
    pytest.param(
        output(text__html=f'<a href="data:text/plain;base64,{b64(SOLUTION)}">'),
        NOTEBOOK,
        "cell 2 (imports), output 1, data.text/html, in base64",
        id="base64-in-html-output",
    ),
    pytest.param(
        output(application__json={"deep": [{"er": SOLUTION}]}),
        NOTEBOOK,
        "cell 2 (imports), output 1, data.application/json.deep[0], er",
        id="json-output",
    ),
    pytest.param(
        cell(2, outputs=[{"output_type": "stream", "name": "stdout", "text": ["a\n", SOLUTION]}]),
        NOTEBOOK,
        "cell 2 (imports), output 1, text, line 2",
        id="stream-output",
    ),
    pytest.param(
        attachment("image/svg+xml", f"<svg><text>{SOLUTION}</text></svg>".encode()),
        NOTEBOOK,
        "cell 1 (title), attachment figure",
        id="svg-attachment",
    ),
    pytest.param(
        attachment("image/png", png((b"tEXt", b"Comment\0" + SOLUTION.encode()))),
        NOTEBOOK,
        "cell 1 (title), attachment figure, line 2",
        id="png-attachment",
    ),
    pytest.param(file(f"{SECTION}/notes.txt", f"1\n{SOLUTION}"), f"{SECTION}/notes.txt", "line 2", id="extra-file"),
    pytest.param(file(f"{SECTION}/{SECTION}.md", SOLUTION), f"{SECTION}/{SECTION}.md", "line 1", id="text-twin"),
    pytest.param(
        file(f"{SECTION}/wrong_answers.toml", CATALOGUE.replace(WRONG, SOLUTION)),
        f"{SECTION}/wrong_answers.toml",
        "line 16",
        id="catalogue",
    ),
    pytest.param(file(f"{SECTION}/{SOLUTION}.txt", ""), f"{SECTION}/{SOLUTION}.txt", "file name", id="file-name"),
    pytest.param(
        file(f"{SECTION}/names.npy", array(["alpha", SOLUTION])),
        f"{SECTION}/names.npy",
        "elements, line 2",
        id="npy-text",
    ),
    pytest.param(
        file(f"{SECTION}/codes.npy", array(list(SOLUTION.encode()))),
        f"{SECTION}/codes.npy",
        "elements",
        id="npy-codes",
    ),
    pytest.param(
        file(f"{SECTION}/record.npy", array(np.zeros(1, dtype=[(SOLUTION, "u1")]))),
        f"{SECTION}/record.npy",
        "fields",
        id="npy-field-name",
    ),
    pytest.param(
        file(f"{SECTION}/figure.png", png((b"tEXt", b"Comment\0" + SOLUTION.encode()))),
        f"{SECTION}/figure.png",
        "tEXt, line 2",
        id="png-text",
    ),
    pytest.param(
        file(f"{SECTION}/checks.json", json.dumps({"exercises": {"double": {"hint": SOLUTION}}})),
        f"{SECTION}/checks.json",
        "exercises.double.hint",
        id="checks",
    ),
    pytest.param(append("README.md", SOLUTION), "README.md", None, id="readme"),
    pytest.param(append("numfmt/deep/inner.py", f"    {SOLUTION}\n"), "numfmt/deep/inner.py", "line 3", id="library"),
    pytest.param(
        append("binder/requirements.txt", f"# {SOLUTION}"), "binder/requirements.txt", "line 3", id="binder"
    ),
    pytest.param(
        notebook(lambda data: data["cells"][0].update(source=SOLUTION), "welcome.ipynb"),
        "welcome.ipynb",
        "cell 1 (welcome-1), source",
        id="welcome-page",
    ),
]


@pytest.mark.parametrize(("plant", "name", "place"), PLACES)
def test_a_solution_line_is_found_wherever_it_is_planted(
    plant: Plant, name: str, place: str | None, bundle: Path, secrets: Any
) -> None:
    leaks = leaks_after(plant, bundle, secrets)
    found = [leak for leak in leaks if leak.kind == "solution" and leak.file != MANIFEST]
    assert {leak.file for leak in found} == {name}
    if place is not None:
        # A line in HTML is found as it stands or decoded, as its characters want it.
        assert any(leak.place == place or leak.place.startswith(f"{place}, in ") for leak in found), found


ENCODINGS = [
    ("tabs and spaces", "return\tsum( [number ,number] )", "line 1"),
    ("two lines", "return sum(\n    [number, number]\n)", "line 1"),
    ("no-break spaces", SOLUTION.replace(" ", "\u00a0"), "line 1"),
    ("zero-width spaces", SOLUTION.replace("m", "m\u200b"), "line 1"),
    ("full-width letters", SOLUTION.replace("sum", "ｓｕｍ"), "line 1"),
    ("HTML escapes", "".join(f"&#{ord(char)};" for char in SOLUTION), "text, in HTML escapes"),
    ("HTML tags", "return sum([<b>number</b>, number])", "text, in HTML"),
    ("URL escapes", quote(SOLUTION), "text, in URL escapes"),
    ("JSON escapes", json.dumps({"x": f"a\n{SOLUTION}"}), "line 1"),
    ("unicode escapes", "".join(f"\\u{ord(char):04x}" for char in SOLUTION), "text, in backslash escapes"),
    ("hex escapes", "".join(f"\\x{ord(char):02x}" for char in SOLUTION), "text, in backslash escapes"),
    ("base64", f"see {b64(SOLUTION)}.", "text, in base64"),
    (
        "base64 in lines",
        "\n".join(base64.encodebytes((SOLUTION * 9).encode()).decode().splitlines()),
        "text, in base64",
    ),
    ("base64 behind a word", f"data_{b64(SOLUTION)}", "text, in base64"),
    ("base64 for URLs", base64.urlsafe_b64encode(f"?>~{SOLUTION}?>~".encode()).decode(), "text, in base64"),
    ("base64 of UTF-16", b64(SOLUTION.encode("utf-16")), "text, in base64"),
    ("base64 twice", b64(b64(SOLUTION)), "text, in base64 in base64"),
    (
        "base64 of JSON",
        b64(json.dumps("".join(f"\\u{ord(c):04x}" for c in SOLUTION))),
        "text, in base64",
    ),
]


@pytest.mark.parametrize(("text", "place"), [pytest.param(*rest, id=name) for name, *rest in ENCODINGS])
def test_a_disguised_line_is_found(text: str, place: str, bundle: Path, secrets: Any) -> None:
    leaks = leaks_after(file(f"{SECTION}/notes.txt", text), bundle, secrets)
    assert [leak.kind for leak in leaks] == ["solution"]
    assert leaks[0].place.startswith(place)


@pytest.mark.parametrize("quoting", ['"', "'"])
def test_quotes_of_the_other_kind_are_no_disguise(quoting: str, bundle: Path, secrets: Any) -> None:
    line = 'assert double(2**70) == 2**71, "double fails on a large number"'.replace('"', quoting)
    leaks = leaks_after(file(f"{SECTION}/notes.txt", line), bundle, secrets)
    assert [leak.kind for leak in leaks] == ["hidden test"]


FORBIDDEN: list[Any] = [
    pytest.param(cell(1, source="### BEGIN SOLUTION"), NOTEBOOK, "marker", id="solution-marker"),
    pytest.param(cell(2, source="# END HIDDEN TESTS"), NOTEBOOK, "marker", id="hidden-tests-marker"),
    pytest.param(append("README.md", b64("### BEGIN HIDDEN TESTS")), "README.md", "marker", id="encoded-marker"),
    pytest.param(output(text__plain="7"), NOTEBOOK, "stored output", id="output"),
    pytest.param(cell(2, execution_count=3), NOTEBOOK, "execution count", id="execution-count"),
    pytest.param(file(f"{SECTION}/.notes", ""), f"{SECTION}/.notes", "hidden file", id="hidden-file"),
    pytest.param(file(".git/config", ""), ".git/config", "hidden file", id="hidden-folder"),
    pytest.param(file(f"{SECTION}/{SECTION}.md", ""), f"{SECTION}/{SECTION}.md", "text twin", id="text-twin"),
    pytest.param(
        file(f"{SECTION}/wrong_answers.toml", ""),
        f"{SECTION}/wrong_answers.toml",
        "catalogue of wrong answers",
        id="toml",
    ),
    pytest.param(file(f"{SECTION}/all.zip", b"PK\3\4"), f"{SECTION}/all.zip", "archive", id="archive"),
    pytest.param(file(f"{SECTION}/two.npz", b"PK\3\4"), f"{SECTION}/two.npz", "archive", id="npz"),
    pytest.param(file(f"{SECTION}/solved.ipynb", "{}"), f"{SECTION}/solved.ipynb", "unknown notebook", id="notebook"),
    pytest.param(file(f"{SECTION}/model.bin", b"\1"), f"{SECTION}/model.bin", "unknown kind of file", id="binary"),
    pytest.param(file(f"{SECTION}/help.py", ""), f"{SECTION}/help.py", "unknown kind of file", id="program"),
    pytest.param(file("notes.txt", ""), "notes.txt", "unknown kind of file", id="file-at-the-root"),
    pytest.param(file(f"{SECTION}/a.txt", b"\xff\xfe"), f"{SECTION}/a.txt", "unreadable", id="not-utf-8"),
    pytest.param(file(f"{SECTION}/a.txt", b"a\0b"), f"{SECTION}/a.txt", "unreadable", id="binary-text"),
    pytest.param(
        file(f"{SECTION}/checks.json", '{"a": 1, "a": 2}'), f"{SECTION}/checks.json", "unreadable", id="twins"
    ),
    pytest.param(file(NOTEBOOK, "{"), NOTEBOOK, "unreadable", id="broken-notebook"),
    pytest.param(file(NOTEBOOK, '{"cells": [7], "nbformat": 4}'), NOTEBOOK, "unreadable", id="no-notebook"),
    pytest.param(file(f"{SECTION}/a.npy", b"PK\3\4"), f"{SECTION}/a.npy", "unreadable", id="npz-as-npy"),
    pytest.param(file(f"{SECTION}/a.npy", array([{}])), f"{SECTION}/a.npy", "unreadable", id="pickle"),
    pytest.param(file(f"{SECTION}/a.npy", array([1]) + b"!"), f"{SECTION}/a.npy", "unreadable", id="more-than-npy"),
    pytest.param(file(f"{SECTION}/a.png", b"GIF89a"), f"{SECTION}/a.png", "unreadable", id="no-png"),
    pytest.param(file(f"{SECTION}/a.png", png()[:-9]), f"{SECTION}/a.png", "unreadable", id="half-a-png"),
    pytest.param(file(f"{SECTION}/a.png", png() + b"PK"), f"{SECTION}/a.png", "unreadable", id="more-than-png"),
    pytest.param(
        file(f"{SECTION}/a.png", png((b"zTXt", b"a\0\0" + zlib.compress(b"b")))),
        f"{SECTION}/a.png",
        "unreadable",
        id="zTXt",
    ),
    pytest.param(
        attachment("text/html", b"<p>"), NOTEBOOK, "attachment of unknown kind (text/html)", id="html-attachment"
    ),
    pytest.param(attachment("image/png", b"GIF89a"), NOTEBOOK, "unreadable", id="attachment-no-png"),
]


@pytest.mark.parametrize(("plant", "name", "kind"), FORBIDDEN)
def test_what_may_not_be_there_is_refused_whatever_it_says(
    plant: Plant, name: str, kind: str, bundle: Path, secrets: Any
) -> None:
    leaks = leaks_after(plant, bundle, secrets)
    assert {(leak.file, leak.kind) for leak in leaks} == {(name, kind)} | (
        {(name, "unknown kind of file")} if kind == "hidden file" else set()
    )


def test_links_are_refused_and_not_followed(bundle: Path, secrets: Any, tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "notes.txt").write_text(SOLUTION)
    (bundle / SECTION / "notes.txt").symlink_to(tmp_path / "answers" / "notes.txt")
    (bundle / SECTION / "folder").symlink_to(tmp_path / "answers")
    (bundle / SECTION / "nowhere.txt").symlink_to(tmp_path / "nowhere")
    leaks = find_leaks(bundle, secrets)
    linked = {leak.file for leak in leaks if leak.kind == "link"}
    assert linked == {f"{SECTION}/{name}" for name in ("notes.txt", "folder", "nowhere.txt")}
    assert all(leak.kind != "solution" for leak in leaks)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_refused_without_reading_it(bundle: Path, secrets: Any) -> None:
    os.mkfifo(bundle / SECTION / "notes.txt")
    kinds = {leak.kind for leak in find_leaks(bundle, secrets)}
    assert kinds == {"link", "unlisted file"}


def test_the_bundle_must_agree_with_its_manifest(bundle: Path, secrets: Any) -> None:
    (bundle / SECTION / "extra.txt").write_text("harmless")
    (bundle / "LICENSE").write_text("another one")
    (bundle / "binder" / "runtime.txt").unlink()
    found = {(leak.file, leak.kind) for leak in find_leaks(bundle, secrets)}
    assert found == {
        (f"{SECTION}/extra.txt", "unlisted file"),
        ("LICENSE", "changed file"),
        ("binder/runtime.txt", "missing file"),
    }


@pytest.mark.parametrize("content", ["", "[]", '{"kind": "something else", "files": {}}'])
def test_a_bundle_without_a_manifest_of_ours_is_refused(content: str, bundle: Path, secrets: Any) -> None:
    (bundle / "manifest.json").write_text(content)
    assert ("manifest.json", "manifest") in {(leak.file, leak.kind) for leak in find_leaks(bundle, secrets)}


def test_secrets_in_the_manifest_are_found(bundle: Path, secrets: Any) -> None:
    data = json.loads((bundle / "manifest.json").read_text())
    (bundle / "manifest.json").write_text(json.dumps(data | {"note": SOLUTION}))
    assert [(leak.file, leak.place) for leak in find_leaks(bundle, secrets)] == [("manifest.json", "note")]


def test_several_lines_in_one_place_are_one_leak(bundle: Path, secrets: Any) -> None:
    text = 'assert double(2**70) == 2**71, "double fails on a large number"'
    nb = nbformat.read(bundle / NOTEBOOK, as_version=4)
    nb.cells[0].source = f"{text} {SOLUTION} {text}"
    nbformat.write(nb, bundle / NOTEBOOK)
    list_again(bundle)
    assert sorted(leak.kind for leak in find_leaks(bundle, secrets)) == ["hidden test", "solution"]
