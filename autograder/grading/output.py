"""Keep a cell's outputs within a budget: a flood is cut off, and the notebook says so."""

from __future__ import annotations

import copy
import json
from typing import Any

from nbformat import NotebookNode

from autograder.limits import size

_OUTPUTS = {"stream", "display_data", "execute_result", "update_display_data", "error"}
_OVERHEAD = 200
"""Bytes that any output counts, so that a million tiny ones don't go through."""


class Budget:
    """How many bytes of output are left, for the cell that runs and for the whole notebook."""

    def __init__(self, cell: int, notebook: int) -> None:
        self._cell, self._notebook = cell, notebook
        self._left, self._said = cell, False

    @property
    def was_exceeded(self) -> bool:
        """Whether the cell that runs has put out more than fits."""
        return self._said

    def start_cell(self) -> None:
        """Begin a new cell."""
        self._left, self._said = min(self._cell, self._notebook), False

    def fit(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return a kernel's message cut to what is left of the budget, or None if nothing of it fits."""
        kind, content = message["msg_type"], message["content"]
        if kind == "clear_output":
            self._left, self._said = min(self._cell, self._notebook), False
        if kind not in _OUTPUTS:
            return message
        if kind == "error":
            return {**message, "content": _short_error(content)}
        size = _size(content)
        if size <= self._left:
            self._left -= size
            self._notebook -= size
            return message
        return self._cut(message)

    def _cut(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if self._said:
            return None
        self._said = True
        content = message["content"]
        kept = (
            str(content.get("text", ""))[: max(0, self._left - _OVERHEAD)] if message["msg_type"] == "stream" else ""
        )
        self._notebook -= len(kept)
        self._left = 0
        notice = f"\n[Cut off: a cell may put out {size(self._cell)}.]\n"
        cut = copy.copy(message)
        cut["msg_type"] = "stream"
        cut["header"] = {**message["header"], "msg_type": "stream"}
        cut["content"] = {"name": str(content.get("name", "stdout")), "text": kept + notice}
        return cut


def _size(content: dict[str, Any]) -> int:
    text = content.get("text")
    if isinstance(text, str):
        return len(text.encode("utf-8", "replace")) + _OVERHEAD
    return len(json.dumps(content, default=str)) + _OVERHEAD


def _short_error(content: dict[str, Any]) -> dict[str, Any]:
    traceback = [str(line)[:20_000] for line in list(content.get("traceback") or [])[:100]]
    return {
        **content,
        "ename": str(content.get("ename"))[:200],
        "evalue": str(content.get("evalue"))[:5_000],
        "traceback": traceback,
    }


def merge_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join neighbouring pieces of the same stream: a kernel sends one for every flush."""
    merged: list[NotebookNode] = []
    pieces: list[list[str]] = []
    for output in outputs:
        stream = output.output_type == "stream"
        if stream and merged and merged[-1].output_type == "stream" and merged[-1].name == output.name:
            pieces[-1].append(output.text)
        else:
            merged.append(output)
            pieces.append([output.text] if stream else [])
    for output, texts in zip(merged, pieces, strict=True):
        if texts:
            output.text = "".join(texts)
    return merged
