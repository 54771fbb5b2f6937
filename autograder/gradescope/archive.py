"""The zip file to upload to Gradescope: this package, the library, one section, and the two scripts it asks for."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from autograder.course import REPOSITORY, Course
from autograder.gradescope.run import SETTINGS, Settings
from autograder.limits import LIMITS
from autograder.releasing.generate import SHIPPED

_SCRIPTS = ("setup.sh", "run_autograder")
_FOLDERS = ("autograder", "src", "tools")
_FILES = ("pyproject.toml", "requirements.lock", "README.md", "LICENSE")


def build(course: Course, settings: Settings) -> bytes:
    """Return the zip file's bytes: the same ones for the same sources."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, data in sorted(_contents(course, settings)):
            info = ZipInfo(name)
            info.external_attr = (0o100755 if name in _SCRIPTS else 0o100644) << 16
            info.compress_type = ZIP_DEFLATED
            archive.writestr(info, data)
    return buffer.getvalue()


def _contents(course: Course, settings: Settings) -> Iterator[tuple[str, bytes]]:
    """Yield names in the zip file and bytes, without catalogue and text twin, which grading doesn't need."""
    for name in _SCRIPTS:
        yield name, (Path(__file__).parent / "files" / name).read_bytes()
    yield SETTINGS, settings.to_text().encode()
    for name in _FILES:
        yield name, (REPOSITORY / name).read_bytes()
    for top in _FOLDERS:
        for path in (REPOSITORY / top).rglob("*"):
            if path.is_file() and not any(part == "__pycache__" or ".egg" in part for part in path.parts):
                yield path.relative_to(REPOSITORY).as_posix(), path.read_bytes()
    master = course.master_path(settings.section)
    needed = (master.name, LIMITS, *SHIPPED)
    for path in master.parent.rglob("*"):
        if path.is_file() and any(fnmatch(path.name, pattern) for pattern in needed):
            yield f"notebooks/{settings.section}/{path.relative_to(master.parent).as_posix()}", path.read_bytes()
