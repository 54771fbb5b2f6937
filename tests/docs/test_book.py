"""The book: built from what is there, whole, harmless, and readable on a phone, without a network and by ear."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Page, sync_playwright

from autograder.course import Course
from tools import book

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
LOOKED_AT = (
    "index.html",
    "lectures/02_floats.html",
    "lectures/05_quantization.html",
    "glossary.html",
    "api/codes.html",
)


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the book once, as `make book` does."""
    folder = tmp_path_factory.mktemp("book") / "html"
    made = subprocess.run(
        [sys.executable, "-m", "tools.book", "--to", str(folder)], cwd=ROOT, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    assert str(folder / "index.html") in made.stdout
    return folder


@pytest.fixture(scope="module")
def pages(html: Path) -> dict[str, BeautifulSoup]:
    found = sorted(html.rglob("*.html"))
    return {path.relative_to(html).as_posix(): BeautifulSoup(path.read_bytes(), "html.parser") for path in found}


@pytest.fixture
def page(chromium: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


def test_every_section_is_there_with_its_outputs(pages: dict[str, BeautifulSoup]) -> None:
    for section in Course.at(ROOT).sections:
        lecture = pages[f"lectures/{section}.html"]
        assert len(lecture.select("div.cell_output")) >= 20
        assert len(lecture.select("div.tag_exercise-cell")) >= 24
        assert not lecture.select("div.tag_exercise-cell div.cell_output")
        assert len(lecture.select("img")) >= 3


def test_no_solution_and_no_hidden_test_is_in_it(html: Path) -> None:
    assert book.leaks(Course.at(ROOT), html) == ()


def test_a_solution_in_a_page_is_found(html: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>return divmod(2 ** (index_bits - 1), columns)</p>", encoding="utf-8")
    assert [leak.file for leak in book.leaks(Course.at(ROOT), tmp_path)] == ["page.html"]


def test_exercises_lose_their_outputs_and_other_cells_get_theirs() -> None:
    shown = {"output_type": "stream", "name": "stdout", "text": "7\n"}
    mark = {"grade": False, "grade_id": "f_solution", "solution": True, "locked": False, "schema_version": 3}
    cells = [new_code_cell("print(7)", id="plain"), new_code_cell("f = 1", id="own", metadata={"nbgrader": mark})]
    student = new_notebook(cells=cells)
    master = copy.deepcopy(student)
    for cell in master.cells:
        cell.outputs = [shown]
    made = book.lecture(master, student)
    assert [cell.outputs for cell in made.cells] == [[shown], []]
    assert made.cells[1].metadata.tags == [book.EXERCISE]


def test_links_inside_lead_somewhere(pages: dict[str, BeautifulSoup], html: Path) -> None:
    checked = 0
    for name, soup in pages.items():
        for link in soup.select("a[href]"):
            parts = urlsplit(str(link["href"]))
            if parts.scheme or parts.netloc:
                continue
            target = (html / name).parent / unquote(parts.path) if parts.path else html / name
            assert target.is_file(), f"{name}: {link['href']}"
            if parts.fragment and target.suffix == ".html":
                there = pages[target.resolve().relative_to(html).as_posix()]
                assert there.find(id=unquote(parts.fragment)), f"{name}: {link['href']}"
            checked += 1
    assert checked > 1000


def test_every_picture_has_words(pages: dict[str, BeautifulSoup]) -> None:
    for name, soup in pages.items():
        for picture in soup.select("main img, article img"):
            assert len(str(picture.get("alt", ""))) > 60, name


def test_every_public_name_is_in_the_reference(pages: dict[str, BeautifulSoup]) -> None:
    import numfmt

    ids = {str(each["id"]) for soup in pages.values() for each in soup.select("dt[id]")}
    formats = {
        name for name in numfmt.__all__ if isinstance(getattr(numfmt, name), (numfmt.FloatFormat, numfmt.IntFormat))
    }
    assert {f"numfmt.{name}" for name in numfmt.__all__ if name not in formats} <= ids


@pytest.mark.browser
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_on_a_phone_without_a_network(name: str, html: Path, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto((html / name).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_is_accessible(name: str, scheme: str, html: Path, page: Page) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto((html / name).as_uri())
    found = Axe().run(page)
    assert found.response["passes"]
    problems = [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found.response["violations"]]
    assert problems == []
