"""The texts in a file of the bundle, each with its place: the leak gate looks at nothing else."""

from __future__ import annotations

import base64
import binascii
import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import numpy as np

from autograder.releasing.kinds import Kind
from autograder.releasing.matching import texts_in
from autograder.releasing.places import name_place, parse_json, strings

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_CHUNKS = {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"pHYs", b"gAMA", b"cHRM", b"sRGB", b"bKGD", b"tEXt"}


@dataclass(frozen=True)
class Text:
    """A piece of text and its place; `forbidden` says what it is if it may not be there whatever it says."""

    place: str
    content: str
    forbidden: str = ""


class Damaged(Exception):
    """A file, or a part of one, that can't be looked through."""

    def __init__(self, place: str, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.place = place
        self.kind = kind


def texts_of(path: Path, kind: Kind) -> Iterator[Text]:
    """Yield the texts of a file; `Damaged` if it can't be read as what it is."""
    data = path.read_bytes()
    if kind is Kind.ARRAY:
        yield from _array(data)
    elif kind is Kind.PICTURE:
        yield from _picture(data, "")
    elif kind is Kind.UNKNOWN:
        yield Text("", "\n".join(texts_in(data)) if b"\0" in data else data.decode("utf-8", errors="replace"))
    else:
        text = _utf8(data)
        yield from [Text("", text)] if kind is Kind.TEXT else _json(text, kind is Kind.NOTEBOOK)


def _utf8(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Damaged(
            f"byte {error.start}", "unreadable", "it isn't UTF-8 text, so nobody can see what it holds"
        ) from None
    if "\0" in text:
        raise Damaged(f"byte {data.index(0)}", "unreadable", "it holds binary data, so nobody can see what it says")
    return text


def _json(text: str, is_notebook: bool) -> Iterator[Text]:
    try:
        document = parse_json(text)
    except ValueError as error:
        raise Damaged("text", "unreadable", f"it isn't plain JSON: {error}") from None
    for path, content in strings(document):
        yield Text(name_place(path, document), content)
    if is_notebook:
        yield from _notebook(document)


def _notebook(document: Any) -> Iterator[Text]:
    try:
        nbformat.validate(nbformat.from_dict(document), version=4)
    except (nbformat.ValidationError, AttributeError, KeyError, TypeError) as error:
        raise Damaged("text", "unreadable", f"it isn't a notebook of format 4: {str(error)[:160]}") from None
    for index, cell in enumerate(document["cells"]):
        place = name_place(("cells", index), document)
        if cell.get("outputs"):
            yield Text(place, "", forbidden="stored output")
        if cell.get("execution_count") is not None:
            yield Text(place, "", forbidden="execution count")
        for name, bundle in (cell.get("attachments") or {}).items():
            for mime, content in bundle.items():
                yield from _attachment(f"{place}, attachment {name}", mime, content)


def _attachment(place: str, mime: str, content: Any) -> Iterator[Text]:
    encoded = "".join(content) if isinstance(content, list) else str(content)
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise Damaged(place, "unreadable", "it isn't base64") from None
    if mime == "image/png":
        yield from _picture(data, place)
    elif mime == "image/svg+xml":
        yield Text(place, _utf8(data))
    else:
        yield Text(place, "\n".join(texts_in(data)), forbidden=f"attachment of unknown kind ({mime})")


def _array(data: bytes) -> Iterator[Text]:
    stream = io.BytesIO(data)
    try:
        array = np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, EOFError, OSError, SyntaxError) as error:
        raise Damaged("content", "unreadable", f"it isn't an array that loads without pickle: {error}") from None
    if stream.read(1):
        raise Damaged("content", "unreadable", "something follows the array")
    yield Text("fields", " ".join(array.dtype.names or ()))
    # Text may stand in text elements, or in numbers that are character codes.
    if array.dtype.kind == "U":
        yield Text("elements", "\n".join(array.ravel().tolist()))
    else:
        yield Text("elements", "\n".join(texts_in(array.tobytes())))


def _picture(data: bytes, place: str) -> Iterator[Text]:
    if not data.startswith(_PNG):
        raise Damaged(place or "content", "unreadable", "it isn't a PNG picture")
    position, name = len(_PNG), b""
    while name != b"IEND":
        header = data[position : position + 8]
        if len(header) < 8:
            raise Damaged(place or "content", "unreadable", "the PNG picture is cut off")
        length, name = struct.unpack(">I4s", header)
        if name not in _PNG_CHUNKS:
            detail = f"the PNG picture has a part {name!r} that can't be looked through; save it without metadata"
            raise Damaged(place or "content", "unreadable", detail)
        if name == b"tEXt":
            yield Text(
                place or "tEXt", data[position + 8 : position + 8 + length].decode("latin-1").replace("\0", "\n")
            )
        position += 12 + length
    if position != len(data):
        raise Damaged(place or "content", "unreadable", "something follows the PNG picture")
