"""The student's working copy: nothing that a student changed is ever overwritten."""

import json
import sys
from pathlib import Path

import nbformat
import pytest

from tools import solutions
from tools.lab import CONFIG, config_path, jupyter_command, plan, update


@pytest.mark.parametrize(
    ("bundle", "lab", "record", "copied", "kept"),
    [
        ("1", None, None, True, False),  # new in the course
        ("1", None, "1", True, False),  # the student deleted it: a fresh one
        ("1", "1", "1", False, False),  # nothing changed
        ("2", "1", "1", True, False),  # the course has a newer one, the student never touched it
        ("1", "mine", "1", False, False),  # the student worked on it
        ("2", "mine", "1", False, True),  # both changed: the student's stays, and is mentioned
        ("1", "mine", None, False, True),  # there before the first copy: whoever made it, it stays
        ("1", "1", None, False, False),  # the same file, however it came there
    ],
)
def test_what_is_copied_and_what_is_kept(
    bundle: str, lab: str | None, record: str | None, copied: bool, kept: bool
) -> None:
    decided = plan({"f": bundle}, {"f": lab} if lab else {}, {"f": record} if record else {})
    assert (decided.copy == ("f",), decided.keep == ("f",)) == (copied, kept)


def test_files_that_only_the_student_has_are_left_alone(tmp_path: Path) -> None:
    bundle, lab = tmp_path / "bundle", tmp_path / "lab"
    (bundle / "01_mini").mkdir(parents=True)
    (bundle / "welcome.ipynb").write_text("welcome 1")
    (bundle / "01_mini" / "01_mini.ipynb").write_text("exercises 1")
    assert update(bundle, lab).copy == ("01_mini/01_mini.ipynb", "welcome.ipynb")
    (lab / "01_mini" / "01_mini.ipynb").write_text("my solution")
    (lab / "notes.txt").write_text("my notes")
    (bundle / "welcome.ipynb").write_text("welcome 2")
    (bundle / "01_mini" / "01_mini.ipynb").write_text("exercises 2")
    decided = update(bundle, lab)
    assert (decided.copy, decided.keep) == (("welcome.ipynb",), ("01_mini/01_mini.ipynb",))
    assert (lab / "01_mini" / "01_mini.ipynb").read_text() == "my solution"
    assert (lab / "notes.txt").read_text() == "my notes"
    assert (lab / "welcome.ipynb").read_text() == "welcome 2"
    assert update(bundle, lab).copy == ()


@pytest.mark.parametrize(("uid", "allowed"), [(0, True), (1000, False)])
def test_only_root_gets_the_flag_that_jupyter_asks_root_for(uid: int, allowed: bool) -> None:
    command = jupyter_command("python", Path("/w"), uid, ["--port=8899"])
    assert ("--allow-root" in command) is allowed
    assert command[-1] == "--port=8899" and "--ServerApp.root_dir=/w" in command


def test_the_courses_settings_come_before_the_users_own() -> None:
    assert config_path({}) == str(CONFIG)
    assert config_path({"JUPYTER_CONFIG_PATH": "/mine"}).endswith(":/mine")
    disabled = json.loads((CONFIG / "labconfig" / "page_config.json").read_text())["disabledExtensions"]
    assert disabled["@jupyterlab/apputils-extension:announcements"]
    assert "@jupyter/nbgrader:validate-assignment" not in disabled


def test_each_setting_of_the_course_is_one_that_jupyterlab_knows() -> None:
    schemas = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"
    overrides = json.loads((CONFIG / "labconfig" / "default_setting_overrides.json").read_text())
    for plugin, settings in overrides.items():
        package, name = plugin.split(":")
        known = json.loads((schemas / package / f"{name}.json").read_text())["properties"]
        assert settings.keys() <= known.keys(), plugin
        assert all(known[key].get("default") != value for key, value in settings.items()), "no longer needed"


def test_solutions_are_a_working_copy_of_the_executed_notebooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(solutions, "SOLUTIONS", tmp_path / "solutions")
    monkeypatch.setattr(solutions.os, "execve", lambda program, command, variables: ran.append(command))
    assert solutions.main(["--help"]) == 0 and not ran
    solutions.main(["--port=1"])
    (command,) = ran
    assert f"--ServerApp.root_dir={tmp_path / 'solutions'}" in command and command[-1] == "--port=1"
    (page,) = [word.split("/lab/tree/")[1] for word in command if "default_url" in word]
    notebook = nbformat.read(tmp_path / "solutions" / page, as_version=4)
    assert any("BEGIN SOLUTION" in cell.source for cell in notebook.cells)
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    assert "everything you changed is kept" in capsys.readouterr().out
