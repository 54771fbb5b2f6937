"""Release sections: bundle, leak gate, gradebook, and only then the swap into place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.errors import CourseError
from autograder.proof.support import unsupported
from autograder.releasing.assemble import Project, assemble
from autograder.releasing.generate import register
from autograder.releasing.leakgate import Leak, find_leaks
from autograder.releasing.manifest import files_in
from autograder.releasing.secrets import collect_secrets
from autograder.releasing.swap import replacing


@dataclass(frozen=True)
class Release:
    """What a release did: the bundle holds the sections in so many files, unless there are leaks."""

    bundle: Path
    sections: tuple[str, ...]
    files: int
    leaks: tuple[Leak, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "bundle": str(self.bundle),
            "sections": list(self.sections),
            "files": self.files,
            "leaks": [leak.to_json() for leak in self.leaks],
        }


class _Refused(Exception):
    """Carries the leaks out of the folder that the bundle was built in."""

    def __init__(self, release: Release) -> None:
        super().__init__()
        self.release = release


def release(
    course: Course, sections: Sequence[str], bundle: Path, *, force: bool = False, project: Project | None = None
) -> Release:
    """Build the bundle of the sections; with leaks, the previous bundle and the gradebook stay as they were."""
    if not sections:
        raise CourseError(f"There is no section in {course.source}.", "Write one, or name a course with --course.")
    troubles = [f"{section}, {each}" for section in sections for each in unsupported(course.master(section))]
    if troubles:
        raise CourseError("Sealed grading can't run these test cells:\n" + "\n".join(troubles), "Then release again.")
    secrets = collect_secrets(course)
    try:
        with replacing(bundle, overwrite=force) as stage:
            assemble(course, sections, stage, project or Project())
            leaks = find_leaks(stage, secrets)
            result = Release(bundle, tuple(sections), len(files_in(stage)) + 1, leaks)
            if leaks:
                raise _Refused(result)
            for section in sections:
                register(course, section)
    except _Refused as refused:
        return refused.release
    return result
