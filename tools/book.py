"""Build the book, a static site of the lectures and the reference (`make book`).

    python -m tools.book [--to FOLDER]     writes build/book/html, or FOLDER

The lectures are what students get, with the outputs of the stored notebooks, so nothing is run; an exercise stands
there without its solution, its hidden tests and their outputs. The leak gate of the release looks over each page.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from bs4 import BeautifulSoup
from nbformat import NotebookNode
from sphinx.cmd.build import build_main

import numfmt
from autograder.course import Course
from autograder.errors import CourseError
from autograder.releasing.generate import generate
from autograder.releasing.leakgate import Leak, find_leaks_in_pages
from autograder.releasing.secrets import collect_secrets

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
BOOK = ROOT / "build" / "book"
EXERCISE = "exercise-cell"
"""The tag, and with it the CSS class, of the cells that an exercise is answered and checked in."""


def lecture(master: NotebookNode, student: NotebookNode) -> NotebookNode:
    """Return the student's notebook with the outputs of the master's cells that belong to no exercise."""
    outputs = {cell.id: cell.outputs for cell in master.cells if cell.cell_type == "code"}
    for cell in student.cells:
        if cell.cell_type != "code":
            continue
        if "nbgrader" in cell.metadata:
            cell.outputs, cell.metadata["tags"] = [], [EXERCISE]
        else:
            cell.outputs = outputs[cell.id]
        cell.execution_count = None
    return student


def write_lectures(course: Course, folder: Path) -> None:
    """Write the lectures of all sections as notebooks."""
    folder.mkdir(parents=True)
    for section in course.sections:
        with TemporaryDirectory(prefix="book-") as name:
            generate(course, section, Path(name))
            student = nbformat.read(Path(name) / section / f"{section}.ipynb", as_version=4)
        nbformat.write(lecture(course.master(section), student), folder / f"{section}.ipynb")


def reference() -> Iterator[tuple[str, str]]:
    """Yield the pages of the reference of `numfmt`: file names and their texts."""
    modules: dict[str, list[str]] = {}
    for name in numfmt.__all__:
        value = getattr(numfmt, name)
        home = getattr(value, "__module__", "") if callable(value) else ""
        if home.startswith("numfmt."):
            modules.setdefault(home, []).append(name)
    for home, names in sorted(modules.items()):
        title = home.removeprefix("numfmt.").replace("_", " ").capitalize()
        lines = [f"# {title}", "", "```{eval-rst}", f".. automodule:: {home}", "", ".. currentmodule:: numfmt", ""]
        for name in names:
            kind = "class" if isinstance(getattr(numfmt, name), type) else "function"
            lines += [f".. auto{kind}:: numfmt.{name}", *(["   :members:"] if kind == "class" else []), ""]
        yield f"{home.removeprefix('numfmt.')}.md", "\n".join([*lines, "```", ""])


def write_reference(folder: Path) -> None:
    """Write the reference, a page for each module, and a page that leads to them."""
    folder.mkdir(parents=True)
    pages = dict(reference())
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copyfile(DOCS / "api.md", folder / "index.md")
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.write("\n".join(["", "```{toctree}", ":maxdepth: 2", "", *(name[:-3] for name in pages), "```", ""]))


def leaks(course: Course, html: Path) -> tuple[Leak, ...]:
    """Return what the pages give away."""
    pages = ((path, BeautifulSoup(path.read_bytes(), "html.parser")) for path in sorted(html.rglob("*.html")))
    texts = ((path.relative_to(html).as_posix(), page.get_text()) for path, page in pages)
    return find_leaks_in_pages(texts, collect_secrets(course))


def build(course: Course, to: Path) -> int:
    """Build the book; return Sphinx's exit code, for which a warning is an error."""
    source = BOOK / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("__pycache__", "api.md"))
    write_lectures(course, source / "lectures")
    write_reference(source / "api")
    shutil.rmtree(to, ignore_errors=True)
    arguments = ["-b", "html", "-W", "--keep-going", "-q", "-j", "auto", "-d", str(BOOK / "doctrees")]
    return build_main([*arguments, str(source), str(to)])


def main(arguments: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.book", description="Build the book, a static site.")
    parser.add_argument("--to", type=Path, default=BOOK / "html", metavar="FOLDER", help="default: build/book/html")
    options = parser.parse_args(arguments)
    course, to = Course.at(ROOT), options.to.resolve()
    try:
        if code := build(course, to):
            return code
        for leak in (found := leaks(course, to)):
            print(leak, file=sys.stderr)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    if found:
        shutil.rmtree(to)  # nobody publishes it by mistake
        return 1
    print(f"The book is in {to}: open {to / 'index.html'} in a browser.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
