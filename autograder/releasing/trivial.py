"""Which lines of code give nothing away: an `else:` in a solution may stand in the lecture too."""

from __future__ import annotations

import keyword
import re

_NAME = r"[A-Za-z_]\w*"
_NAMES = rf"{_NAME}(?:, ?{_NAME})*"
_START = r"(?:None|True|False|-?[01](?:\.0*)?|\[\]|\{\}|\(\)|\"\"|(?:set|dict|list)\(\))"
_SEQUENCE = rf"(?:{_NAME}|range\({_NAME}\)|range\(len\({_NAME}\)\)|enumerate\({_NAME}\)|zip\({_NAMES}\))"

_ANYWHERE = re.compile(
    "|".join(
        (
            r"\W*",
            rf"import {_NAME}(?:\.{_NAME})*(?: as {_NAME})?",
            rf"from [\w.]+ import {_NAMES}",
            rf"(?:return )?{_NAME},?",
            rf"except {_NAME}(?: as {_NAME})?:",
            rf"def {_NAME}\([\w\s,:*.\[\]|]*\)(?: ?-> ?[\w\s,.\[\]|]+)?:",
            rf"for {_NAMES} in {_SEQUENCE}:",
            rf"(?:if|elif|while) (?:not )?{_NAME}:",
            rf"{_NAME} ?= ?[\[({{]+",
            r"# ?\w+(?: \w+)?\W?",
        )
    )
)
_INSIDE = re.compile(
    "|".join(
        (
            rf"{_NAME}(?:: ?[\w\[\], ]+)? ?= ?(?:{_START}|{_NAME})",
            rf"{_NAME} ?[+-]= ?1",
            rf"return {_START}",
        )
    )
)
_CALL = re.compile(rf"(?:{_NAMES} ?= ?)?{_NAME}\((?:{_NAMES})?\)")
_LITERAL = re.compile(r"-?(?:\d[\w.]*|\"[^\"]*\"),?")
_SHORT = 8


def gives_nothing_away(line: str, *, is_answer: bool = True) -> bool:
    """Say whether a line is too plain to be a secret.

    With `is_answer`, an assignment such as `carry = 0` counts as plain only if it is indented: at the left margin it
    may be the whole answer to an exercise. Without, calls of the student's function are plain too.
    """
    code = " ".join(line.replace("'", '"').split())
    if _ANYWHERE.fullmatch(code) or _only_keywords(code):
        return True
    if _LITERAL.fullmatch(code):
        return len(code) < _SHORT
    if not is_answer and _CALL.fullmatch(code):
        return True
    return (line[:1].isspace() or not is_answer) and bool(_INSIDE.fullmatch(code))


def _only_keywords(code: str) -> bool:
    words = re.findall(r"\w+", code)
    return '"' not in code and all(keyword.iskeyword(word) for word in words)
