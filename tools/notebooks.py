"""Build the notebooks from their text twins: execute them, store the outputs, seal their checks.

python tools/notebooks.py [SECTION...]            build (all sections without a name)
python tools/notebooks.py --check [SECTION...]    only say whether twins, notebooks and checks agree
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from autograder.course import CATALOGUE, CHECKS, REPOSITORY, Course
from autograder.errors import CourseError
from autograder.proof.catalogue import read_catalogue
from autograder.proof.recording import record
from autograder.proof.sealing import seal

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def from_twin(twin: Path) -> NotebookNode:
    """Return the notebook that a text twin describes, without outputs, with cell ids that stay as the text does."""
    notebook = jupytext.read(twin, fmt="md:myst")
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    seen: set[str] = set()
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id") or cell.metadata.get("name") or _slug(cell.source)
        while name in seen:
            name = _slug(name + cell.source)
        seen.add(name)
        cell.id = name
    nbformat.validate(notebook)
    return notebook


def _slug(text: str) -> str:
    return "c" + hashlib.sha256(text.encode()).hexdigest()[:10]


def checks_text(section: str, folder: Path, notebook: NotebookNode) -> str:
    """Return the text of the section's checks.json."""
    catalogue = read_catalogue(folder / CATALOGUE)
    sealed = {"made_from": made_from(folder, notebook), **seal(section, record(folder, notebook), catalogue)}
    return json.dumps(sealed, indent=1, ensure_ascii=False) + "\n"


def made_from(folder: Path, notebook: NotebookNode) -> str:
    """Return a digest of what a section's checks are made from, for making them takes a minute."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256(json.dumps([code, (folder / CATALOGUE).read_text("utf-8")]).encode()).hexdigest()


def execute(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Run the notebook in its folder and return it with outputs; an error of any cell is an error here."""
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", record_timing=False, coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--log-level=ERROR"],  # the kernel would warn of its unencrypted connection
    )  # fmt: skip
    client.execute()
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    return notebook


def build(section: str, folder: Path) -> None:
    """Write the section's checks.json and its executed notebook, each in one step."""
    notebook = from_twin(folder / f"{section}.md")
    _replace(folder / CHECKS, checks_text(section, folder, notebook))
    _replace(folder / f"{section}.ipynb", nbformat.writes(execute(notebook, folder)) + "\n")


def _replace(path: Path, text: str) -> None:
    scratch = path.with_name(f".{path.name}.new")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)


def disagreements(section: str, folder: Path) -> list[str]:
    """Say in what the section's stored notebook and checks differ from what its text twin gives."""
    twin = from_twin(folder / f"{section}.md")
    stored = nbformat.read(folder / f"{section}.ipynb", as_version=4)
    found = []
    if [_core(cell) for cell in twin.cells] != [_core(cell) for cell in stored.cells]:
        found.append(f"{section}.ipynb doesn't hold the cells of {section}.md")
    if any(cell.cell_type == "code" and cell.execution_count is None for cell in stored.cells):
        found.append(f"{section}.ipynb has cells without stored outputs")
    if json.loads((folder / CHECKS).read_text(encoding="utf-8")).get("made_from") != made_from(folder, twin):
        found.append(f"{CHECKS} of {section} is not made from these solutions and this catalogue")
    return found


def _core(cell: NotebookNode) -> Any:
    return cell.id, cell.cell_type, cell.source, dict(cell.metadata)


def main(argv: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Build the notebooks from their text twins.")
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="sections to build (default: all)")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if something is out of date")
    options = parser.parse_args(argv)
    source = Course.at(REPOSITORY).source
    twins = {path.stem: path.parent for path in sorted(source.glob("*/*.md")) if path.stem == path.parent.name}
    unknown = [name for name in options.sections if name not in twins]
    if unknown:
        parser.error(f"no section {', '.join(unknown)}; there are: {', '.join(twins)}")
    problems = []
    for section, folder in twins.items():
        if options.sections and section not in options.sections:
            continue
        started = time.monotonic()
        if options.check:
            problems += disagreements(section, folder)
        else:
            print(f"{section}: executing …", flush=True)
            build(section, folder)
            print(f"{section}: stored, {time.monotonic() - started:.0f} s", flush=True)
    for problem in problems:
        print(f"{problem}\n  → run `make notebooks`", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CourseError as error:
        sys.exit(str(error))
