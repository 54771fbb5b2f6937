"""Start a fork server (see `zygote`), and ask it for processes."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.course import REPOSITORY
from autograder.grading import scratch as scratch_folder
from autograder.grading.processes import MARK

_STARTS_WITHIN = 120.0
_ANSWERS_WITHIN = 20.0
KERNEL = "ipykernel_launcher"
"""The module that a kernel runs."""

UNMARKED = "0" * 32
"""Stands in the zygote's environment where its children have the mark of their job."""


class NoFork(Exception):
    """No process could be forked; start it in the plain way."""


class Forked:
    """A forked process, whoever its parent is."""

    def __init__(self, pidfd: int) -> None:
        self._pidfd = pidfd

    def __del__(self) -> None:
        os.close(self._pidfd)

    def has_ended(self) -> bool:
        """Say whether it is gone."""
        return bool(select.select([self._pidfd], [], [], 0)[0])

    def wait(self, timeout: float | None = None) -> None:
        """Wait until it is gone; subprocess.TimeoutExpired after so many seconds."""
        if not select.select([self._pidfd], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("a forked process", timeout or 0)

    def kill(self) -> None:
        """Kill it; harmless when it is gone."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)


Process = Forked | subprocess.Popen[bytes]
"""A process that was born either way: it can be waited for and killed."""


class ForkServer:
    """A zygote of our own, started by `begin` or when it is first needed; threads may share it. Close it at last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._address: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._left = contextlib.ExitStack()

    def begin(self) -> None:
        """Start it and don't wait until it is ready, which takes some seconds."""
        with self._lock:
            self._begin()

    def address(self) -> str:
        """Return the path to ask it at; an empty one if there can't be any."""
        with self._lock:
            self._begin()
            if self._process is not None:
                process, self._process = self._process, None
                assert process.stdout is not None
                heard = select.select([process.stdout], [], [], _STARTS_WITHIN)[0] and process.stdout.read(1)
                self._address = self._address if heard == b"!" else ""
            return self._address or ""

    def close(self) -> None:
        """End it."""
        self._left.close()

    def _begin(self) -> None:
        if self._address is not None:
            return
        made = scratch_folder.new_folder()
        folder = Path(made.name).resolve()
        scratch_folder.fill(folder)
        (folder / "memory").mkdir()
        self._address = str(folder / "zygote")
        environment = {**scratch_folder.environment(folder), MARK: UNMARKED}
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(self._address)
            listener.listen(64)
            self._process = subprocess.Popen(
                [sys.executable, "-m", "autograder.sealed.zygote", str(listener.fileno()), str(folder)],
                cwd=REPOSITORY, env={**environment, "PYTHONPATH": scratch_folder.python_path(environment)},
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                pass_fds=[listener.fileno()], start_new_session=True,
            )  # fmt: skip
        self._left.enter_context(self._process)
        self._left.callback(self._process.kill)
        self._left.callback(made.cleanup)  # first: should we be killed now, the zygote has nothing to leave behind


def fork(path: str, program: str, descriptors: Sequence[int], environment: Mapping[str, str], **more: Any) -> Forked:
    """Return a new process that runs a program with these descriptors; NoFork if that can't be."""
    request = json.dumps({"program": program, "environment": dict(environment), **more}).encode()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.settimeout(_ANSWERS_WITHIN)
            connection.connect(path)
            socket.send_fds(connection, [request], descriptors)
            answer, given, _, _ = socket.recv_fds(connection, 2_000, 1, socket.MSG_CMSG_CLOEXEC)
    except OSError as error:
        raise NoFork(f"the fork server doesn't answer ({error})") from error
    if answer != b"!" or len(given) != 1:
        raise NoFork(answer.decode("utf-8", "replace") or "the fork server ended")
    return Forked(given[0])
