"""Put a student bundle together in an empty folder."""

from __future__ import annotations

import ast
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

LIBRARY_FILES = ("*.py", "py.typed")
"""What is copied of the library's source."""

PYTHON_ON_BINDER = "python-3.11"
"""The content of binder/runtime.txt, by which repo2docker chooses its Python."""


@dataclass(frozen=True)
class Project:
    """The checkout that the library and the locked versions are taken from."""

    root: Path = REPOSITORY

    @property
    def library(self) -> Path:
        """The folder of the library's source."""
        return self.root / "src" / "numfmt"

    @property
    def requirements(self) -> Path:
        """The locked versions of what students need."""
        return self.root / "binder" / "requirements.txt"

    @property
    def licence(self) -> Path:
        """The licence, which goes with the library."""
        return self.root / "LICENSE"

    @property
    def pip_steps(self) -> Path:
        """The set-up's program that knows where pip finds PyTorch's CPU build."""
        return self.root / "tools" / "pip_steps.py"

    def torch_index(self) -> str:
        """Return the address of PyTorch's CPU builds, as the set-up has it in TORCH_CPU_INDEX."""
        for node in ast.parse(self.pip_steps.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TORCH_CPU_INDEX":
                return str(ast.literal_eval(node.value))
        raise CourseError(
            f"{self.pip_steps} doesn't say TORCH_CPU_INDEX.", "Put the address of its CPU builds there."
        )

    def metadata(self) -> dict[str, Any]:
        """Return the [project] table of pyproject.toml."""
        table: dict[str, Any] = tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        return table

    def check(self) -> None:
        """Raise an error that names the first thing that is missing."""
        library = self.library / "__init__.py"
        for path in (self.root / "pyproject.toml", library, self.licence, self.requirements, self.pip_steps):
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
    to.mkdir()
    # pip prefers the CPU build over the ordinary one of the same version, which on Linux has gigabytes of CUDA in it.
    locked = project.requirements.read_text(encoding="utf-8")
    (to / "requirements.txt").write_text(f"--extra-index-url {project.torch_index()}\n{locked}", encoding="utf-8")
    shutil.copyfile(TEXTS / "postBuild", to / "postBuild")
    (to / "postBuild").chmod(0o755)
    (to / "runtime.txt").write_text(f"{PYTHON_ON_BINDER}\n", encoding="utf-8")
