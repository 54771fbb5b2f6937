"""The pristine master that submissions are rebuilt from: stubs for solutions, all tests, and the section's files."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearOutput, ClearSolutions, ComputeChecksums, LockCells

from autograder.course import Course
from autograder.releasing.generate import shipped_files
from autograder.releasing.settings import nbgrader_settings


@dataclass(frozen=True)
class Master:
    """A section to grade against: its name, the notebook with stubs and hidden tests, and the files beside it."""

    section: str
    notebook: NotebookNode
    files: Mapping[str, bytes]


def prepare(notebook: NotebookNode) -> NotebookNode:
    """Return a copy as nbgrader stores it in the gradebook: solutions cleared, tests kept, checksums computed."""
    prepared, resources = copy.deepcopy(notebook), {}
    for preprocessor in (LockCells, ClearSolutions, ClearOutput, ComputeChecksums):
        prepared, resources = preprocessor(config=nbgrader_settings()).preprocess(prepared, resources)
    return prepared


def load_master(course: Course, section: str) -> Master:
    """Read a section's master notebook and the files that ship with it."""
    folder = course.master_path(section).parent
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in shipped_files(folder)}
    return Master(section, prepare(course.master(section)), files)
