"""Where a course keeps its things: masters, submissions, grades and feedback."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.reader import reads
from nbformat.validator import normalize

from autograder.configuration import Configuration, read_configuration
from autograder.errors import CourseError

REPOSITORY = Path(__file__).resolve().parent.parent
"""The checkout that this package runs from: its `notebooks/` are the masters unless the course has its own."""

CATALOGUE = "wrong_answers.toml"
"""The catalogue of named wrong answers beside each master; it holds answers and never leaves."""

CHECKS = "checks.json"
"""The sealed data of the visible checks beside each master; it ships with the notebook."""

_SECTION = re.compile(r"\d\d_[a-z0-9_]+")
_STUDENT = re.compile(r"[^\W_][\w.@+-]{0,63}")


@dataclass(frozen=True)
class Course:
    """A course folder (`root`) and the folder of its master notebooks (`source`)."""

    root: Path
    source: Path

    @classmethod
    def at(cls, root: Path | str) -> Course:
        """Open the course folder `root`; the masters are its own `notebooks/`, or this checkout's."""
        folder = Path(root).resolve()
        if folder.exists() and not folder.is_dir():
            raise CourseError(f"{folder} is a file, not a course folder", "Name a folder with --course.")
        own = folder / "notebooks"
        return cls(folder, own if own.is_dir() else REPOSITORY / "notebooks")

    @property
    def sections(self) -> tuple[str, ...]:
        """Every section that has a master notebook, in course order."""
        found = (path.parent.name for path in self.source.glob("*/*.ipynb") if path.stem == path.parent.name)
        return tuple(sorted(name for name in found if _SECTION.fullmatch(name)))

    def select(self, names: list[str] | tuple[str, ...]) -> tuple[str, ...]:
        """Return the named sections in course order, or all of them; an unknown name is an error."""
        known = self.sections
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1, cutoff=0.3)
                hint = f"Did you mean {near[0]}? " if near else ""
                raise CourseError(
                    f"There is no section '{name}' in {self.source}.",
                    f"{hint}The sections are: {', '.join(known) or 'none yet'}.",
                )
        return tuple(name for name in known if not names or name in names)

    def master_path(self, section: str) -> Path:
        """Return the path of the section's master notebook."""
        return self.source / section / f"{section}.ipynb"

    def catalogue_path(self, section: str) -> Path:
        """Return the path of the section's catalogue of wrong answers."""
        return self.source / section / CATALOGUE

    def master(self, section: str) -> NotebookNode:
        """Read the section's master notebook."""
        return read_notebook(self.master_path(section))

    def submitted(self, student: str, section: str) -> Path:
        """Return the path of a collected submission's notebook."""
        return self.root / "submitted" / student / section / f"{section}.ipynb"

    def autograded(self, student: str, section: str) -> Path:
        """Return the path of a graded submission's notebook."""
        return self.root / "autograded" / student / section / f"{section}.ipynb"

    def feedback(self, student: str, section: str) -> Path:
        """Return the path of a submission's feedback page."""
        return self.root / "feedback" / student / section / f"{section}.html"

    @property
    def database(self) -> Path:
        """The path of nbgrader's gradebook."""
        return self.root / "gradebook.db"

    @property
    def configuration(self) -> Configuration:
        """What the folder's course.toml says now; CourseError if it is wrong."""
        return read_configuration(self.root)

    @property
    def has_database_file(self) -> bool:
        """Whether the gradebook is the file `database`; otherwise course.toml has its address."""
        return self.configuration.gradebook is None

    @property
    def database_url(self) -> str:
        """The gradebook's address, as SQLAlchemy and nbgrader want it; a writer waits a minute for another one."""
        return self.configuration.gradebook or f"sqlite:///{self.database}?timeout=60"

    @property
    def database_name(self) -> str:
        """What messages call the gradebook: its file, or its address without a password."""
        url = self.configuration.gradebook
        return str(self.database) if url is None else re.sub(r"(?<=://)([^/@:]*):[^/@]*@", r"\1@", url)

    def students(self, section: str) -> tuple[str, ...]:
        """Everyone who has a folder for the section under submitted/, sorted by id."""
        return tuple(sorted(path.parent.name for path in (self.root / "submitted").glob(f"*/{section}")))


def check_student_id(student: str) -> str:
    """Return the id if nbgrader's folders can hold it, else raise an error that says what an id may contain."""
    if not _STUDENT.fullmatch(student) or student.endswith("."):
        raise CourseError(
            f"{student!r} can't be a student id",
            "Use 1 to 64 letters, digits and . _ - + @, starting with a letter or digit; no slash, no space.",
        )
    return student


MAX_NOTEBOOK_BYTES = 32 * 1024 * 1024
"""A notebook larger than this is refused before it is parsed."""


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook, upgrade it to nbformat 4.5 and validate it, or raise an error that names file and cure."""
    cure = "Ask for the .ipynb file again, or open and save it in JupyterLab."
    try:
        size = path.stat().st_size
        if size > MAX_NOTEBOOK_BYTES:
            raise CourseError(
                f"{path} is {size / 2**20:.0f} MiB; a notebook may have {MAX_NOTEBOOK_BYTES // 2**20} MiB.",
                "Clear its outputs (Edit > Clear Outputs of All Cells), save, and hand it in again.",
            )
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise CourseError(f"{path} doesn't exist.", "Check the name, or collect the submission again.") from None
    except OSError as error:
        raise CourseError(f"{path} can't be read: {error.strerror}.", "Check the file's permissions.") from error
    except UnicodeDecodeError as error:
        raise CourseError(f"{path} is not a notebook: it isn't UTF-8 text (byte {error.start}).", cure) from error
    try:
        return parse_notebook(text)
    except ValueError as error:
        raise CourseError(f"{path} is not a notebook: {error}", cure) from error


def parse_notebook(text: str) -> NotebookNode:
    """Return the notebook that `text` holds, upgraded to nbformat 4.5; ValueError says why it holds none."""
    try:
        data = json.loads(text)
    except RecursionError:
        raise ValueError("its JSON is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"its text is not JSON ({error})") from None
    if not isinstance(data, dict) or not isinstance(data.get("nbformat"), int):
        raise ValueError("its JSON has no nbformat number")
    try:
        notebook = nbformat.v4.upgrade(nbformat.convert(reads(text), 4))
        _, notebook = normalize(notebook, strip_invalid_metadata=True)
        nbformat.validate(notebook)
    except Exception as error:  # the upgrade of a malformed notebook raises whatever it stumbles over
        lines = str(error).splitlines() or [type(error).__name__]
        raise ValueError(f"it doesn't follow the notebook format ({lines[0][:160]})") from error
    return notebook
