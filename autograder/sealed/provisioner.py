"""A kernel provisioner for `jupyter_client`: whatever starts kernels through it starts them behind the walls.

A kernelspec asks for it in its metadata, and then also plain nbclient or nbconvert run a notebook sealed:

    "metadata": {"kernel_provisioner": {"provisioner_name": "autograder-sealed"}}

The kernel starts in an empty folder of its own, with an environment that holds nothing of the caller's. It talks
through sockets in that folder, is interrupted by messages, for a signal would end bubblewrap, and is killed at once
when it has to go.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.provisioning import LocalProvisioner
from traitlets import Dict, Unicode

from autograder.grading import scratch as scratch_folder
from autograder.limits import Limits
from autograder.sealed import isolation, seccomp
from autograder.sealed.forking import KERNEL, Forked, NoFork, fork
from autograder.sealed.groups import Group
from autograder.sealed.sandbox import Sandbox
from autograder.sealed.watching import excess, too_much_memory

NAME = "autograder-sealed"
"""Its entry point, by which kernelspecs ask for it."""

_GLANCE = 0.25
"""Seconds between two looks at what a sandbox takes."""


class SealedProvisioner(LocalProvisioner):  # type: ignore[misc]
    """Starts a kernel in a sandbox and takes the sandbox down with it."""

    scratch = Unicode(help="A filled scratch folder; without one, it is made and taken away again.").tag(config=True)
    server = Unicode(help="Where to ask a fork server for kernels; without one, they are started.").tag(config=True)
    limits = Dict(help="What differs from the usual limits (see `autograder.limits.Limits`).").tag(config=True)

    stopped_for = ""
    """Why the sandbox was taken down before anybody asked for that; empty if it wasn't."""

    _watch: asyncio.Task[None] | None = None
    _own: TemporaryDirectory[str] | None = None
    _sandbox: Sandbox | None = None
    _forked: Forked | None = None
    _group: Group | None = None
    _uid = -1

    async def pre_launch(self, **options: Any) -> dict[str, Any]:
        """Prepare the folder, the sockets and the environment."""
        folder = self._folder()
        uid = isolation.prepare(folder)
        if self._own is not None or "env" not in options:
            options["env"] = scratch_folder.environment(folder)
        options["env"] = {**options["env"], **isolation.environment(folder)}
        self.kernel_spec.interrupt_mode = "message"
        manager = self.parent
        manager.transport, manager.ip = "ipc", str(folder / "ipc" / "kernel")
        # In a folder that students can't write to: nobody can have put a link there.
        manager.connection_file = str(folder / "jupyter" / f"kernel-{self.kernel_id}.json")
        options = await super().pre_launch(**options)
        os.chown(manager.connection_file, uid, uid)
        self._uid = uid
        return dict(options)

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        """Fork the kernel, or start it."""
        await asyncio.to_thread(self._launch, cmd, options["env"])
        assert self._sandbox is not None
        self.process, self.pid = self._sandbox.process, self._sandbox.process.pid
        self.stopped_for, self._watch = "", asyncio.create_task(self._watch_over(self._sandbox))
        # ZeroMQ knocks again only after a tenth of a second.
        door = Path(f"{self.parent.ip}-{self.connection_info['hb_port']}")
        while not door.exists() and await self.poll() is None:
            await asyncio.sleep(0.005)
        return self.connection_info

    def _launch(self, command: list[str], environment: dict[str, str]) -> None:
        folder, limits = self._folder(), Limits(**self.limits)
        words = isolation.command(folder, self._uid, limits)
        self._forked, self._group = None, Group.of_memory(limits.memory_bytes)
        # An ordinary user's fork would still be that user, with /proc/self/exe leading to Python outside the sandbox.
        if self.server and os.geteuid() == 0 and command[:3] == [sys.executable, "-m", KERNEL]:
            sandbox = Sandbox.waiting(words, environment, self._group)
            try:
                self._forked = fork(
                    self.server, KERNEL, [sandbox.init], environment,
                    folder=str(folder / "work"), arguments=command[3:], uid=self._uid, limits=limits.to_json(),
                    filter=seccomp.program().hex(), group=self._group.door if self._group else "",
                )  # fmt: skip
                self._sandbox = sandbox
                return
            except NoFork as error:
                self.log.warning("No kernel could be forked: %s", error)
                sandbox.end()
        self._sandbox = Sandbox(words, command, environment, group=self._group)

    async def _watch_over(self, sandbox: Sandbox) -> None:
        """Take the sandbox down when it takes more than it may."""
        limits, group = Limits(**self.limits), self._group
        while sandbox.process.poll() is None:
            problem = await asyncio.to_thread(excess, sandbox.first, self._folder(), limits, group)
            if problem is not None:
                self.stopped_for = problem
                await asyncio.to_thread(sandbox.end)
            await asyncio.sleep(_GLANCE)

    async def poll(self) -> int | None:
        """Say whether the kernel has ended: its exit code, and None while it lives."""
        if self._sandbox is not None and self._forked is not None and self._forked.has_ended():
            await asyncio.to_thread(self._sandbox.end)
        code: int | None = await super().poll()
        if code is not None and not self.stopped_for and self._group is not None and self._group.was_too_small():
            self.stopped_for = too_much_memory(Limits(**self.limits))
        return code

    async def send_signal(self, signum: int) -> None:
        """Only 0, which asks for life, and what ends a process are possible."""
        if signum and self._sandbox is not None:
            await asyncio.to_thread(self._sandbox.end)

    async def shutdown_requested(self, restart: bool = False) -> None:
        """Kill the kernel: nothing that it would do on its way out is wanted."""
        await self.kill(restart)

    async def cleanup(self, restart: bool = False) -> None:
        """Take away what was made; this may be called twice."""
        if self._watch is not None:
            self._watch.cancel()
        if self._sandbox is not None:
            await asyncio.to_thread(self._sandbox.end)
        if self._group is not None:
            group, self._group = self._group, None
            await asyncio.to_thread(group.remove)
        if self._own is not None and not restart:
            self._own.cleanup()
            self._own = None

    def _folder(self) -> Path:
        if self.scratch:
            return Path(self.scratch)
        if self._own is None:
            self._own = scratch_folder.new_folder()
            scratch_folder.fill(Path(self._own.name).resolve())
        return Path(self._own.name).resolve()
