"""Every string in a JSON document or a notebook, with a name for its place that a person can follow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Path = tuple[str | int, ...]


def parse_json(text: str) -> Any:
    """Parse JSON; ValueError if it is none, or if an object has a key twice (parsers would hide the first)."""
    try:
        return json.loads(text, object_pairs_hook=_without_twins)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has one key twice")
    return found


def strings(data: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield every string below `data`, keys too; a list of strings (a notebook's lines) also as one text."""
    if isinstance(data, str):
        yield path, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield (*path, key), key
            yield from strings(value, (*path, key))
    elif isinstance(data, list):
        if len(data) > 1 and all(isinstance(item, str) for item in data):
            yield path, "".join(data)
            if not all(item.endswith("\n") for item in data[:-1]):
                yield path, "\n".join(data)
        else:
            for index, item in enumerate(data):
                yield from strings(item, (*path, index))


def name_place(path: Path, document: Any) -> str:
    """Return a place in words: "cell 4 (double), output 1, data.text/html", "metadata.kernelspec.name"."""
    words: list[str] = []
    node = document
    for depth, step in enumerate(path):
        node = node[step]
        before = path[depth - 1] if depth else None
        if isinstance(step, int):
            words[-1:] = [_item(before, step, node)] if before in ("cells", "outputs") else [f"{words[-1]}[{step}]"]
        elif words and not isinstance(before, int) and before is not None:
            words[-1] += f".{step}"
        else:
            words.append(step)
    return ", ".join(words) or "top"


def _item(kind: str | int | None, index: int, node: Any) -> str:
    if kind == "outputs":
        return f"output {index + 1}"
    mark = (node.get("metadata") or {}).get("nbgrader") if isinstance(node, dict) else None
    name = (mark.get("grade_id") if isinstance(mark, dict) else None) or (
        node.get("id") if isinstance(node, dict) else None
    )
    return f"cell {index + 1} ({name})" if name else f"cell {index + 1}"
