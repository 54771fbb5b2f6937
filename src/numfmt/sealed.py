"""Sealed answers: a table that tells right from wrong without holding the answers in clear.

Each answer is put through a slow salted hash. Half of the result finds the answer's row in the table, the other
half opens the hint that is locked there, so that a hint can be read only by someone who gave that answer.
This keeps answers out of sight of a curious reader; it is no defence against guessing a small number.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from .plain import Plain, to_bytes

_ROUNDS = 20_000  # about 10 ms for an honest check, a million times that for a list of guesses
_NAME_BYTES = 12


def stretch(answer: Plain, salt: str) -> tuple[str, bytes]:
    """Return (name, key) of an answer: its row in the table, and the key of the hint there (PBKDF2, RFC 8018)."""
    raw = hashlib.pbkdf2_hmac("sha256", to_bytes(answer), salt.encode(), _ROUNDS, dklen=_NAME_BYTES + 32)
    return base64.b64encode(raw[:_NAME_BYTES]).decode(), raw[_NAME_BYTES:]


def lock(content: Any, key: bytes) -> str:
    """Return JSON content as text that only `unlock` with the same key turns back."""
    return base64.b64encode(_mask(json.dumps(content, ensure_ascii=False).encode(), key)).decode()


def unlock(locked: str, key: bytes) -> Any:
    """Return the content that `lock` locked with this key."""
    return json.loads(_mask(base64.b64decode(locked), key))


def _mask(data: bytes, key: bytes) -> bytes:
    stream = hashlib.shake_256(key).digest(len(data))
    return bytes(a ^ b for a, b in zip(data, stream, strict=True))
