"""What a submission may use while it is graded: the defaults, and what a section's `limits.toml` says instead."""

from __future__ import annotations

import difflib
import re
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from autograder.errors import CourseError

LIMITS = "limits.toml"
"""The file beside a section's master in which its limits may be set; it doesn't ship."""

OPEN_FILES = 1024
"""Files that a process may have open."""

_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(KiB|MiB|GiB)")


@dataclass(frozen=True)
class Limits:
    """Limits on a run; the plain runner, which has no sandbox, heeds the first three alone.

    Address space isn't limited: torch reserves much of it and uses little.
    """

    cell_seconds: float = 30.0
    """Wall-clock seconds of a cell."""
    notebook_seconds: float = 600.0
    """Wall-clock seconds of the whole notebook."""
    output_bytes: int = 1 * 2**20
    """Bytes that are kept of a cell's output."""
    memory_bytes: int = 2 * 2**30
    """Memory of all processes together."""
    processes: int = 64
    """Processes and threads at a time."""
    file_bytes: int = 64 * 2**20
    """Bytes of any one file."""
    disk_bytes: int = 256 * 2**20
    """Bytes of all files together."""
    files: int = 10_000
    """Number of files."""

    def to_json(self) -> dict[str, Any]:
        """Return the limits as plain data, from which `Limits(**data)` makes them again."""
        return asdict(self)


def read_limits(folder: Path, cell_seconds: float | None = None, notebook_seconds: float | None = None) -> Limits:
    """Return the limits of the section whose master is in `folder`; CourseError if its file is wrong.

    Bytes may be given as numbers or in words: `memory_bytes = "4 GiB"`. The seconds override the file's.
    """
    path = folder / LIMITS
    found: dict[str, Any] = {}
    try:
        if path.exists():
            found = {name: _value(name, value) for name, value in tomllib.loads(path.read_text("utf-8")).items()}
    except OSError as error:
        raise CourseError(f"{path} can't be read: {error.strerror}.", "Check the file's permissions.") from error
    except ValueError as error:  # also when it isn't TOML, or no UTF-8 text
        cure = 'Write lines like: cell_seconds = 60, or: memory_bytes = "4 GiB"'
        raise CourseError(f"{path}: {error}.", cure) from error
    given = {"cell_seconds": cell_seconds, "notebook_seconds": notebook_seconds}
    return Limits(**found | {name: value for name, value in given.items() if value is not None})


def _value(name: str, value: object) -> float | int:
    known = {each.name: each.type for each in fields(Limits)}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        raise ValueError(f"there is no limit {name!r}; {f'did you mean {near[0]}' if near else ', '.join(known)}?")
    if name.endswith("_bytes") and isinstance(value, str) and (found := _SIZE.fullmatch(value)):
        value = int(float(found[1]) * _UNITS[found[2]])
    whole = known[name] == "int"
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not 0 < value < 2**50:
        raise ValueError(f"{name} = {value!r} isn't a {'whole ' if whole else ''}number above 0")
    return value


def size(number: int) -> str:
    """Return a number of bytes in words, such as 2 GiB."""
    for unit, factor in reversed(_UNITS.items()):
        if number >= factor:
            return f"{number / factor:.3g} {unit}"
    return f"{number} bytes"
