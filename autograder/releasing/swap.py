"""Put a finished bundle in place of the previous one, so that a release is there whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.errors import CourseError
from autograder.releasing.manifest import MANIFEST, digest, files_in, read_manifest


@contextmanager
def replacing(bundle: Path, overwrite: bool = False) -> Iterator[Path]:
    """Yield an empty folder beside `bundle`; it takes the place of `bundle` unless the body raises an exception.

    Files that aren't the previous bundle's own move along with it. CourseError if `bundle` is something else than a
    bundle, or if files of the previous bundle were changed and `overwrite` is false.
    """
    _recover(bundle)
    check_replaceable(bundle, overwrite)
    stage = _beside(bundle, "new")
    _remove(stage)
    try:
        stage.mkdir(parents=True)
        yield stage
        _check_extras(bundle, stage)
        _swap(stage, bundle)
    except OSError as error:
        cure = "Check the folder's permissions and the free space, or name another folder with --to."
        raise CourseError(f"{error.filename or bundle} can't be written: {error.strerror or error}.", cure) from error
    finally:
        _remove(stage)


def check_replaceable(bundle: Path, overwrite: bool = False) -> None:
    """Raise an error unless `bundle` is free, empty, or a bundle of ours as it was released."""
    if not os.path.lexists(bundle):
        return
    if not bundle.is_dir():
        raise CourseError(f"{bundle} is not a folder.", "Name another folder with --to.")
    if not any(bundle.iterdir()):
        return
    manifest = read_manifest(bundle)
    if manifest is None:
        raise CourseError(
            f"{bundle} holds something else than a student bundle, and nothing of it may be lost.",
            "Name another folder with --to, or move that one away.",
        )
    changed = [name for name, sha256 in manifest["files"].items() if _differs(bundle / name, sha256)]
    if changed and not overwrite:
        raise CourseError(
            f"In {bundle}, files were changed since they were released: {', '.join(changed[:5])}.",
            "Copy what you want to keep, then release with --force; or name another folder with --to.",
        )


def _differs(path: Path, sha256: str) -> bool:
    return path.is_file() and digest(path) != sha256


def _extras(bundle: Path) -> tuple[str, ...]:
    """Return the files in `bundle` that no release put there."""
    manifest = read_manifest(bundle) or {"files": {}}
    return tuple(name for name in files_in(bundle) if name not in manifest["files"])


def _check_extras(bundle: Path, stage: Path) -> None:
    for name in _extras(bundle):
        in_the_way = [stage / name, *(stage / parent for parent in Path(name).parents if (stage / parent).is_file())]
        if any(os.path.lexists(path) for path in in_the_way):
            raise CourseError(
                f"{bundle / name} isn't from an earlier release, and the new bundle has something in its place.",
                "Move it away, or name another folder with --to.",
            )


def _swap(stage: Path, bundle: Path) -> None:
    try:
        if bundle.exists():
            bundle.rename(_beside(bundle, "previous"))
        stage.rename(bundle)
    finally:
        _recover(bundle)


def _recover(bundle: Path) -> None:
    """Finish a swap: without the new bundle, put the previous one back; with it, move over what isn't ours."""
    previous = _beside(bundle, "previous")
    if not previous.exists():
        return
    if not bundle.exists():
        previous.rename(bundle)
        return
    _carry_over(previous, bundle, _extras(previous))
    _remove(previous)


def _carry_over(previous: Path, bundle: Path, extras: tuple[str, ...]) -> None:
    ours = (read_manifest(previous) or {"files": {}})["files"]
    kept_whole = {MANIFEST}
    for name in extras:
        # A folder with nothing of ours in it moves as it is: a .git folder needs its empty folders too.
        whole = next(
            path.as_posix()
            for path in (*reversed(Path(name).parents[:-1]), Path(name))
            if not any(one.startswith(f"{path.as_posix()}/") for one in ours) and not (bundle / path).is_dir()
        )
        if whole not in kept_whole:
            kept_whole.add(whole)
            (bundle / whole).parent.mkdir(parents=True, exist_ok=True)
            (previous / whole).rename(bundle / whole)


def _beside(bundle: Path, role: str) -> Path:
    return bundle.parent / f".{bundle.name}.{role}"


def _remove(folder: Path) -> None:
    if folder.exists():
        # The manifest goes last: without it, what is left would be taken for files that aren't ours.
        for path in folder.iterdir():
            if path.name != MANIFEST:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        shutil.rmtree(folder)
