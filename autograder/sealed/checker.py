"""The process that runs test cells: `python -m autograder.sealed.checker`, requests and replies as lines of JSON.

It is ours and is trusted. Of the student it sees plain data only, through a socket to the process where the student's
code lives: free names of a test cell are bound to that data, or to functions that send their arguments there.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import re
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.sealed import memory
from autograder.sealed.codec import NotPlain, pack, receive, send, unpack
from autograder.sealed.names import free_names

CELL = "<test cell>"
_PATIENCE = 20.0
"""Seconds for the student's process to connect."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,60}")


class Gone(BaseException):
    """The student's process doesn't answer any more; no test cell can catch this by `except Exception`."""


class Student:
    """The student's process, as far as it can be asked."""

    def __init__(self, connection: socket.socket) -> None:
        self._file = connection.makefile("rwb")
        self.is_gone = False

    def bound(self, name: str) -> tuple[bool, Any]:
        """Return whether a name exists, and what stands for it: plain data, or a function."""
        reply = self._ask({"do": "get", "name": name})
        if reply.get("missing"):
            return False, None
        if reply.get("callable"):
            return True, self._function(name)
        return True, self._value(reply)

    def _function(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                question = {
                    "do": "call",
                    "name": name,
                    "args": [pack(each) for each in args],
                    "kwargs": {key: pack(each) for key, each in kwargs.items()},
                }
                reply = self._ask(question)
            except NotPlain as error:  # often the student's own, handed on by the test cell
                raise TypeError(f"{name} can't be given {error.kind}") from None
            if "raised" in reply:
                raise _raised(reply)
            return self._value(reply)

        call.__name__ = call.__qualname__ = name
        return call

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        try:
            send(self._file, question)
            reply = receive(self._file)
        except (EOFError, OSError, ValueError, RecursionError):
            self.is_gone = True
            raise Gone from None
        return reply if isinstance(reply, dict) else {}

    def _value(self, reply: dict[str, Any]) -> Any:
        if "opaque" in reply:
            return _opaque(str(reply["opaque"]))
        try:
            return unpack(reply["value"])
        except Exception:  # whatever a hostile message makes of a parser, it is the student's
            return _opaque("value that can't be read")


def _opaque(kind: str) -> Any:
    """Return a value of a class that says what it stands for and can do nothing else."""
    name = kind if kind.isprintable() else "value"
    return type(name, (), {"__slots__": ()})()


def _raised(reply: dict[str, Any]) -> Exception:
    """Return the built-in exception that is nearest to the student's, with its text."""
    kinds = [each for each in reply["raised"] if isinstance(each, str)] if isinstance(reply["raised"], list) else []
    found = Exception
    for each in kinds:
        known = getattr(builtins, each, None) if _NAME.fullmatch(each) else None
        if isinstance(known, type) and issubclass(known, Exception):
            found = known
            break
    try:
        error = found(str(reply.get("text", "")))
    except Exception:  # one that wants other arguments
        error = Exception(str(reply.get("text", "")))
    error.student_kind = kinds[0] if kinds and _NAME.fullmatch(kinds[0]) else "Exception"  # type: ignore[attr-defined]
    return error


def run_cell(source: str, student: Student) -> dict[str, Any]:
    """Run a test cell and return its outcome as plain data (see `running.Outcome`)."""
    space: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
    quiet = io.StringIO()
    try:
        code, names = compile(source, CELL, "exec"), free_names(source)
    except SyntaxError as error:
        return {"status": "broken", "evalue": f"the test cell is no plain Python ({error.msg}, line {error.lineno})"}
    try:
        for name in names:
            exists, value = student.bound(name)
            if exists:
                space[name] = value
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            exec(code, space)
    except Gone:
        return {"status": "gone"}
    except BaseException as error:
        if student.is_gone:
            return {"status": "gone"}
        kind = getattr(error, "student_kind", type(error).__name__)
        return {"status": "error", "ename": kind, "evalue": _text(error), "line": _line(error)}
    return {"status": "gone"} if student.is_gone else {"status": "ok"}


def _text(error: BaseException) -> str:
    try:
        return str(error)[:5_000]
    except Exception:
        return ""


def _line(error: BaseException) -> int | None:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == CELL]
    return lines[-1] if lines else None


def main() -> int:
    """Serve requests until standard input ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if memory.FOLDER in os.environ:
        memory.remember(Path(os.environ[memory.FOLDER]))
    for line in sys.stdin:
        request = json.loads(line)
        path = Path(request["socket"])
        with socket.socket(socket.AF_UNIX) as listener:
            mask = os.umask(0)  # the student's user connects; a chmod would follow a link put in its place
            listener.bind(str(path))
            os.umask(mask)
            listener.listen(1)
            listener.settimeout(_PATIENCE)
            _say(replies, {"status": "ready"})
            try:
                connection, _ = listener.accept()
            except OSError:
                _say(replies, {"status": "deaf"})
                continue
            finally:
                path.unlink(missing_ok=True)
            connection.settimeout(None)
            with connection:
                outcome = run_cell(request["source"], Student(connection))
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)  # functions of the cell may still hold the connection
            _say(replies, outcome)
    return 0


def _say(replies: Any, message: dict[str, Any]) -> None:
    replies.write(json.dumps(message) + "\n")
    replies.flush()


if __name__ == "__main__":
    sys.exit(main())
