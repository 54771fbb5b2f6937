"""The list of what is in a bundle; it also marks a folder as a bundle of ours."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
KIND = "numfmt-course student bundle"
SCHEMA = 1


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def files_in(folder: Path) -> tuple[str, ...]:
    """Return every file and link below `folder` but the manifest, as sorted paths with forward slashes."""
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return tuple(sorted(path.relative_to(folder).as_posix() for path in found if path != folder / MANIFEST))


def write_manifest(folder: Path, about: dict[str, Any]) -> None:
    """List the files that are in `folder` now, with `about` (versions, sections) before them."""
    files = {name: digest(folder / name) for name in files_in(folder)}
    data = {"kind": KIND, "schema": SCHEMA, **about, "files": files}
    (folder / MANIFEST).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of the bundle in `folder`, or None if that is no bundle of ours."""
    try:
        data = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(data, dict) or data.get("kind") != KIND or not isinstance(data.get("files"), dict):
        return None
    return data
