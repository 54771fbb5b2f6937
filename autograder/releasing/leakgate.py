"""The leak gate: what in a finished bundle students must not get. It fails closed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from autograder.regions import MARKERS
from autograder.releasing.kinds import Kind, kind_of, unwelcome
from autograder.releasing.manifest import MANIFEST, digest, files_in, read_manifest
from autograder.releasing.matching import Finder, Found, squeeze
from autograder.releasing.secrets import Secret
from autograder.releasing.texts import Damaged, Text, texts_of


@dataclass(frozen=True)
class Leak:
    """What was found: the `file` in the bundle, the `place` in it, the `kind` of thing, and what to do (`detail`)."""

    file: str
    place: str
    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.file}, {self.place}: {self.kind}: {self.detail}"

    def to_json(self) -> dict[str, str]:
        """Return the leak as plain data."""
        return asdict(self)


def find_leaks(bundle: Path, secrets: Iterable[Secret]) -> tuple[Leak, ...]:
    """Return every leak in the bundle: secrets, markers, stored outputs, and files that don't belong there."""
    lines = _lines(secrets)
    finder = Finder(lines)
    leaks: list[Leak] = []
    for name in (*files_in(bundle), MANIFEST):
        path = bundle / name
        leaks += _misplaced(name, path)
        leaks += _in_text(name, Text("file name", name), finder, lines)
        if path.is_symlink() or not path.is_file():
            continue
        try:
            for text in texts_of(path, kind_of(name)):
                leaks += _in_text(name, text, finder, lines)
        except Damaged as error:
            leaks.append(Leak(name, error.place, error.kind, str(error)))
    leaks += _against_manifest(bundle)
    return tuple(leaks)


def find_leaks_in_pages(pages: Iterable[tuple[str, str]], secrets: Iterable[Secret]) -> tuple[Leak, ...]:
    """Return every secret and marker in the texts of pages, given as (name, text)."""
    lines = _lines(secrets)
    finder = Finder(lines)
    return tuple(leak for name, text in pages for leak in _in_text(name, Text("page", text), finder, lines))


def _lines(secrets: Iterable[Secret]) -> dict[str, Secret | str]:
    lines: dict[str, Secret | str] = {}
    for secret in secrets:
        lines.setdefault(secret.squeezed, secret)
    return lines | {squeeze(marker): marker for marker in MARKERS}


def _misplaced(name: str, path: Path) -> Iterator[Leak]:
    if path.is_symlink() or (os.path.lexists(path) and not path.is_file()):
        yield Leak(name, "file", "link", "a bundle holds ordinary files only; copy the file itself")
    if any(part.startswith(".") for part in Path(name).parts):
        yield Leak(name, "file name", "hidden file", "a bundle holds no file that students don't see; remove it")
    if kind_of(name) is Kind.UNKNOWN:
        kind, detail = unwelcome(name)
        yield Leak(name, "file name", kind, detail)


def _in_text(name: str, text: Text, finder: Finder, lines: dict[str, Secret | str]) -> Iterator[Leak]:
    if text.forbidden:
        yield Leak(name, text.place, text.forbidden, "released notebooks carry none; release the section again")
    found: dict[tuple[str, str, str], list[int]] = {}
    for squeezed, where in finder.find(text.content):
        line, place = lines[squeezed], _place(text, where)
        if isinstance(line, Secret):
            found.setdefault((place, line.kind, line.owner), []).append(line.line)
        else:
            yield Leak(name, place, "marker", f"{line} stands here: the region that it marks was not removed")
    for (place, kind, owner), numbers in found.items():
        which = ", ".join(map(str, sorted(set(numbers))))
        detail = (
            f"line {which} of {owner}. Take it out of here; or, if it gives nothing away, "
            "add it to `public` in the exercise's entry in wrong_answers.toml"
        )
        yield Leak(name, place, kind, detail)


def _place(text: Text, where: Found) -> str:
    if where.encoding:
        return f"{text.place or 'text'}, in {where.encoding}"
    if "\n" in text.content or not text.place:
        return f"{text.place}, line {where.line}".removeprefix(", ")
    return text.place


def _against_manifest(bundle: Path) -> Iterator[Leak]:
    manifest = read_manifest(bundle)
    if manifest is None:
        yield Leak(MANIFEST, "file", "manifest", "it is missing or damaged; release again")
        return
    present = set(files_in(bundle))
    for name in sorted(present - set(manifest["files"])):
        yield Leak(name, "file", "unlisted file", f"it isn't in {MANIFEST}; release again")
    for name, sha256 in manifest["files"].items():
        if name not in present or (bundle / name).is_symlink() or not (bundle / name).is_file():
            yield Leak(name, "file", "missing file", f"{MANIFEST} lists it; release again")
        elif digest(bundle / name) != sha256:
            yield Leak(name, "file", "changed file", f"its content isn't what {MANIFEST} says; release again")
