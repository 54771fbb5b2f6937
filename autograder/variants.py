"""Per-student variants: the code that decides which inputs a student has, derived from the course's secret."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping

from numfmt.variants import code_from, index_with


def code_of(secret: str | None, student: str) -> str:
    """Return a student's code: the HMAC-SHA256 of the id (RFC 2104), keyed by the secret, as people can type it.

    Without a secret it is empty, and everybody has the default inputs.
    """
    return code_from(hmac.digest(secret.encode(), student.encode(), "sha256")) if secret else ""


def covering(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield codes with which, and without one, each of so many inputs of each exercise comes up at least once."""
    missing = {(exercise, index) for exercise, count in counts.items() for index in range(1, count)}
    number = 0
    while missing:
        code = code_from(number.to_bytes(5))
        found = {(exercise, index_with(code, exercise, count)) for exercise, count in counts.items()} & missing
        if found:
            missing -= found
            yield code
        number += 1
