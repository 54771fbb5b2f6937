"""Where a course keeps its things: masters, submissions, grades and feedback."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

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
    """Read and validate a notebook (upgraded to nbformat 4), or raise an error that names the file and the cure."""
    cure = "Ask for the .ipynb file again, or open and save it in JupyterLab."
    try:
        size = path.stat().st_size
        if size > MAX_NOTEBOOK_BYTES:
            raise CourseError(
                f"{path} is {size / 2**20:.0f} MiB; a notebook may have {MAX_NOTEBOOK_BYTES // 2**20} MiB.",
                "Clear its outputs (Edit > Clear Outputs of All Cells), save, and hand it in again.",
            )
        notebook = nbformat.reads(path.read_bytes().decode("utf-8-sig"), as_version=4)
        nbformat.validate(notebook, repair_duplicate_cell_ids=True)
    except FileNotFoundError:
        raise CourseError(f"{path} doesn't exist.", "Check the name, or collect the submission again.") from None
    except OSError as error:
        raise CourseError(f"{path} can't be read: {error.strerror}.", "Check the file's permissions.") from error
    except UnicodeDecodeError as error:
        raise CourseError(f"{path} is not a notebook: it isn't UTF-8 text (byte {error.start}).", cure) from error
    except RecursionError as error:
        raise CourseError(f"{path} is not a notebook: its JSON is nested too deeply.", cure) from error
    except nbformat.ValidationError as error:
        detail = str(error).splitlines()[0]
        raise CourseError(f"{path} is not a valid notebook: {detail}", cure) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        detail = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise CourseError(f"{path} is not a notebook: {detail}", cure) from error
    return notebook
