"""The checker's process: whatever the student's side says or does, it is the student's outcome and not ours."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any

import pytest

from autograder.sealed import bridge
from autograder.sealed.checker import Student, run_cell
from autograder.sealed.codec import receive, send


def outcome(test: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run a test cell against a student's names, which answer in a thread."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with theirs, theirs.makefile("rwb") as file:
            try:
                while True:
                    bridge.answer(file, receive(file), names)
            except (EOFError, OSError, KeyboardInterrupt):
                return

    thread = threading.Thread(target=serve)
    thread.start()
    with ours:
        found = run_cell(test, Student(ours))
        ours.shutdown(socket.SHUT_RDWR)
    thread.join(10)
    return found


def raising(error: BaseException) -> Any:
    def function(*_: Any) -> Any:
        raise error

    return function


def test_a_right_answer_passes_and_a_wrong_one_says_where() -> None:
    names = {"f": lambda x: 2 * x, "y": [1, 2]}
    assert outcome("assert f(3) == 6\nassert y == [1, 2]", names) == {"status": "ok"}
    wrong = outcome("x = 1\nassert f(x) == 3, 'not three'", names)
    assert wrong == {"status": "error", "ename": "AssertionError", "evalue": "not three", "line": 2}


@pytest.mark.parametrize(
    "error",
    [SyntaxError("x"), SystemExit(0), GeneratorExit(), StopIteration(), MemoryError(), RecursionError(),
     OSError(2, "x"), UnicodeDecodeError("utf-8", b"", 0, 1, "x"), EOFError(),
     type("Strange Name", (BaseException,), {})()],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_an_error_of_the_student_is_an_error_of_the_student(error: BaseException) -> None:
    found = outcome("f()", {"f": raising(error)})
    assert found["status"] == "error" and found["line"] == 1
    assert outcome("try:\n    f()\nexcept Exception:\n    pass", {"f": raising(error)}) == {"status": "ok"}


def test_an_interrupt_means_that_the_student_is_gone() -> None:
    assert outcome("f()", {"f": raising(KeyboardInterrupt())}) == {"status": "gone"}
    assert outcome("try:\n    f()\nexcept Exception:\n    pass", {"f": raising(KeyboardInterrupt())}) == {
        "status": "gone"
    }


@pytest.mark.parametrize(
    "value", [object(), (x for x in ()), 1 << 10**6, "x" * (70 * 2**20)], ids=lambda v: type(v).__name__
)
def test_what_cannot_cross_is_an_error_of_the_student_also_when_handed_on(value: Any) -> None:
    names = {"make": lambda: value, "take": lambda x: x, "it": value}
    for test in ("assert make() == 1", "take(make())", "take([make()])", "assert it == 1", "take(x=it)"):
        found = outcome(test, names)
        assert found["status"] == "error" and found["ename"] in ("AssertionError", "TypeError"), (test, found)


def test_a_test_cell_that_is_no_python_is_ours() -> None:
    assert outcome("%timeit f()", {})["status"] == "broken"
    assert outcome("assert nothing == 1", {})["ename"] == "NameError"


HOSTILE = [
    3, None, [], {}, {"value": 3}, {"value": {"t": "dtype", "v": {}}}, {"value": {"t": "dtype", "v": "O,O("}},
    {"value": {"t": "array", "v": "AAAA"}}, {"value": {"t": "set", "v": [{"t": "list", "v": []}]}},
    {"value": {"t": "FloatFormat", "v": ["x"] * 6}}, {"value": {"t": "int", "v": None}},
    {"raised": 3}, {"raised": []},
    {"raised": ["__import__", "eval", "BaseException", "SystemExit"], "text": 3}, {"opaque": "\n\0"}, {"opaque": {}},
]  # fmt: skip


@pytest.mark.parametrize("reply", HOSTILE, ids=lambda reply: json.dumps(reply)[:40])
def test_a_hostile_reply_earns_nothing_and_breaks_nothing(reply: Any) -> None:
    ours, theirs = socket.socketpair()

    def lie() -> None:
        with theirs, theirs.makefile("rwb") as file:
            receive(file)
            send(file, {"callable": True})
            receive(file)
            send(file, reply)

    thread = threading.Thread(target=lie)
    thread.start()
    with ours:
        found = run_cell("assert f(1) == 2", Student(ours))
    thread.join(10)
    assert found["status"] == "error", found


@pytest.mark.parametrize("data", [b"", b"\0" * 7, (2**62).to_bytes(8, "big"), (2).to_bytes(8, "big") + b"{x",
                                  (200_000).to_bytes(8, "big") + b"[" * 200_000])  # fmt: skip
def test_a_line_that_breaks_off_or_is_no_json_means_gone(data: bytes) -> None:
    ours, theirs = socket.socketpair()

    def lie() -> None:
        with theirs, theirs.makefile("rwb") as file:
            receive(file)
            file.write(data)

    thread = threading.Thread(target=lie)
    thread.start()
    with ours:
        assert run_cell("assert f(1) == 2", Student(ours)) == {"status": "gone"}
    thread.join(10)
