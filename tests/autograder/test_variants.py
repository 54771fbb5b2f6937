"""Per-student variants, from the master to the mark: each student has the own inputs, at home and when graded."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.course import REPOSITORY, Course
from autograder.errors import CourseError, ExitCode
from autograder.gradescope import run as gradescope
from autograder.grading.cluster import SectionFiles, grade_there
from autograder.limits import Limits
from autograder.proof.catalogue import read_catalogue
from autograder.proof.recording import record
from autograder.proof.sealing import seal
from autograder.variants import code_of, covering
from numfmt.variants import index_with
from tests.autograder.submissions import hand_in
from tests.autograder.test_stock_nbgrader import nbgrader
from tests.mini_course import SECTION, cell, mini_course, text

pytestmark = pytest.mark.slow

SECRET = "a secret of the mini course"
BASES = [7, 9, 11]

WRONG = "".join(
    f"""
[[seven.wrong]]
name = "{name}"
hint = "{hint}"
answer = "seven_squared_minus_42 = {answer}"
"""
    for name, hint, answer in (
        ("one_more", "One too many.", "base**2 - 41"),
        ("doubled", "Doubling isn't squaring.", "2 * base - 42"),
        ("added", "Take 42 away.", "base**2 + 42"),
        ("cubed", "That is the third power.", "base**3 - 42"),
    )
)


def master(*, name: str = "seven", again: str = "", hidden: str = "[7, 9, 11]") -> NotebookNode:
    notebook = nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}},
        cells=[
            text("title", "# A tiny section"),
            text(
                "inputs",
                f'from numfmt.variants import variant\n\nbase = variant("{name}", [7, 9, 11])\n{again}',
                code=True,
            ),
            cell(
                "solution",
                "seven_solution",
                """
                seven_squared_minus_42 = None
                ### BEGIN SOLUTION
                seven_squared_minus_42 = base * base - 42
                ### END SOLUTION
                """,
            ),
            cell(
                "tests",
                "seven",
                f"""
                from numfmt.checks import check

                check("seven", seven_squared_minus_42)
                ### BEGIN HIDDEN TESTS
                from numfmt.variants import variant

                assert seven_squared_minus_42 + 42 == variant("seven", {hidden}) ** 2, "The square is another one."
                ### END HIDDEN TESTS
                """,
                points=2,
            ),
        ],
    )
    nbformat.validate(notebook)
    return notebook


def answered(source: str) -> NotebookNode:
    notebook = master()
    notebook.cells[2].source = source
    notebook.cells[3].source = notebook.cells[3].source.split("### BEGIN")[0].rstrip()
    return notebook


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a course whose one exercise has three variants."""
    made = mini_course(tmp_path_factory.mktemp("variants"))
    folder = made.master_path(SECTION).parent
    (folder / "wrong_answers.toml").write_text(f"[seven]\n{WRONG}")
    nbformat.write(master(), made.master_path(SECTION))
    sealed = seal(SECTION, record(folder, master()), read_catalogue(folder / "wrong_answers.toml"))
    (folder / "checks.json").write_text(json.dumps(sealed))
    (made.root / "course.toml").write_text(f'[variants]\nsecret = "{SECRET}"\n')
    return made


def base_of(student: str) -> int:
    return BASES[index_with(code_of(SECRET, student), "seven", len(BASES))]


def student_with(base: int, prefix: str = "s") -> str:
    """Return the first of the students s0, s1, … who has this base."""
    return next(each for each in (f"{prefix}{number}" for number in range(100)) if base_of(each) == base)


def graded(course: Course, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, tuple[float, str]]:
    """Grade, and return each student's score and message."""
    assert main(["grade", "--course", str(course.root), "--json", *options]) == ExitCode.OK
    found = json.loads(capsys.readouterr().out)["submissions"]
    return {each["student"]: (each["score"], each["cells"][0]["message"]) for each in found}


