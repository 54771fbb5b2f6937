"""Progress: what the checks of a bundle said last, section by section."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from autograder.proof.sealing import seal
from numfmt import progress
from numfmt.checks import CheckFailed, cases, check


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Return a bundle with two sections of two and one exercises."""
    (tmp_path / "manifest.json").write_text("{}")
    for section, answers in (("01_one", {"first": 1, "second": 2}), ("02_two", {"third": 3})):
        recorded = {
            name: [{"": [[each.label, each.outcome] for each in cases(name, answer)]}]
            for name, answer in answers.items()
        }
        folder = tmp_path / section
        folder.mkdir()
        (folder / "checks.json").write_text(json.dumps(seal(section, recorded, {})))
    return tmp_path


@pytest.fixture
def one(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(bundle / "01_one")
    return bundle / "01_one"


def states(folder: Path | str = ".") -> list[tuple[int, int, int]]:
    return [tuple(map(len, (each.right, each.wrong, each.open))) for each in progress(folder).sections]  # type: ignore


def test_it_follows_the_checks_from_section_and_bundle(bundle: Path, one: Path) -> None:
    assert states() == states(bundle) == [(0, 0, 2), (0, 0, 1)]
    check("first", 1)
    with pytest.raises(CheckFailed):
        check("second", 5)
    assert states() == states(bundle) == states(bundle / "02_two") == [(1, 1, 0), (0, 0, 1)]
    assert progress().sections[0].next == "second"
    check("second", 2)
    assert states() == [(2, 0, 0), (0, 0, 1)]
    assert progress().sections[0].next == ""


def test_an_untouched_exercise_stays_open(one: Path) -> None:
    with pytest.raises(CheckFailed, match="Not answered yet"):
        check("first", None)
    assert states()[0] == (0, 0, 2)


def test_an_error_in_the_answer_counts_as_wrong(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: int) -> int:
        return 1 // x

    (bundle / "02_two" / "checks.json").write_text(json.dumps(seal("02_two", {"f": [{"": [["f(0)", 0]]}]}, {})))
    monkeypatch.chdir(bundle / "02_two")
    with pytest.raises(ZeroDivisionError):
        check("f", f, inputs=[(0,)])
    assert states()[1] == (0, 1, 0)


def test_outside_a_bundle_nothing_is_written(bundle: Path, one: Path) -> None:
    (bundle / "manifest.json").unlink()
    check("first", 1)
    assert sorted(path.name for path in one.iterdir()) == ["checks.json"]


def test_where_it_cannot_be_kept_the_check_goes_on(one: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (one / "progress.json").mkdir()
    check("first", 1)
    assert "✓ first" in capsys.readouterr().out
    assert sorted(path.name for path in one.iterdir()) == ["checks.json", "progress.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 100_000, '{"first": ["right"]}', '{"first": "wrong", "x": 1}'])
def test_a_damaged_record_is_no_obstacle(text: str, one: Path) -> None:
    (one / "progress.json").write_text(text)
    assert progress().sections[0].total == 2
    check("first", 1)
    assert progress().sections[0].right == ("first",)


def test_it_prints_and_shows_the_same(one: Path) -> None:
    check("first", 1)
    text = str(progress())
    assert [line.split() for line in text.splitlines()] == [
        ["section", "right", "wrong", "open", "next"],
        ["01_one", "1", "0", "1", "second"],
        ["02_two", "0", "0", "1", "third"],
    ]
    page = BeautifulSoup(progress()._repr_html_(), "html.parser")
    rows = [[cell.get_text() for cell in row.select("th, td")] for row in page.select("tbody tr")]
    assert rows == [["01_one", "1 of 2 right", "second"], ["02_two", "0 of 1 right", "third"]]
    assert [bar["aria-label"] for bar in page.select("[role=img]")] == ["1 of 2 right", "0 of 1 right"]


def test_without_sections_it_says_what_to_do(tmp_path: Path) -> None:
    assert "folder of the course" in str(progress(tmp_path))
    assert "folder of the course" in progress(tmp_path)._repr_html_()
