"""Inputs of one's own: an exercise may give each student other numbers, chosen by a code from the instructor.

Without a code everybody has the first of the inputs. The code is derived from the student's id and a secret of the
course (see `autograder.variants`), so grading knows it again; from a code nobody learns another one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

STORE = "variant.txt"
"""The file with a student's code, in the bundle's top folder, or beside a notebook that has been moved."""

_BUNDLE = "manifest.json"
_BODY, _CHECK = 8, 2
"""Characters of a code (RFC 4648's base32), and those that tell a mistyped one."""

_READ_AS = {"0": "O", "1": "I", "8": "B"}

T = TypeVar("T")


def variant(exercise: str, choices: Sequence[T]) -> T:
    """Return the item of `choices` that this student has in the exercise (its grade_id); without a code, the first.

    ValueError if there are no choices, or if the stored code is damaged.
    """
    if not len(choices):
        raise ValueError(f"{exercise} has no inputs to choose from")
    return choices[index_of(exercise, len(choices))]


def index_of(exercise: str, count: int) -> int:
    """Return which of `count` inputs this student has in an exercise; without a code, 0."""
    code = stored_code()
    return index_with(code, exercise, count) if code else 0


def index_with(code: str, exercise: str, count: int) -> int:
    """Return which of `count` inputs the owner of a code has: by HMAC-SHA256 (RFC 2104) of the exercise's name."""
    digest = hmac.digest(checked(code).encode(), exercise.encode(), "sha256")
    return int.from_bytes(digest) % count


def use_code(code: str) -> None:
    """Keep a student's code, for all sections of the bundle; ValueError if it is mistyped."""
    here = Path.cwd()
    folder = next((each for each in (here, here.parent) if (each / _BUNDLE).is_file()), here)
    known = checked(code)
    (folder / STORE).write_text(known + "\n", encoding="ascii")
    print(f"✓ Your code is {known}. Run the notebooks from the top again: they have your inputs now.")


def stored_code() -> str:
    """Return the code that is kept here, empty without one; ValueError if its file is damaged."""
    here = Path.cwd()
    folders = [here, here.parent] if (here.parent / _BUNDLE).is_file() else [here]
    for path in (folder / STORE for folder in folders):
        if path.is_file():
            try:
                return checked(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise ValueError(f"{path}: {error} Delete the file, or write your code into it again.") from None
    return ""


def code_from(digest: bytes) -> str:
    """Return the code that bytes (5 or more, of which the first 5 count) stand for, such as `QK3D-7XNA-VE`."""
    body = base64.b32encode(digest[:5]).decode()
    return "-".join((body[:4], body[4:], _check_of(body)))


def checked(code: str) -> str:
    """Return a code as it is written, whatever its capitals, spaces and hyphens; ValueError if it is none."""
    # The digits that base32 leaves out are letters that were read wrongly.
    bare = "".join(_READ_AS.get(each, each) for each in code.upper() if each not in " -\r\n\t")
    body, check = bare[:_BODY], bare[_BODY:]
    if len(bare) != _BODY + _CHECK or check != _check_of(body):
        raise ValueError(f"{code.strip()[:40]!r} is no code, which has ten letters and digits: was it mistyped?")
    return "-".join((body[:4], body[4:], check))


def _check_of(body: str) -> str:
    return base64.b32encode(hashlib.sha256(body.encode()).digest()).decode()[:_CHECK]
