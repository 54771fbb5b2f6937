"""The class report: it counts what students got and what they misunderstood, and names nobody."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup

from autograder.cli import main
from autograder.course import Course
from autograder.proof.catalogue import Entry, WrongAnswer
from autograder.reporting.results import summarize
from tests.autograder.submissions import SUBMISSIONS, Here, hand_in
from tests.mini_course import SECTION, mini_course

# nbgrader's way with its database objects; they are saved all the same. One of the samples warns.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.filterwarnings("ignore:careful"),
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course whose students are the samples, graded."""
    made = mini_course(tmp_path_factory.mktemp("report") / "course")
    for student, (notebook, _) in SUBMISSIONS.items():
        hand_in(made, student, notebook)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.grading.machine.choose_runner", lambda folder, *more: Here(folder))
        assert main(["grade", "--course", str(made.root)]) == 0
    return made


def test_it_counts_scores_states_and_misconceptions(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["report", "--course", str(course.root), "--json"]) == 0
    (section,) = json.loads(capsys.readouterr().out)["sections"]
    assert section["section"] == SECTION and section["max_score"] == 3
    assert section["scores"] == sorted(sum(marks) for _, marks in SUBMISSIONS.values())
    solved = {
        name: sum(marks[n] > 0 for _, marks in SUBMISSIONS.values()) for n, name in enumerate(("seven", "double"))
    }
    assert {name: states["passed"] for name, states in section["exercises"].items()} == solved
    found = {(each["exercise"], each["name"]): each["students"] for each in section["misconceptions"]}
    assert found == {("seven", "eight"): 2, ("double", "adds_two"): 1}  # "hacked" says eight, too
    assert section["unnamed"] == {"seven": 1, "double": 3}  # the stub; and what hidden tests found


def test_the_page_shows_all_of_it_and_no_student(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--course", str(course.root)]) == 0
    assert "class.html" in capsys.readouterr().out.replace("\n", "")
    text = (course.root / "report" / "class.html").read_text(encoding="utf-8")
    page = BeautifulSoup(text, "html.parser")
    assert not page.find_all(["script", "iframe", "object"])
    assert "default-src 'none'" in str(page.select_one('meta[http-equiv="Content-Security-Policy"]'))
    told = page.get_text(" ")
    for words in ("9 students have a grade", "Eight is one too many.", "adds_two", "The hardest exercise was double"):
        assert words in told
    assert not any(
        re.search(rf"\b{name}\b", told) for name in SUBMISSIONS if name not in ("eight", "adds_two", "hidden")
    )
    images = page.find_all("img")
    assert len(images) == len(page.find_all("figcaption")) == 2
    for image in images:
        assert image["alt"]
        svg = base64.b64decode(str(image["src"]).partition("base64,")[2])
        assert ElementTree.fromstring(svg).tag.endswith("svg")


def test_without_grades_it_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    course = mini_course(tmp_path)
    assert main(["report", "--course", str(course.root)]) == 2
    assert "autograder grade" in capsys.readouterr().err
    assert not (course.root / "report").exists()


def test_where_it_cannot_write_it_says_so(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    (course.root / "file").write_text("")
    assert main(["report", "--course", str(course.root), "--to", str(course.root / "file" / "page.html")]) == 2
    assert "can't be written" in capsys.readouterr().err


def test_of_hints_within_one_another_the_longest_counts_and_what_ran_out_of_time_is_no_mistake() -> None:
    catalogue = {"a": Entry((WrongAnswer("short", "Too big.", ""), WrongAnswer("long", "Too big. By one.", "")))}
    cells = [
        [{"grade_id": "a", "state": "failed", "message": "a(1) gave 3. Too big.\nBy  one."}],
        [{"grade_id": "a", "state": "timeout", "message": "Too big."}],
        [{"grade_id": "a", "state": "failed", "message": "<b>Too big.</b>"}],
        [{"grade_id": "gone", "state": "failed", "message": "Too big."}],
    ]
    results = summarize("x", 1, (0,), cells, catalogue)
    assert {(each.name, each.students) for each in results.misconceptions} == {("long", 1), ("short", 1)}
    assert results.states["a"] == {"failed": 2, "timeout": 1} and results.unnamed == {"gone": 1}
