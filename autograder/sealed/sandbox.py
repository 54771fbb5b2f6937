"""A sandbox that runs: bubblewrap, and everything that lives behind its walls and ends with them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from tempfile import TemporaryFile
from typing import IO

from autograder.sealed import seccomp
from autograder.sealed.groups import Group

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
        stderr: int | IO[bytes] = subprocess.DEVNULL,
        group: Group | None = None,
    ) -> None:
        program, *words = walls
        told, telling = os.pipe()
        with os.fdopen(told, encoding="utf-8") as file, TemporaryFile() as rules:
            rules.write(seccomp.program())
            rules.seek(0)
            options = ["--info-fd", str(telling), "--seccomp", str(rules.fileno())]
            try:
                self.process = subprocess.Popen(
                    [*(group.entrance() if group else ()), program, *options, *words, *command],
                    env=environment, stdin=stdin, stdout=stdout, stderr=stderr,
                    start_new_session=True, pass_fds=[telling, rules.fileno()],
                )  # fmt: skip
            finally:
                os.close(telling)
            text = file.read()
        try:
            self.first = int(json.loads(text)["child-pid"])
            self.init = os.pidfd_open(self.first)
        except (ValueError, ProcessLookupError):
            self.process.kill()
            self.process.wait()
            raise OSError("bubblewrap didn't start: `autograder doctor` says why") from None

    @classmethod
    def waiting(cls, walls: Sequence[str], environment: Mapping[str, str], group: Group | None = None) -> Sandbox:
        """Return a sandbox that is finished and waits for a process to enter; it goes when this process ends."""
        hearing, telling = os.pipe()
        sandbox = cls(walls, ["sh", "-c", "echo; read _"], environment, subprocess.PIPE, telling, group=group)
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
