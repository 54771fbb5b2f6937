"""The student's side of the border: answers the checker's questions about names, and calls functions for it.

Its text, after that of `codec`, is run in the student's kernel; whatever a student does to it, the checker gets plain
data and nothing else.
"""

import socket
from collections.abc import Callable
from typing import Any

from autograder.sealed.codec import NotPlain, pack, receive, send, unpack

MAX_TEXT = 2_000


def serve(path: str, names: dict[str, Any]) -> None:
    """Answer questions until the checker has no more; `names` are the student's globals."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        with connection.makefile("rwb") as file:
            while True:
                try:
                    question = receive(file)
                except EOFError:
                    return
                answer(file, question, names)


def answer(file: Any, question: dict[str, Any], names: dict[str, Any]) -> None:
    """Send the answer to one question."""
    name = question["name"]
    try:
        if question["do"] == "get":
            reply = describe(names, name)
        else:
            arguments = [unpack(each) for each in question["args"]]
            options = {key: unpack(each) for key, each in question["kwargs"].items()}
            reply = called(names[name], arguments, options)
        send(file, reply)
    except NotPlain as error:
        send(file, {"opaque": error.kind[:100]})
    except RecursionError:
        send(file, {"opaque": "a value that is nested too deeply"})


def describe(names: dict[str, Any], name: str) -> dict[str, Any]:
    """Say what a name stands for."""
    if name not in names:
        return {"missing": True}
    value = names[name]
    try:
        return {"value": pack(value)}
    except NotPlain:
        if callable(value):
            return {"callable": True}
        raise


def called(function: Callable[..., Any], arguments: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    """Call a function, and say what it returned or raised."""
    try:
        result = function(*arguments, **options)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        kinds = [kind.__name__ for kind in type(error).__mro__][:20]
        try:
            text = str(error)[:MAX_TEXT]
        except Exception:
            text = ""
        return {"raised": kinds, "text": text}
    return {"value": pack(result)}
