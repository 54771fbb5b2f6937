"""Each claim of the two source documents has a cell that shows it, or shows it wrong.

A claims file, one a section, lists the claims in the sources' order: `[[claim]]` with `source` (the document and its
heading: "P2 2.4", "B04 result 2"), `says` (the claim in our words), `cell` (the `name` or the nbgrader grade_id of a
code cell) and `output` (text that its stored output holds, or, for an exercise, that its solution or tests hold).
A claim that the course corrects also has `erratum`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in Path(__file__).parent.glob("*.toml")}
EACH = [(section, claim) for section, claims in sorted(CLAIMS.items()) for claim in claims["claim"]]

HEADINGS = {
    "01_integers": ["P2 1.1", "P2 1.2", "P2 1.3", "P2 1.4", "P2 7", "P2 8"],
    "02_floats": ["P2 2.1", "P2 2.2", "P2 2.3", "P2 2.4", "P2 2.5", "P2 2.6", "P2 7", "P2 8"],
    "03_arithmetic": ["P2 3.1", "P2 3.2", "P2 3.3", "P2 3.4", "P2 3.5", "P2 7", "P2 8", "B04 result 2", "B04 lab 1"],
    "04_mixed_precision": [
        "P2 0.1",
        "P2 0.2",
        "P2 4.1",
        "P2 4.2",
        "P2 4.3",
        "P2 4.4",
        "P2 4.5",
        "P2 6",
        "P2 7",
        "P2 8",
        "B04 exercise 2",
        "B04 result 1",
        "B04 if your numbers disagree",
    ],
    "05_quantization": [
        "P2 5.1",
        "P2 5.2",
        "P2 5.3",
        "P2 7",
        "P2 8",
        "B04 exercise 3",
        "B04 result 3",
        "B04 disagreements",
    ],
    "06_choosing_a_format": [
        "P2 0.1",
        "P2 6",
        "P2 7",
        "B04 exercise 1",
        "B04 result 1",
        "B04 result 2",
        "B04 result 3",
        "B04 disagreements",
    ],
}
"""The headings of the sources that a section covers; none may be without a claim."""


def shown_by(section: str) -> dict[str, str]:
    """Return, for each named code cell, its code and the text of its stored outputs."""
    notebook = nbformat.read(ROOT / "notebooks" / section / f"{section}.ipynb", as_version=4)
    cells: dict[str, str] = {}
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id") or cell.metadata.get("name")
        if name and cell.cell_type == "code":
            assert name not in cells, f"two cells are named {name}"
            cells[name] = (cell.source if "nbgrader" in cell.metadata else "") + "".join(map(text_of, cell.outputs))
    return cells


def text_of(output: Any) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))


@pytest.mark.parametrize(("section", "claim"), EACH, ids=[f"{s}-{c['source']}-{c['cell']}" for s, c in EACH])
def test_a_claim_is_shown_by_its_cell(section: str, claim: dict[str, str]) -> None:
    assert set(claim) - {"erratum"} == {"source", "says", "cell", "output"}
    assert len(claim["says"]) > 10
    cells = shown_by(section)
    assert claim["cell"] in cells, f"{section} has no cell named {claim['cell']}"
    assert claim["output"] and claim["output"] in cells[claim["cell"]]


def test_every_section_has_its_claims() -> None:
    assert CLAIMS.keys() == HEADINGS.keys() == {path.stem for path in (ROOT / "notebooks").glob("*/*.ipynb")}


@pytest.mark.parametrize("section", sorted(CLAIMS))
def test_no_heading_of_the_sources_is_without_a_claim(section: str) -> None:
    told = [f"{claim['source']} " for claim in CLAIMS[section]["claim"]]
    assert [heading for heading in HEADINGS[section] if not any(s.startswith(f"{heading} ") for s in told)] == []
