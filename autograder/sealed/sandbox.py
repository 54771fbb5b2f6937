"""A sandbox that runs: bubblewrap, and everything that lives behind its walls and ends with them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO

_PATIENCE = 5.0
"""Seconds for the kernel to take a sandbox down."""


class Sandbox:
    """A command behind walls; `process` is bubblewrap, and ends when all of the sandbox has ended.

    `first` is the number of the first process inside, as it is seen from outside, and `init` its pidfd.
    """

    def __init__(
        self,
        walls: Sequence[str],
        command: Sequence[str],
        environment: Mapping[str, str],
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        stdout: int | IO[bytes] = subprocess.DEVNULL,
    ) -> None:
        program, *words = walls
        told, telling = os.pipe()
        try:
            self.process = subprocess.Popen(
                [program, "--info-fd", str(telling), *words, *command],
                env=environment, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL,
                start_new_session=True, pass_fds=[telling],
            )  # fmt: skip
        finally:
            os.close(telling)
        with open(told, encoding="utf-8") as file:
            text = file.read()
        try:
            self.first = int(json.loads(text)["child-pid"])
            self.init = os.pidfd_open(self.first)
        except (ValueError, ProcessLookupError):
            self.process.kill()
            self.process.wait()
            raise OSError("bubblewrap didn't start: `autograder doctor` says why") from None

    @classmethod
    def waiting(cls, walls: Sequence[str], environment: Mapping[str, str]) -> Sandbox:
        """Return a sandbox that is finished and waits for a process to enter; it goes when this process ends."""
        hearing, telling = os.pipe()
        sandbox = cls(walls, ["sh", "-c", "echo; read _"], environment, subprocess.PIPE, telling)
        os.close(telling)
        with open(hearing, "rb") as ready:
            if not ready.read(1):
                sandbox.end()
                raise OSError("bubblewrap didn't start: `autograder doctor` says why")
        return sandbox

    def end(self) -> None:
        """Kill everything in the sandbox and wait until it is gone; harmless when that has been done."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.init, signal.SIGKILL)  # the first process: the others go with it
            try:
                self.process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.init >= 0:
            os.close(self.init)
            self.init = -1
