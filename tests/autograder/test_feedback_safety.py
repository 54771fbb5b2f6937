"""Feedback pages are harmless whatever students wrote: nothing runs, loads, covers or leaves."""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from playwright.sync_api import Page, sync_playwright

from autograder.cli import main
from autograder.course import REPOSITORY
from autograder.feedback import CleanOutputs, FeedbackExporter
from autograder.markup import META, clean_html
from tests.autograder.submissions import hand_in
from tests.mini_course import SECTION, answered, mini_course

pytestmark = pytest.mark.slow

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

MARKUP = {
    "script": "<script>hit()</script>",
    "event": "<img src=x onerror=hit()>",
    "event of a picture": f'<img src="data:image/png;base64,{PIXEL}" onload="hit()">',
    "javascript link": "[read me](javascript:hit())",
    "javascript link in disguise": '<a href=" java\tscript:hit()">x</a>',
    "data link": "<a href='data:text/html,<script>hit()</script>'>x</a>",
    "svg": "<svg onload=hit()><script>hit()</script></svg>",
    "svg as a picture": '<img src=\'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="hit()"/>\'>',
    "frame": "<iframe srcdoc='<script>parent.hit()</script>'></iframe>",
    "object": "<object data='data:text/html,<script>hit()</script>'></object>",
    "refresh": "<meta http-equiv=refresh content='0;url=https://example.org/'>",
    "base": "<base href='https://example.org/'>",
    "form": "<form action='https://example.org/'><input name=password><button>Go</button></form>",
    "stylesheet": "<style>@import 'https://example.org/x.css'; .panel { display: none }</style>",
    "overlay": "<div style='position:fixed;inset:0;background:white;z-index:9'>Score: 100 / 100</div>",
    "picture of the network": "<img src='https://example.org/seen.png'>",
    "picture in a style": "<p style='background:url(https://example.org/seen.png)'>x</p>",
    "class of the page": "<div class='navbar-fixed-top alert alert-success'>Score: 100</div>",
    "comment": "<!--><script>hit()</script>-->",
    "unclosed": "<img src='data:image/png;base64,\"><script>hit()</script>",
    "mathml": "<math><mtext><table><mglyph><style><!--</style><img title='--><img src=1 onerror=hit()>'>",
    "noscript": "<noscript><p title='</noscript><img src=x onerror=hit()>'>",
    "tex": "$\\href{javascript:hit()}{x}$ $\\require{action}\\toggle{a}{b}\\endtoggle$",
}
OUTPUTS: dict[str, dict[str, Any]] = {
    "javascript": {"application/javascript": "hit()"},
    "svg": {"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg' onload='hit()'/>"},
    "latex": {"text/latex": "</div><script>hit()</script>"},
    "widget": {"application/vnd.jupyter.widget-view+json": {"model_id": "</script><script>hit()"}},
    "png that is none": {"image/png": '"><script>hit()</script>'},
    "html": {"text/html": "<img src=x onerror=hit()>"},
    "markdown": {"text/markdown": "<img src=x onerror=hit()>"},
    "plain": {"text/plain": "</pre><script>hit()</script>"},
}


def page_of(*cells: NotebookNode) -> str:
    notebook = new_notebook(cells=list(cells))
    return str(
        FeedbackExporter(preprocessors=[CleanOutputs], template_name="classic").from_notebook_node(notebook)[0]
    )


def shown(data: dict[str, Any]) -> NotebookNode:
    return new_code_cell("show()", outputs=[new_output("display_data", data=data)])


def dangers(page: str) -> list[str]:
    """Return what in a page could do something."""
    soup = BeautifulSoup(page.split("<body", 1)[1], "html.parser")
    bad = [
        "script",
        "iframe",
        "object",
        "embed",
        "meta",
        "base",
        "form",
        "input",
        "button",
        "style",
        "link",
        "svg",
        "math",
    ]
    found = [str(tag) for tag in soup.find_all(bad)]
    for tag in soup.find_all(True):
        for name, value in tag.attrs.items():
            text = " ".join(value) if isinstance(value, list) else value
            if name.startswith("on") or any(
                word in text.lower().replace("\t", "") for word in ("javascript:", "position", "url(")
            ):
                found.append(str(tag)[:200])
            if name in ("src", "href") and not text.startswith(("data:image/png", "#", "http")):
                found.append(str(tag)[:200])
            if name == "src" and text.startswith("http"):
                found.append(str(tag)[:200])
    return found


@pytest.mark.parametrize("text", MARKUP.values(), ids=MARKUP)
def test_markup_in_text_cells_is_harmless(text: str) -> None:
    page = page_of(new_markdown_cell(f"Before.\n\n{text}\n\nAfter."))
    assert dangers(page) == []
    assert "Before." in page


@pytest.mark.parametrize("data", OUTPUTS.values(), ids=OUTPUTS)
def test_outputs_are_harmless(data: dict[str, Any]) -> None:
    assert dangers(page_of(shown(data))) == []


