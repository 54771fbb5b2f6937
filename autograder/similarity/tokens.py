"""A submission as passages of tokens, in which new names, comments and spacing make no difference."""

from __future__ import annotations

import builtins
import io
import keyword
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from autograder.grading.matching import Piece

LENGTH = 6
"""Tokens of a passage; a cell with fewer is one passage."""

_LONGEST = 100_000
"""Characters of a cell that are read."""

_KEPT = frozenset(keyword.kwlist) | frozenset(dir(builtins))
_SKIPPED = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER)
_STRING = re.compile(r"""\s*[a-zA-Z]{0,2}["']""")
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Token:
    """A token as it is compared, and the line (from 0) of its cell that it starts on."""

    text: str
    line: int


@dataclass(frozen=True)
class Passage:
    """Consecutive tokens as one number, and the lines of their cell that they begin and end on."""

    code: int
    first: int
    last: int


def passages(piece: Piece) -> Iterator[Passage]:
    """Yield the passages of a cell; in code all names but Python's own are the same name."""
    source = piece.source[:_LONGEST]
    tokens = list(_code(source) if piece.kind == "code" else _prose(source))
    for start in range(max(1, len(tokens) - LENGTH + 1)):
        part = tokens[start : start + LENGTH]
        if part:
            text = " ".join(each.text for each in part)
            yield Passage(hash((piece.kind, text)), part[0].line, part[-1].line)


def _code(source: str) -> Iterator[Token]:
    try:
        found = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        # Code that doesn't tokenise can have been copied all the same.
        for word in _prose(source):
            yield Token(_name(word.text) if word.text.isidentifier() else word.text, word.line)
        return
    fresh = True
    for token in found:
        line = token.start[0] - 1
        if token.type == tokenize.NEWLINE:
            fresh = True
        if token.type in _SKIPPED:
            continue
        if token.type == tokenize.STRING and fresh and token.line.strip().endswith(("'", '"')):
            continue  # a docstring
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            yield Token(tokenize.tok_name[token.type], line)
            continue
        fresh = False
        yield Token(_name(token.string) if token.type == tokenize.NAME else _literal(token.string), line)


def _name(name: str) -> str:
    return name if name in _KEPT else "NAME"


def _literal(text: str) -> str:
    return "TEXT" if _STRING.match(text) else text


def _prose(source: str) -> Iterator[Token]:
    for number, line in enumerate(source.splitlines()):
        for word in _WORD.findall(line.casefold()):
            yield Token(word, number)
