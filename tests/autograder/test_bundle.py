"""What is in the student bundle, and that it says the truth about itself."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.errors import CourseError
from autograder.releasing.assemble import FOR_BINDER, assemble
from autograder.releasing.plan import PLAN
from autograder.releasing.welcome import Contents, readme, welcome_page
from tests.autograder.bundle_parts import mini_bundle, mini_project
from tests.mini_course import SECTION, mini_course, mini_master

INTEGERS = Contents("01_integers", "Integers", 11, 24)


def whole_text(notebook: NotebookNode) -> str:
    return "\n".join(cell.source for cell in notebook.cells)


def test_the_bundle_holds_this_and_nothing_else(tmp_path: Path) -> None:
    _, bundle = mini_bundle(tmp_path)
    found = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    assert found == {
        "README.md",
        "LICENSE",
        "pyproject.toml",
        "manifest.json",
        "welcome.ipynb",
        "binder/course.lock",
        "binder/requirements.txt",
        "binder/runtime.txt",
        "binder/labconfig/default_setting_overrides.json",
        "binder/labconfig/page_config.json",
        "binder/postBuild",
        "binder/start",
        "numfmt/__init__.py",
        "numfmt/deep/__init__.py",
        "numfmt/deep/inner.py",
        "numfmt/py.typed",
        f"{SECTION}/{SECTION}.ipynb",
        f"{SECTION}/checks.json",
    }


def test_the_manifest_lists_every_file_with_its_checksum(tmp_path: Path) -> None:
    _, bundle = mini_bundle(tmp_path)
    manifest = json.loads((bundle / "manifest.json").read_text())
    found = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    assert set(manifest["files"]) == found - {"manifest.json"}
    for name, sha256 in manifest["files"].items():
        assert sha256 == hashlib.sha256((bundle / name).read_bytes()).hexdigest()
    assert manifest["version"] == "7.8.9"
    assert manifest["sections"] == [{"name": SECTION, "exercises": 2, "points": 3.0}]


def test_the_same_course_gives_the_same_bytes(tmp_path: Path) -> None:
    course = mini_course(tmp_path / "course")
    project = mini_project(tmp_path / "project")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assemble(course, [SECTION], tmp_path / name, project)
    assert (tmp_path / "one" / "manifest.json").read_bytes() == (tmp_path / "two" / "manifest.json").read_bytes()


def test_binder_files_are_those_of_the_checkout_but_for_what_follows_the_installation(tmp_path: Path) -> None:
    _, bundle = mini_bundle(tmp_path)
    for name in FOR_BINDER:
        assert (bundle / "binder" / name).read_bytes() == (tmp_path / "project" / "binder" / name).read_bytes()
    for name in ("postBuild", "start"):
        assert os.access(bundle / "binder" / name, os.X_OK)
    assert "release" not in (bundle / "binder" / "postBuild").read_text()


@pytest.mark.parametrize(
    "missing", ["LICENSE", "binder/requirements.txt", "binder/course.lock", "src/numfmt/__init__.py"]
)
def test_a_missing_part_of_the_checkout_is_named(tmp_path: Path, missing: str) -> None:
    project = mini_project(tmp_path / "project")
    (project.root / missing).unlink()
    with pytest.raises(CourseError, match=re.escape(missing)):
        assemble(mini_course(tmp_path / "course"), [SECTION], tmp_path / "bundle", project)


def test_the_welcome_page_links_what_is_there_and_announces_the_rest() -> None:
    page = welcome_page([INTEGERS])
    nbformat.validate(page)
    text = whole_text(page)
    assert re.findall(r"\]\(([^)]*\.ipynb)\)", text) == ["01_integers/01_integers.ipynb"]
    assert "11 exercises, 24 points" in text
    rows = [line for line in text.splitlines() if re.match(r"\| \d ", line)]
    assert len(rows) == len(PLAN) == 6
    assert [("in preparation" in row) for row in rows] == [False, True, True, True, True, True]
    titles = ["Integers", "Floats", "Arithmetic pitfalls", "Mixed precision", "Quantization", "Choosing a format"]
    assert all(title in row for title, row in zip(titles, rows, strict=True))


def test_a_section_outside_the_plan_is_listed_under_its_own_title() -> None:
    contents = Contents.of(SECTION, mini_master())
    assert contents == Contents(SECTION, "A tiny section", 2, 3.0)
    assert "[**A tiny section**](01_mini/01_mini.ipynb)" in whole_text(welcome_page([contents]))


def test_every_link_of_readme_and_welcome_page_leads_to_a_file(tmp_path: Path) -> None:
    _, bundle = mini_bundle(tmp_path)
    text = (bundle / "README.md").read_text() + whole_text(nbformat.read(bundle / "welcome.ipynb", as_version=4))
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links and all((bundle / link).is_file() for link in links)
    named = re.findall(r"`((?:[\w.]+/)*[\w.]+(?:/|\.(?:md|ipynb|txt|toml|json)))`", text)
    assert named
    section = bundle / SECTION
    assert [name for name in named if not ((bundle / name).exists() or (section / name).exists())] == []


def test_no_placeholder_is_left_in_the_texts() -> None:
    assert "$" not in readme([INTEGERS])
    assert "$" not in whole_text(welcome_page([INTEGERS]))


def test_the_welcome_page_checks_the_set_up(capsys: pytest.CaptureFixture[str]) -> None:
    code, progress = [cell for cell in welcome_page([INTEGERS]).cells if cell.cell_type == "code"]
    exec(compile(progress.source, "welcome", "exec"), {})
    exec(compile(code.source, "welcome", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["python", sys.version.split()[0]]
    assert lines[-1].startswith("Ready")
    hidden = code.source.replace('"numpy"', '"no-such-package"')
    exec(compile(hidden, "welcome", "exec"), {})
    assert "no-such-package missing" in capsys.readouterr().out


@pytest.mark.slow
def test_the_library_installs_from_the_bundle(tmp_path: Path) -> None:
    _, bundle = mini_bundle(tmp_path)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", tmp_path / "site", bundle], check=True, timeout=120)
    program = "import numfmt, importlib.metadata as m; print(numfmt.nine(), m.version('numfmt-course'))"
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(tmp_path / "site")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["9", "7.8.9"]
    assert (tmp_path / "site" / "numfmt" / "py.typed").is_file()
