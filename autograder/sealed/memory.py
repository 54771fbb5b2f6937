"""Remember the slow hashes of a batch: right answers are the same in every submission.

What is kept are results of a pure function, computed by checkers alone, in a folder that no student can see.
"""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

from numfmt import checks
from numfmt.plain import to_bytes
from numfmt.sealed import stretch as compute

FOLDER = "AUTOGRADER_MEMORY"
"""The environment variable that tells a checker's process where the folder is."""


def remember(folder: Path) -> None:
    """Let `numfmt.checks` look up in the folder what was hashed before, and put there what it hashes."""

    def stretch(answer: Any, salt: str) -> tuple[str, bytes]:
        known = folder / hashlib.sha256(to_bytes(answer) + salt.encode()).hexdigest()
        try:
            name, key = known.read_text("ascii").split()
        except FileNotFoundError:
            name, raw = compute(answer, salt)
            new = folder / f"{os.getpid()}"
            new.write_text(f"{name} {base64.b64encode(raw).decode()}", "ascii")
            new.rename(known)
            return name, raw
        return name, base64.b64decode(key)

    vars(checks)["stretch"] = stretch