REBINDS = "import numfmt.variants as v\nv.variant = v.index_of = lambda name, choices: 7\nbase = 7\n"
WRITES = """
for name in ('variant.txt', '../check/variant.txt'):
    try:
        open(name, 'w').close()
    except OSError:
        pass
"""
FIFTY_TWO = "seven_squared_minus_42 = 7 ** 2 - 42"


def test_everyone_is_graded_on_the_own_inputs(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    own = "seven_squared_minus_42 = base**2 - 42"
    for base in BASES:
        hand_in(course, student_with(base, "own"), answered(own))
        hand_in(course, student_with(base, "same"), answered(FIFTY_TWO))
    hand_in(course, student_with(9, "rebinds"), answered(REBINDS + FIFTY_TWO))
    hand_in(course, student_with(9, "writes"), answered(WRITES + FIFTY_TWO))
    hand_in(course, student_with(9, "mistaken"), answered("seven_squared_minus_42 = base**2 - 41"))
    path = hand_in(course, student_with(9, "borrows"), answered(FIFTY_TWO))
    path.with_name("variant.txt").write_text(code_of(SECRET, student_with(7)))
    found = graded(course, capsys)

    for base in BASES:
        assert found[student_with(base, "own")] == (2, "")
    assert found[student_with(7, "same")] == (2, "")
    # Neither someone else's answer nor what code and files of a student's say changes whose inputs count.
    for student in (*(student_with(base, "same") for base in (9, 11)), student_with(9, "borrows")):
        score, message = found[student]
        assert score == 0 and "right for another student's inputs" in message
    for trick in ("rebinds", "writes"):
        assert found[student_with(9, trick)][0] == 0
    score, message = found[student_with(9, "mistaken")]
    assert score == 0 and "is 40. One too many." in message


def test_without_the_secret_they_are_graded_anew_on_the_default(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, student = course.root / "course.toml", student_with(9, "anew")
    hand_in(course, student, answered(FIFTY_TWO))
    assert graded(course, capsys, "--only", student)[student][0] == 0
    kept = settings.rename(course.root / "kept.toml")
    try:
        assert graded(course, capsys, "--only", student)[student][0] == 2
    finally:
        kept.rename(settings)


def test_the_secret_and_the_codes_stay_with_the_instructor(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    student = student_with(9, "prints")
    hand_in(course, student, answered(f"print(open('variant.txt').read())\n{FIFTY_TWO}"))
    graded(course, capsys, "--only", student)
    assert main(["release", "--course", str(course.root)]) == ExitCode.OK
    assert main(["feedback", "--course", str(course.root)]) == ExitCode.OK
    others = {code_of(SECRET, student_with(base, "own")) for base in BASES}
    for folder in ("release", "feedback", "autograded"):
        for path in (course.root / folder).rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                assert SECRET.encode() not in content, path
                assert not any(code.encode() in content for code in others), path


def test_stock_nbgrader_grades_on_the_own_inputs(course: Course) -> None:
    shutil.copyfile(REPOSITORY / "nbgrader_config.py", course.root / "nbgrader_config.py")
    for base, points in ((7, 2), (9, 0)):
        student = student_with(base)
        hand_in(course, student, answered(FIFTY_TWO))
        done = nbgrader(course, "autograde", SECTION, "--student", student, "--force")
        assert done.returncode == 0, done.stderr
        with Gradebook(course.database_url) as gradebook:
            assert gradebook.find_submission(SECTION, student).score == points


def test_a_worker_of_a_cluster_is_given_the_code(course: Course) -> None:
    folder = course.master_path(SECTION).parent
    files = {"checks.json": (folder / "checks.json").read_bytes()}
    section = SectionFiles(nbformat.writes(master()), files, "a digest of this test's")
    submission = nbformat.writes(answered(FIFTY_TWO))
    for base, points in ((7, 2), (9, 0)):
        code = code_of(SECRET, student_with(base))
        result = grade_there(section, submission, Limits(), True, code)
        assert [each.points for each in result.cells] == [points]


def test_gradescope_knows_the_student_by_id_or_email(course: Course, tmp_path: Path) -> None:
    settings = gradescope.Settings(SECTION, "visible", True, SECRET, "sid")
    (tmp_path / "submission").mkdir()
    nbformat.write(answered(FIFTY_TWO), tmp_path / "submission" / "a.ipynb")
    metadata = tmp_path / gradescope.METADATA
    for base, points in ((7, 2), (9, 0)):
        metadata.write_text(json.dumps({"users": [{"sid": student_with(base), "email": "a@example.org"}]}))
        student = gradescope.student_of(settings, metadata)
        found = gradescope.grade_folder(course, settings, tmp_path / "submission", student)
        assert [each["score"] for each in found["tests"]] == [points]
    for content in ("", "{}", '{"users": []}', '{"users": [{"sid": ""}]}', '{"users": [{"sid": "a"}, {"sid": "b"}]}'):
        metadata.write_text(content)
        with pytest.raises(CourseError, match="doesn't name one student by sid"):
            gradescope.student_of(settings, metadata)
    assert gradescope.student_of(gradescope.Settings(SECTION, "visible", True), metadata) == ""


def test_codes_are_listed_and_written(course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("student_id,name\nada,=A\nben,B\n")
    to = tmp_path / "codes.csv"
    folder = ["--course", str(course.root)]
    assert main(["codes", *folder, "--roster", str(roster), "--to", str(to), "eve"]) == ExitCode.OK
    with to.open(newline="") as lines:
        assert list(csv.reader(lines)) == [
            ["student_id", "code"], *([each, code_of(SECRET, each)] for each in ("ada", "ben", "eve")),
        ]  # fmt: skip
    capsys.readouterr()
    assert main(["codes", *folder, "ada", "--json"]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out) == {"ada": code_of(SECRET, "ada")}
    assert main(["codes", *folder, "a/b"]) == ExitCode.USAGE
    assert "'a/b' can't be a student id" in capsys.readouterr().err
    assert main(["codes", "--course", str(tmp_path), "ada"]) == ExitCode.USAGE
    assert "[variants]\nsecret = " in capsys.readouterr().err


def test_verify_proves_each_variant(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", SECTION, "--course", str(course.root), "--json"]) == ExitCode.OK
    [exercise] = json.loads(capsys.readouterr().out)["exercises"]
    assert exercise["reference"] == 2 and len(exercise["wrong"]) == 4


def test_verify_finds_a_fault_of_one_variant_alone(course: Course, capsys: pytest.CaptureFixture[str]) -> None:
    good = course.master_path(SECTION).read_bytes()
    try:
        nbformat.write(master(hidden="[7, 9, 12]"), course.master_path(SECTION))
        assert main(["verify", SECTION, "--course", str(course.root)]) == ExitCode.PROBLEMS
    finally:
        course.master_path(SECTION).write_bytes(good)
    problem = capsys.readouterr().err
    assert "with the code" in problem and "its solution doesn't pass: The square is another one." in problem


def test_codes_that_cover_all_variants() -> None:
    counts = {"seven": 3, "double": 5, "one": 1}
    codes = list(covering(counts))
    found = {(name, index_with(code, name, count)) for code in codes for name, count in counts.items()}
    assert found >= {(name, index) for name, count in counts.items() for index in range(1, count)}
    assert len(codes) < 10 and not list(covering({}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"name": "eight"}, r"variant\('eight', …\) names no exercise; the exercises are: seven"),
     ({"again": "variant('seven', [7, 9])"}, r"variant\('seven', …\) has 3 inputs in one cell, 2 in another")],
)  # fmt: skip
def test_a_master_whose_variants_do_not_fit_is_refused(course: Course, changes: dict[str, str], words: str) -> None:
    with pytest.raises(CourseError, match=words):
        record(course.master_path(SECTION).parent, master(**changes))
