"""How far one is in the course: what the checks said last, kept beside each notebook, section by section."""

from __future__ import annotations

import contextlib
import html
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._text import aligned

STORE = "progress.json"
"""Written beside a section's notebook in a bundle; it holds names of exercises and "right" or "wrong"."""

_CHECKS = "checks.json"
_BUNDLE = "manifest.json"
"""What the top folder of a bundle has: nothing is kept of checks that run elsewhere."""

_RIGHT, _WRONG = "right", "wrong"


@dataclass(frozen=True)
class SectionProgress:
    """A section's name (that of its folder) and its exercises, in order: right, wrong when last checked, or open."""

    name: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    open: tuple[str, ...]

    @property
    def total(self) -> int:
        """The number of exercises."""
        return len(self.right) + len(self.wrong) + len(self.open)

    @property
    def next(self) -> str:
        """The exercise to do next, empty if all are right: a wrong one first."""
        return next(iter((*self.wrong, *self.open)), "")


@dataclass(frozen=True)
class Progress:
    """The sections that are there, in order. Prints as a table, and shows as one with bars in a notebook."""

    sections: tuple[SectionProgress, ...]

    def __str__(self) -> str:
        if not self.sections:
            return "There is no section here: run this from the folder of the course or of a section."
        rows: list[tuple[str, ...]] = [("section", "right", "wrong", "open", "next")]
        rows += [(each.name, *map(str, _counts(each)), each.next or "done") for each in self.sections]
        return aligned(rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if not self.sections:
            return f"<p>{html.escape(str(self))}</p>"
        rows = "".join(_row(each) for each in self.sections)
        head = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in ("section", "done", "next"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def progress(folder: str | os.PathLike[str] = ".") -> Progress:
    """Return what is done in the bundle that `folder` is, or is a section of; damaged files count as none."""
    here = Path(folder).resolve()
    bundle = next((each for each in (here, here.parent) if (each / _BUNDLE).is_file()), None)
    found = sorted(bundle.glob(f"*/{_CHECKS}")) if bundle else []
    return Progress(tuple(_section(path.parent) for path in found))


def record(exercise: str, right: bool, folder: Path | None = None) -> None:
    """Keep what a check said, in a section's folder of a bundle; where that isn't possible, silently don't."""
    folder = Path.cwd() if folder is None else folder
    if not (folder.parent / _BUNDLE).is_file():
        return
    kept = _read(folder / STORE)
    kept[exercise] = _RIGHT if right else _WRONG
    scratch = folder / f".{STORE}.{os.getpid()}"
    with contextlib.suppress(OSError):
        try:
            scratch.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            scratch.replace(folder / STORE)
        finally:
            scratch.unlink(missing_ok=True)


def _section(folder: Path) -> SectionProgress:
    names, kept = _read(folder / _CHECKS).get("exercises"), _read(folder / STORE)
    states = {name: kept.get(name) for name in (names if isinstance(names, dict) else ())}
    right = tuple(name for name, state in states.items() if state == _RIGHT)
    wrong = tuple(name for name, state in states.items() if state == _WRONG)
    return SectionProgress(folder.name, right, wrong, tuple(each for each in states if each not in {*right, *wrong}))


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _counts(section: SectionProgress) -> tuple[int, int, int]:
    return len(section.right), len(section.wrong), len(section.open)


def _row(section: SectionProgress) -> str:
    right, wrong, _ = _counts(section)
    words = f"{right} of {section.total} right" + (f", {wrong} wrong" if wrong else "")
    share = 100 * right / section.total if section.total else 0
    bar = (
        f'<div role="img" aria-label="{words}" style="width:12em;height:0.7em;border:1px solid currentColor">'
        f'<div style="width:{share:.0f}%;height:100%;background:currentColor"></div></div>'
    )
    cells = [f"{bar}{words}", f"<code>{html.escape(section.next)}</code>" if section.next else "✓ done"]
    first = f'<th scope="row" style="text-align:left">{html.escape(section.name)}</th>'
    rest = "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells)
    return f"<tr>{first}{rest}</tr>"
