"""Find secret lines in text, however they are spaced, quoted, escaped or encoded."""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

_DEPTH = 3
"""How many encodings are peeled off, one after the other."""

_GRAM = 3
"""The length of the snippets that a text must contain before a secret is looked for in it."""

_SHORT = 16
"""A secret below this length counts only where it isn't part of a longer word or number."""

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}(?:\s+[A-Za-z0-9+/_-]+)*={0,2}")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\"'\\/bfnrt]))")
_ESCAPED = {"b": " ", "f": " ", "n": "\n", "r": "\n", "t": "\t"}
_READABLE = re.compile(r"[^\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]{8,}")
_TAG = re.compile(r"<[^<>]*>")


@dataclass(frozen=True)
class Found:
    """Where a line was found: its number in the text, or 0 if it was encoded, and how ("base64")."""

    line: int
    encoding: str


def fold(text: str) -> str:
    """Return the text with compatible characters made one, invisible ones dropped, and one kind of quotes."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return text.replace("'", '"')


def squeeze(text: str) -> str:
    """Return the folded text without any white space."""
    return "".join(fold(text).split())


class Finder:
    """Looks for a fixed set of lines in texts; the time grows with the text, hardly with the number of lines."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._grams = {line: _grams(line) for line in lines if line}

    def find(self, text: str) -> Iterator[tuple[str, Found]]:
        """Yield each of the (squeezed) lines that occurs in the text, with the place of its first occurrence."""
        seen: set[str] = set()
        for encoding, layer in layers(text):
            folded = fold(layer)
            squeezed = "".join(folded.split())
            present = _grams(squeezed)
            for wanted, grams in self._grams.items():
                if wanted in seen or not grams <= present or wanted not in squeezed:
                    continue
                position = _position(folded, wanted)
                if position is not None:
                    seen.add(wanted)
                    yield wanted, Found(0 if encoding else folded.count("\n", 0, position) + 1, encoding)


def _grams(text: str) -> set[str]:
    return {text[i : i + _GRAM] for i in range(max(1, len(text) - _GRAM + 1))}


def _position(folded: str, wanted: str) -> int | None:
    pattern = r"\s*".join(map(re.escape, wanted))
    if len(wanted) < _SHORT:
        before = r"(?<![\w.])" if re.match(r"\w", wanted) else ""
        after = r"(?!\w|\.\d)" if re.search(r"\w$", wanted) else ""
        pattern = before + pattern + after
    match = re.search(pattern, folded)
    return match.start() if match else None


def layers(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text and what it holds in encoded form, each with the name of the encoding ("" for the text)."""
    seen = {text}
    waiting = [("", text)]
    for _ in range(_DEPTH + 1):
        yield from waiting
        deeper = []
        for outer, layer in waiting:
            for encoding, inner in _decoded(layer):
                if inner not in seen:
                    seen.add(inner)
                    deeper.append((f"{outer} in {encoding}" if outer else encoding, inner))
        waiting = deeper


def _decoded(text: str) -> Iterator[tuple[str, str]]:
    if "&" in text:
        yield "HTML escapes", html.unescape(text)
    if "<" in text:
        yield "HTML", _TAG.sub(" ", text)
    if "\\" in text:
        yield "backslash escapes", _ESCAPE.sub(_unescape, text)
    if "%" in text:
        yield "URL escapes", unquote(text)
    # One text for all the base64 in it: the number of layers must not grow with the number of words.
    blobs = [blob for match in _BASE64.finditer(text) for blob in _blobs(match.group())]
    if blobs:
        yield "base64", "\n".join(blobs)


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    return chr(int(code, 16)) if code else _ESCAPED.get(match[3], match[3])


def _blobs(run: str) -> Iterator[str]:
    """Decode a run of base64 characters from each of the four places where a group of four may begin."""
    packed = "".join(run.split()).rstrip("=").replace("-", "+").replace("_", "/")
    for offset in range(4):
        part = packed[offset:]
        part = part[: len(part) - 1] if len(part) % 4 == 1 else part
        try:
            data = base64.b64decode(part + "=" * (-len(part) % 4))
        except binascii.Error:
            continue
        yield from texts_in(data)


def texts_in(data: bytes) -> list[str]:
    """Return the pieces of readable text in binary data; UTF-16 and UTF-32 differ from ASCII by NUL bytes only."""
    return _READABLE.findall(data.replace(b"\0", b"").decode("utf-8", errors="replace"))
