"""The stored notebooks: twins agree, checks are current, fixtures can be made again, figures have alt texts."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
import numpy as np
import pytest

from tools import fixtures, notebooks

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = sorted(path.stem for path in (ROOT / "notebooks").glob("*/*.ipynb"))


@pytest.mark.parametrize("section", SECTIONS)
def test_twin_notebook_and_checks_agree(section: str) -> None:
    assert notebooks.disagreements(section, ROOT / "notebooks" / section) == []


@pytest.mark.parametrize("change", ["a solution", "the catalogue", "the prose"])
def test_checks_are_out_of_date_when_an_answer_changes(change: str, tmp_path: Path) -> None:
    section = SECTIONS[0]
    folder = shutil.copytree(ROOT / "notebooks" / section, tmp_path / section)
    twin, catalogue = folder / f"{section}.md", folder / "wrong_answers.toml"
    if change == "the catalogue":
        catalogue.write_text(catalogue.read_text("utf-8") + "\n", "utf-8")
    else:
        old = "import numpy as np" if change == "a solution" else "You need"
        twin.write_text(twin.read_text("utf-8").replace(old, f"{old} ", 1), "utf-8")
    stale = [each for each in notebooks.disagreements(section, folder) if each.startswith("checks.json")]
    assert bool(stale) == (change != "the prose")


@pytest.mark.parametrize("name", fixtures.FIXTURES)
def test_a_fixture_is_what_its_code_makes(name: str) -> None:
    stored = np.load(ROOT / "notebooks" / name, allow_pickle=False)
    made = fixtures.FIXTURES[name]()
    assert stored.dtype == made.dtype and np.array_equal(stored, made)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_figure_has_alt_text_and_a_conclusion(section: str) -> None:
    notebook = nbformat.read(ROOT / "notebooks" / section / f"{section}.ipynb", as_version=4)
    figures = 0
    for cell, after in zip(notebook.cells, notebook.cells[1:], strict=False):
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            assert not any(kind.startswith("image/") for kind in data), "show a figure with numfmt.plots.show"
            for alt in re.findall(r'<img alt="([^"]*)"', data.get("text/html", "")):
                figures += 1
                assert len(alt) > 60
                assert re.match(r"\*[A-Z][^*]+\.\*(\n|$)", after.source), f"no conclusion below: {cell.source[:50]}"
                assert "nbval-ignore-output" in cell.metadata.tags
    assert figures >= 3


@pytest.mark.parametrize("section", SECTIONS)
def test_only_figures_escape_nbval(section: str) -> None:
    notebook = nbformat.read(ROOT / "notebooks" / section / f"{section}.ipynb", as_version=4)
    for cell in notebook.cells:
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            assert "plots.show(" in cell.source
