"""Rebuilding damaged submissions: intact answers stay where they count, and nothing else of a submission does."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell
from nbgrader.api import Gradebook
from nbgrader.utils import compute_checksum, determine_grade

from autograder.course import read_notebook
from autograder.grading.rebuild import Rebuilt, rebuild
from autograder.releasing.generate import register
from tests.mini_course import SECTION, answered, cell, mini_course, mini_master

SEVEN = "seven_squared_minus_42 = 3 + 4"
DOUBLE = "def double(number):\n    return number * 2  # mine"
STUB_SEVEN = answered(seven=None).cells[3].source
STUB_DOUBLE = answered().cells[6].source

Damage = Callable[[NotebookNode], None]


def by_id(notebook: NotebookNode) -> dict[str, NotebookNode]:
    return {each["id"]: each for each in notebook.cells}


def sources(rebuilt: Rebuilt) -> list[str]:
    return [each.source for each in rebuilt.notebook.cells if each.cell_type == "code"]


def run(rebuilt: Rebuilt) -> dict[str, bool]:
    """Run a rebuilt notebook in this process, as a kernel would: which test cells pass?"""
    namespace: dict[str, Any] = {}
    passed = {}
    for each in rebuilt.notebook.cells:
        if each.cell_type != "code":
            continue
        try:
            exec(each.source, namespace)
            good = True
        except Exception:
            good = False
        if each.metadata.get("nbgrader", {}).get("grade"):
            passed[each.metadata.nbgrader.grade_id] = good
    return passed


def graded(damage: Damage, seven: str | None = SEVEN, double: str | None = DOUBLE) -> Rebuilt:
    submission = answered(seven, double)
    damage(submission)
    return rebuild(mini_master(), submission)


def at(notebook: NotebookNode, name: str) -> int:
    return [each.get("id") for each in notebook.cells].index(name)


def without_metadata(notebook: NotebookNode) -> None:
    for each in notebook.cells:
        each.metadata = {}


def without_ids(notebook: NotebookNode) -> None:
    without_metadata(notebook)
    notebook.nbformat_minor = 4
    for each in notebook.cells:
        del each["id"]


def delete(*names: str) -> Damage:
    def damage(notebook: NotebookNode) -> None:
        notebook.cells = [each for each in notebook.cells if each["id"] not in names]

    return damage


def duplicate(name: str, source: str | None = None, metadata: bool = True, before: bool = False) -> Damage:
    """Copy a cell, as copy and paste in JupyterLab (with metadata) or VS Code (without) does."""

    def damage(notebook: NotebookNode) -> None:
        place = at(notebook, name)
        double = copy.deepcopy(notebook.cells[place])
        double["id"] = "fresh"
        if source is not None:
            double.source = source
        if not metadata:
            double.metadata = {}
        notebook.cells.insert(place if before else place + 1, double)

    return damage


def retype(name: str, make: Callable[[str], NotebookNode], metadata: bool = True) -> Damage:
    def damage(notebook: NotebookNode) -> None:
        place = at(notebook, name)
        old = notebook.cells[place]
        notebook.cells[place] = make(old.source)
        notebook.cells[place]["id"] = name if metadata else "fresh"
        notebook.cells[place].metadata = old.metadata if metadata else {}

    return damage


def insert(place: int, *cells: NotebookNode) -> Damage:
    def damage(notebook: NotebookNode) -> None:
        notebook.cells[place:place] = list(cells)

    return damage


def edit(name: str, source: str) -> Damage:
    def damage(notebook: NotebookNode) -> None:
        by_id(notebook)[name].source = source

    return damage


def swap_metadata(notebook: NotebookNode) -> None:
    cells = by_id(notebook)
    first, second = cells["seven_solution"], cells["double_solution"]
    first.metadata, second.metadata = second.metadata, first.metadata
    first["id"], second["id"] = second["id"], first["id"]


def reverse(notebook: NotebookNode) -> None:
    notebook.cells = notebook.cells[::-1]


def both(*damages: Damage) -> Damage:
    def damage(notebook: NotebookNode) -> None:
        for each in damages:
            each(notebook)

    return damage


def copied_over_the_other(notebook: NotebookNode) -> None:
    """The second answer stands in a copy of the first answer cell; the second cell is gone."""
    duplicate("seven_solution", DOUBLE)(notebook)
    pasted = notebook.cells.pop(at(notebook, "fresh"))
    notebook.cells[at(notebook, "double_solution")] = pasted


DAMAGES: dict[str, Damage] = {
    "nothing": lambda notebook: None,
    "metadata lost": without_metadata,
    "metadata and ids lost": without_ids,
    "all texts deleted": delete("title", "ask-seven", "ask-double", "end"),
    "test cells deleted": delete("seven", "double"),
    "imports deleted": delete("imports"),
    "test deleted, names lost": both(delete("seven"), without_ids),
    "imports emptied": edit("imports", ""),
    "imports broken": edit("imports", "import math as"),
    "test cell emptied": edit("double", ""),
    "answer duplicated": duplicate("double_solution"),
    "answer duplicated without metadata": duplicate("double_solution", metadata=False),
    "stub pasted after the answer": duplicate("double_solution", STUB_DOUBLE),
    "stub pasted before the answer": duplicate("double_solution", STUB_DOUBLE, before=True),
    "stub pasted without metadata": duplicate("double_solution", STUB_DOUBLE, metadata=False),
    "empty copy": duplicate("double_solution", ""),
    "test duplicated": duplicate("double"),
    "test duplicated without metadata": duplicate("double", metadata=False),
    "copy of a test holds notes": duplicate("seven", "notes = 'mine'"),
    "test pasted before the answer": both(duplicate("seven", before=True), reverse, reverse),
    "answer became markdown": retype("double_solution", new_markdown_cell),
    "answer became raw": retype("double_solution", new_raw_cell),
    "answer became a nameless text": retype("double_solution", new_markdown_cell, metadata=False),
    "test became markdown": retype("double", new_markdown_cell),
    "imports became markdown": retype("imports", new_markdown_cell),
    "cells reversed": reverse,
    "names of the answers swapped": swap_metadata,
    "second answer in a copy of the first cell": copied_over_the_other,
    "own cells everywhere": both(insert(0, new_code_cell("a = 1")), insert(5, new_code_cell("b = 2"))),
    "an own cell that fails": insert(4, new_code_cell("1 / 0")),
    "windows line ends": lambda notebook: edit("double_solution", DOUBLE.replace("\n", "\r\n"))(notebook),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_intact_answers_keep_their_marks(damage: Damage) -> None:
    rebuilt = graded(damage)
    assert run(rebuilt) == {"seven": True, "double": True}
    nbformat.validate(rebuilt.notebook)
    assert sum("number * 2  # mine" in source for source in sources(rebuilt)) == 1


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_earns_nothing_and_one_answer_is_one_answer(damage: Damage) -> None:
    """The same damage done to a submission with only the second answer right."""
    wrong = graded(damage, seven="seven_squared_minus_42 = 8")
    assert run(wrong) == {"seven": False, "double": True}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_rebuilding_twice_changes_nothing(damage: Damage) -> None:
    once = graded(damage)
    twice = rebuild(mini_master(), once.notebook)
    assert twice.notebook == once.notebook


@pytest.mark.parametrize("seed", range(150))
def test_random_damage_costs_no_marks_and_breaks_nothing(seed: int) -> None:
    rng = random.Random(seed)
    harmless = [each for name, each in DAMAGES.items() if "copy of the first" not in name]
    submission = answered(SEVEN, DOUBLE)
    for damage in rng.sample(harmless, rng.randint(2, 5)):
        # Some damages need a cell that an earlier one deleted.
        before = copy.deepcopy(submission)
        try:
            damage(submission)
        except (ValueError, KeyError, AttributeError):
            submission = before
    assert any("mine" in each.source for each in submission.cells)
    rebuilt = rebuild(mini_master(), submission)
    assert run(rebuilt) == {"seven": True, "double": True}, rebuilt.notes
    nbformat.validate(rebuilt.notebook)
    assert rebuild(mini_master(), rebuilt.notebook).notebook == rebuilt.notebook


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (without_ids, "Had lost its name and was recognised by its content: seven_solution, double_solution."),
        (delete("double"), "Test cell was missing and is back: double."),
        (edit("double", "assert True"), "Test cell had been changed; the original was run: double."),
        (duplicate("double"), "Test cell was there more than once; one was run: double."),
        (duplicate("double_solution"), "There more than once; the filled-in one counts: double_solution."),
        (delete("double_solution"), "Missing or empty, so it counts as not answered: double_solution."),
        (edit("double_solution", " \n"), "Missing or empty, so it counts as not answered: double_solution."),
        (retype("double_solution", new_raw_cell), "Run as code though it had become a raw cell: double_solution."),
        (delete("imports"), "Missing, so the original was run: a code cell."),
        (edit("imports", "import ("), "Had a syntax error, so the original was run: a code cell."),
    ],
)
def test_repairs_are_told_in_plain_words(damage: Damage, expected: str) -> None:
    assert graded(damage).notes == (expected,)


def test_an_honest_submission_has_no_notes() -> None:
    assert graded(lambda notebook: None).notes == ()
    assert graded(lambda notebook: None, seven=None, double=None).notes == ()
    assert rebuild(mini_master(), mini_master()).notes == ()


def test_nothing_but_student_code_comes_from_the_submission() -> None:
    submission = answered(SEVEN, DOUBLE)
    submission.metadata = {"kernelspec": {"name": "evil", "display_name": "x"}, "widgets": {}}
    for each in submission.cells:
        each.metadata["tags"] = ["skip-execution", "raises-exception"]
        if "nbgrader" in each.metadata:
            each.metadata.nbgrader.update(points=1000, locked=False, checksum="forged", grade=False)
        if each.cell_type == "markdown":
            each.source = "<script>alert(1)</script>"
            each.attachments = {"a.png": {"image/png": "AAAA"}}
        elif not each["id"].endswith("_solution"):
            each.source = "pass" if each["id"] != "imports" else each.source
    submission.cells.append(new_code_cell("own = 1", metadata={"nbgrader": {"grade": True, "grade_id": "more"}}))
    rebuilt = rebuild(mini_master(), submission).notebook
    expected = rebuild(mini_master(), answered(SEVEN, DOUBLE)).notebook
    assert rebuilt.cells[:-1] == expected.cells
    assert rebuilt.metadata == expected.metadata == mini_master().metadata
    assert (rebuilt.cells[-1].source, rebuilt.cells[-1].metadata, rebuilt.cells[-1].outputs) == ("own = 1", {}, [])


def test_an_edited_demonstration_runs_as_the_student_wrote_it() -> None:
    changed = graded(edit("imports", "import math\nimport statistics"))
    assert by_id(changed.notebook)["imports"].source == "import math\nimport statistics"
    lost = graded(both(edit("imports", "import math, statistics"), without_ids))
    assert sources(lost)[0] == "import math, statistics"
    magic = graded(edit("imports", "%matplotlib inline\nimport math"))
    assert sources(magic)[0].startswith("%matplotlib")


def test_own_cells_stay_after_the_cell_they_followed() -> None:
    damage = both(
        insert(9, new_code_cell("last = 3")),
        insert(4, new_code_cell("mid = 2")),
        insert(0, new_code_cell("first = 1")),
    )
    code = sources(graded(damage))
    assert [code.index(text) for text in ("first = 1", "mid = 2", "last = 3")] == [0, 3, 7]
    assert code[2] == SEVEN


def test_an_answer_in_a_cell_of_its_own_counts_though_the_stub_is_still_there() -> None:
    for place in (at(answered(), "double_solution"), at(answered(), "double")):
        rebuilt = graded(insert(place, new_code_cell(DOUBLE)), double=None)
        assert run(rebuilt)["double"]
        assert STUB_DOUBLE not in sources(rebuilt)


def test_an_answer_that_is_spread_over_two_cells_runs_whole() -> None:
    split = both(
        edit("double_solution", "def helper(x):\n    return x + x"),
        duplicate("double_solution", "def double(number):\n    return helper(number)"),
    )
    assert run(graded(split)) == {"seven": True, "double": True}


def test_of_two_answers_the_test_below_sees_the_later_one() -> None:
    wrong = "def double(number):\n    return number + 2"
    assert run(graded(duplicate("double_solution", wrong, before=True)))["double"]
    assert not run(graded(duplicate("double_solution", wrong)))["double"]


def test_a_helper_stays_above_the_restored_stub() -> None:
    """The answer cell is gone and the answer can't be told by its names: the stub mustn't undo it."""
    odd = new_code_cell("globals()['double'] = lambda number: 2 * number")
    assert run(graded(both(delete("double_solution", "ask-double"), insert(5, odd))))["double"]


STRANGE_METADATA: list[Any] = [None, 7, "text", [], {}, {"grade_id": 7}, {"grade_id": None}, {"grade_id": ["seven"]}]


@pytest.mark.parametrize("strange", STRANGE_METADATA, ids=repr)
def test_metadata_of_strange_types_is_no_trouble(strange: Any, tmp_path: Path) -> None:
    submission = answered(SEVEN, DOUBLE)
    for each in submission.cells:
        each.metadata = {"nbgrader": strange, "tags": 5 if strange is None else ["a"]}
    assert run(rebuild(mini_master(), submission)) == {"seven": True, "double": True}
    path = tmp_path / "odd.ipynb"
    path.write_text(nbformat.writes(submission, version=nbformat.NO_CONVERT), encoding="utf-8")
    assert run(rebuild(mini_master(), read_notebook(path))) == {"seven": True, "double": True}


def test_cells_without_metadata_id_or_source_and_with_lone_surrogates() -> None:
    submission = answered(SEVEN, "text = '\ud800'\n" + DOUBLE)
    submission.cells += [
        {"cell_type": "code"},
        {"cell_type": "code", "source": ["a = 1\n", "b = 2"]},
        "not a cell",
        {},
    ]
    rebuilt = rebuild(mini_master(), submission)
    assert run(rebuilt) == {"seven": True, "double": True}
    assert "a = 1\nb = 2" in sources(rebuilt)
    nbformat.writes(rebuilt.notebook).encode("utf-8")
    assert run(rebuild(mini_master(), NotebookNode())) == {"seven": False, "double": False}


def test_thousands_of_cells_and_one_huge_cell() -> None:
    submission = answered(SEVEN, DOUBLE)
    submission.cells[5:5] = [new_code_cell(f"x{number} = {number}") for number in range(4_000)]
    submission.cells.append(new_code_cell("# " + "long " * 400_000))
    without_ids(submission)
    rebuilt = rebuild(mini_master(), submission)
    assert len(rebuilt.notebook.cells) == len(mini_master().cells) + 4_001
    assert run(rebuilt) == {"seven": True, "double": True}


def test_locked_and_manually_graded_cells() -> None:
    master = mini_master()
    locked = cell("tests", "given", "constant = 5")
    locked.metadata.nbgrader.update(grade=False, locked=True)
    essay = new_markdown_cell("### BEGIN SOLUTION\nBecause.\n### END SOLUTION", metadata={"nbgrader": {}})
    essay.metadata.nbgrader.update(
        grade=True, solution=True, locked=False, task=False, grade_id="essay", points=4, schema_version=3
    )
    essay["id"] = "essay"
    master.cells += [locked, essay]
    submission = copy.deepcopy(master)
    by_id(submission)["given"].source = "constant = 6"
    by_id(submission)["essay"].source = "My **answer**."
    rebuilt = by_id(rebuild(master, submission).notebook)
    assert rebuilt["given"].source == "constant = 5"
    assert rebuilt["essay"].source == "My **answer**."
    assert determine_grade(rebuilt["essay"]) == (None, 4)
    untouched = by_id(rebuild(master, rebuild(master, NotebookNode()).notebook).notebook)
    assert untouched["essay"].source == "YOUR ANSWER HERE"
    assert determine_grade(untouched["essay"]) == (0, 4)


def test_a_master_with_doubled_cell_ids_is_told_apart() -> None:
    master = mini_master()
    master.cells[0]["id"] = master.cells[1]["id"]
    nbformat.validate(rebuild(master, answered(SEVEN, DOUBLE)).notebook)


def test_checksums_and_sources_are_those_that_nbgrader_stores(tmp_path: Path) -> None:
    course = mini_course(tmp_path)
    register(course, SECTION)
    rebuilt = rebuild(course.master(SECTION), answered(None, None))
    with Gradebook(f"sqlite:///{course.database}") as gradebook:
        for name, node in by_id(rebuilt.notebook).items():
            if "nbgrader" in node.metadata:
                stored = gradebook.find_source_cell(name, SECTION, SECTION)
                assert (node.source, node.metadata.nbgrader.checksum) == (stored.source, stored.checksum)
                assert compute_checksum(node) == stored.checksum
