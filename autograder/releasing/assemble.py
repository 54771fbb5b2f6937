"""Put a student bundle together in an empty folder."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

import nbformat

from autograder.course import REPOSITORY, Course, read_notebook
from autograder.errors import CourseError
from autograder.releasing.generate import generate
from autograder.releasing.manifest import write_manifest
from autograder.releasing.welcome import TEXTS, Contents, readme, welcome_page

LIBRARY_FILES = ("*.py", "py.typed", "widgets/*")
"""What is copied of the library's source."""

FOR_BINDER = (
    "course.lock",
    "requirements.txt",
    "runtime.txt",
    "start",
    "labconfig/default_setting_overrides.json",
    "labconfig/page_config.json",
)
"""What the bundle takes from the checkout's binder/; its postBuild is another one."""


@dataclass(frozen=True)
class Project:
    """The checkout that the library and the locked versions are taken from."""

    root: Path = REPOSITORY

    @property
    def library(self) -> Path:
        """The folder of the library's source."""
        return self.root / "src" / "numfmt"

    @property
    def binder(self) -> Path:
        """The folder that tells repo2docker, and pip, what students need."""
        return self.root / "binder"

    @property
    def licence(self) -> Path:
        """The licence, which goes with the library."""
        return self.root / "LICENSE"

    def metadata(self) -> dict[str, Any]:
        """Return the [project] table of pyproject.toml."""
        table: dict[str, Any] = tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return table

    def check(self) -> None:
        """Raise an error that names the first thing that is missing."""
        library = self.library / "__init__.py"
        for path in (
            self.root / "pyproject.toml", library, self.licence, *(self.binder / name for name in FOR_BINDER)
        ):  # fmt: skip
            if not path.is_file():
                raise CourseError(
                    f"{path} doesn't exist, and the student bundle needs it.",
                    "Run `autograder release` from a complete checkout, installed with `make setup`.",
                )


def assemble(course: Course, sections: Sequence[str], to: Path, project: Project) -> tuple[Contents, ...]:
    """Make the bundle of the sections in the empty folder `to` and say what is in it."""
    project.check()
    contents = []
    for section in sections:
        generate(course, section, to)
        contents.append(Contents.of(section, read_notebook(to / section / f"{section}.ipynb")))
    nbformat.write(welcome_page(contents), to / "welcome.ipynb")
    (to / "README.md").write_text(readme(contents), encoding="utf-8")
    _add_library(project, to)
    _add_binder(project, to / "binder")
    about = {
        "version": project.metadata()["version"],
        "sections": [{"name": one.name, "exercises": one.exercises, "points": one.points} for one in contents],
    }
    write_manifest(to, about)
    return tuple(contents)


def _add_library(project: Project, to: Path) -> None:
    for pattern in LIBRARY_FILES:
        for path in sorted(project.library.rglob(pattern)):
            target = to / "numfmt" / path.relative_to(project.library)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    shutil.copyfile(project.licence, to / "LICENSE")
    metadata = project.metadata()
    text = Template((TEXTS / "pyproject.toml.in").read_text(encoding="utf-8")).substitute(
        version=metadata["version"],
        python=metadata["requires-python"],
        dependencies=json.dumps(metadata["dependencies"]),
    )
    (to / "pyproject.toml").write_text(text, encoding="utf-8")


def _add_binder(project: Project, to: Path) -> None:
    (to / "labconfig").mkdir(parents=True)
    for name in FOR_BINDER:
        shutil.copyfile(project.binder / name, to / name)
    shutil.copyfile(TEXTS / "postBuild", to / "postBuild")
    for name in ("postBuild", "start"):
        (to / name).chmod(0o755)