def test_what_lectures_and_students_need_is_kept() -> None:
    text = "## Heading\n\n*so* `code` [link](https://example.org/a) <kbd>x</kbd>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    figure = {"text/html": f'<img alt="A figure" src="data:image/png;base64,{PIXEL}" style="max-width:100%">'}
    table = {"text/html": "<table><tr><td style='text-align:right;position:absolute'>7</td></tr></table>"}
    page = page_of(new_markdown_cell(text), shown(figure), shown({"image/png": PIXEL}), shown(table))
    soup = BeautifulSoup(page.split("<body", 1)[1], "html.parser")
    assert soup.find("h2").get_text().startswith("Heading") and soup.find("em").get_text() == "so"
    assert soup.find("a", href="https://example.org/a")["rel"] == ["noopener", "noreferrer"]
    assert soup.find("img", alt="A figure")["style"] == "max-width:100%"
    assert len(soup.find_all("img")) == 2 and len(soup.find_all("table")) == 2
    assert soup.find("td", style=True)["style"] == "text-align:right"


def test_control_and_direction_characters_are_shown_as_what_they_are() -> None:
    stream = new_output("stream", text="right\u202eleft\x00\x07 zero\u200bwidth")
    error = new_output("error", ename="E\u202e", evalue="x\x00", traceback=["\x1b[31mred\x1b[0m \u202e"])
    page = page_of(new_code_cell("x", outputs=[stream, error]))
    assert not any(each in page for each in "\u202e\x00\x07\u200b")
    assert "ansi-red-fg" in page and "right\N{REPLACEMENT CHARACTER}left" in page


def test_the_policy_stands_first_and_no_script_is_left() -> None:
    page = page_of(new_markdown_cell("x"))
    head = page.split("<head>", 1)[1].lstrip()
    assert head.startswith(META) and "<script" not in page


def test_clean_html_leaves_a_picture_only_if_it_is_in_the_page() -> None:
    inside = f'<img src="data:image/png;base64,{PIXEL}">'
    assert clean_html(inside) == inside
    assert "src" not in clean_html('<img src="https://example.org/x.png">')
    svg = base64.b64encode(b"<svg/>").decode()
    assert "src" not in clean_html(f'<img src="data:image/svg+xml;base64,{svg}">')


@pytest.fixture
def browser_page(chromium: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


@pytest.mark.slow
@pytest.mark.browser
def test_nothing_happens_in_a_browser(browser_page: Page, tmp_path: Path) -> None:
    cells = [*(new_markdown_cell(text) for text in MARKUP.values()), *(shown(data) for data in OUTPUTS.values())]
    (tmp_path / "page.html").write_text(page_of(*cells, new_markdown_cell("The end.")), encoding="utf-8")
    asked: list[str] = []
    browser_page.add_init_script("window.hits = 0; window.hit = () => { window.hits += 1 }")
    browser_page.on("request", lambda request: asked.append(request.url))
    browser_page.on("dialog", lambda dialog: asked.append("a dialog"))
    browser_page.goto((tmp_path / "page.html").as_uri())
    for link in browser_page.locator("a").all():
        link.evaluate("link => link.click()")
    browser_page.wait_for_timeout(300)
    assert browser_page.evaluate("window.hits") == 0
    assert [url for url in asked if not url.startswith(("file:", "data:image/png"))] == []
    assert "The end." in browser_page.content()


def test_without_the_sanitiser_these_tests_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.feedback.clean_html", lambda html: html)
    assert sum(bool(dangers(page_of(new_markdown_cell(text)))) for text in MARKUP.values()) > 15


@pytest.mark.parametrize("stock", [False, True], ids=["autograder feedback", "nbgrader generate_feedback"])
@pytest.mark.slow
def test_the_page_of_a_hostile_submission(stock: bool, tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    shutil.copyfile(REPOSITORY / "nbgrader_config.py", course.root / "nbgrader_config.py")
    notebook = answered(double="print('<script>hit()</script>')\ndef double(number):\n    return 2 * number")
    hostile = [new_markdown_cell(f"Mine.\n\n{MARKUP['script']} {MARKUP['overlay']}")]
    hostile += [
        new_code_cell("from IPython.display import HTML, display\ndisplay(HTML('<img src=x onerror=hit()>'))")
    ]
    notebook.cells[1:1] = hostile
    hand_in(course, "mallory", notebook)
    assert main(["grade", "--course", str(course.root)]) == 0
    if stock:
        command = [sys.executable, "-m", "nbgrader", "generate_feedback", SECTION]
        assert subprocess.run(command, cwd=course.root, capture_output=True).returncode == 0
    else:
        assert main(["feedback", "--course", str(course.root)]) == 0
    page = course.feedback("mallory", SECTION).read_text(encoding="utf-8")
    assert META in page and "<script" not in page
    assert [each for each in dangers(page) if "Score" in each or "hit()" in each] == []
    assert "&lt;script&gt;hit()&lt;/script&gt;" in page  # as the text that it is
