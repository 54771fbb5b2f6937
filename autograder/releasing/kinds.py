"""What may be where in a bundle; everything else is refused."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath

from autograder.course import CATALOGUE
from autograder.releasing.manifest import MANIFEST


class Kind(StrEnum):
    """How a file's content is read for the scan."""

    TEXT = "text"
    JSON = "JSON"
    NOTEBOOK = "notebook"
    ARRAY = "NumPy array"
    PICTURE = "PNG picture"
    UNKNOWN = "unknown"


_SECTION = r"(?P<section>\d\d_[a-z0-9_]+)"
_ALLOWED = (
    (r"README\.md|LICENSE|pyproject\.toml", Kind.TEXT),
    (r"binder/(?:course\.lock|requirements\.txt|runtime\.txt|postBuild|start)", Kind.TEXT),
    (r"numfmt/(?:\w+/)*(?:\w+\.py|py\.typed)|numfmt/widgets/\w+\.(?:js|css)", Kind.TEXT),
    (r"binder/labconfig/\w+\.json", Kind.JSON),
    (re.escape(MANIFEST), Kind.JSON),
    (r"welcome\.ipynb", Kind.NOTEBOOK),
    (rf"{_SECTION}/(?P=section)\.ipynb", Kind.NOTEBOOK),
    (rf"{_SECTION}/checks\.json", Kind.JSON),
    (rf"{_SECTION}/(?:[\w.-]+/)*[\w.-]+\.(?:csv|svg|txt)", Kind.TEXT),
    (rf"{_SECTION}/(?:[\w.-]+/)*[\w.-]+\.npy", Kind.ARRAY),
    (rf"{_SECTION}/(?:[\w.-]+/)*[\w.-]+\.png", Kind.PICTURE),
)
_PATTERNS = tuple((re.compile(pattern, re.ASCII), kind) for pattern, kind in _ALLOWED)
_ARCHIVES = {".7z", ".bz2", ".gz", ".npz", ".rar", ".tar", ".tgz", ".whl", ".xz", ".zip", ".zst"}


def kind_of(name: str) -> Kind:
    """Return how the file of this name (path in the bundle) is read, UNKNOWN if it may not be there at all."""
    return next((kind for pattern, kind in _PATTERNS if pattern.fullmatch(name)), Kind.UNKNOWN)


def unwelcome(name: str) -> tuple[str, str]:
    """Return what kind of unwelcome file this is, and what to do about it."""
    path = PurePosixPath(name)
    suffixes = {suffix.lower() for suffix in path.suffixes}
    if path.name.lower() == CATALOGUE:
        return "catalogue of wrong answers", "it holds answers and never ships; remove it"
    if suffixes & _ARCHIVES:
        return "archive", "nobody can see what is in it; put its files beside the notebook instead"
    if suffixes & {".md", ".myst"} and len(path.parts) > 1:
        return "text twin", "it holds the solutions and never ships; remove it"
    if ".ipynb" in suffixes:
        return "unknown notebook", "a section has one notebook, named after it; remove this one"
    return "unknown kind of file", "no release puts it there, and it may hold anything; remove it"
