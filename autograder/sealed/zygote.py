"""The zygote: a process that has imported what kernels need, and forks itself for whoever asks.

Starting Python and importing torch costs more than grading most notebooks. The zygote pays for it once a batch; then
a kernel is a fork of it (some milliseconds, its memory shared), and so are the worker and the checker of each
submission. Each still has a process of its own for each submission, so no state outlives one.

What makes that safe is that the zygote knows nothing. It has one thread and an environment without secrets, takes no
message and reads no file of a course: a request is read by the child that was forked for it. So all that a student
finds in the memory of a forked kernel is Python, the libraries, and these files. The kernel's walls are made by
bubblewrap for each submission as ever; the child enters them from outside, gives up its rights, and runs nothing
unless that is proven (see `entering`). Whoever gets no child starts a process in the plain way, behind the same
walls.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import io
import json
import os
import random
import select
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

from autograder.course import REPOSITORY
from autograder.grading import scratch as scratch_folder
from autograder.grading.processes import MARK
from autograder.limits import Limits
from autograder.sealed import entering
from autograder.sealed.forking import KERNEL

LIBRARIES = (
    *("ipykernel.kernelapp", "ipykernel.debugger", "IPython.extensions.storemagic", "sqlite3"),
    *("matplotlib.pyplot", "matplotlib.backends.backend_agg", "PIL.Image"),
    *("numfmt.checks", "numfmt.plots", "numfmt.predictions", "sklearn.datasets", "torch"),
)
"""What kernels and notebooks import; what isn't installed is left out."""

PROGRAMS = ("autograder.grading.worker", "autograder.sealed.checker")
LONGEST = 128 * 1024
"""Bytes of a request."""

_FAILED = 70


def main() -> int:
    """Serve the listening socket whose descriptor is given, until standard input ends; then remove the folder."""
    listener, folder = socket.socket(fileno=int(sys.argv[1])), Path(sys.argv[2])
    try:
        return _serve(listener)
    finally:
        scratch_folder.remove(folder)


def _serve(listener: socket.socket) -> int:
    for name in (*LIBRARIES, *PROGRAMS, "autograder.grading.kernel"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    with contextlib.suppress(ImportError):
        _draw()
    if len(os.listdir("/proc/self/task")) > 1:
        return _FAILED  # a fork would have one of the threads, and the locks of all
    entering.adopt_orphans()
    mark = _place_of(MARK)
    gc.collect()
    gc.freeze()
    os.write(1, b"!")
    while _is_asked(listener):
        connection, _ = listener.accept()
        if os.fork() == 0:
            _be_born(connection, mark)
        connection.close()
    return 0


def _draw() -> None:
    """Draw a figure, for the first one loads fonts and what reads formulas."""
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().set_title("$2^{-1}$")
    figure.savefig(io.BytesIO(), format="png", bbox_inches="tight")


def _is_asked(listener: socket.socket) -> bool:
    """Wait for a request and bury the dead; False when standard input has ended."""
    while True:
        ready, _, _ = select.select([0, listener.fileno()], [], [], 0.2)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if ready:
            return 0 not in ready


def _place_of(variable: str) -> int:
    """Return where this process's environment, as /proc shows it, has the value of a variable."""
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_void_p
    return int(getenv(variable.encode()))


def _be_born(connection: socket.socket, mark: int) -> None:
    """Become what the request asks for; never return."""
    try:
        message, given, _, _ = socket.recv_fds(connection, LONGEST, 4, socket.MSG_CMSG_CLOEXEC)
        request = json.loads(message)
        _start_anew(request["environment"], mark)
        if request["program"] == KERNEL:
            _become_kernel(request, given[0], connection, mark)
        elif request["program"] in PROGRAMS:
            _become_program(request, given, connection)
    except BaseException as error:
        with contextlib.suppress(OSError):
            connection.send(f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(_FAILED)


def _start_anew(environment: dict[str, str], mark: int) -> None:
    """Take a new environment and forget what a new process wouldn't know: chance, and where temporary files go."""
    ctypes.memmove(mark, environment[MARK].encode(), len(environment[MARK]))
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:  # whose seed is the same in every new process
        torch = sys.modules["torch"]
        torch.default_generator.manual_seed(torch.default_generator.initial_seed())


def _forget(mark: int) -> None:
    """Take the mark of the job out of the environment, also as /proc shows it: it would tell who is being graded."""
    name = len(MARK) + 1
    ctypes.memset(mark - name, 0, name + len(os.environ.pop(MARK)))


def _become_program(request: dict[str, Any], streams: list[int], connection: socket.socket) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(request["folder"])
    os.setsid()
    _answer(connection, os.getpid())
    _close_but(None)
    os._exit(sys.modules[request["program"]].main())


def _become_kernel(request: dict[str, Any], sandbox: int, connection: socket.socket, mark: int) -> None:
    if request["group"]:
        Path(request["group"]).write_text("0")
    entering.enter(sandbox)
    hearing, telling = os.pipe()
    child = os.fork()
    if child:
        os.close(telling)
        heard = os.read(hearing, 1_000)
        if heard == b"!":
            _answer(connection, child)
        else:
            connection.send(heard or b"the forked process ended")
        os.waitpid(child, 0)  # a sandbox is gone only when all that lived in it are buried
        os._exit(0)
    try:
        os.chdir(request["folder"])
        _forget(mark)
        _close_but(telling)
        entering.give_up_rights(request["uid"], Limits(**request["limits"]), bytes.fromhex(request["filter"]))
    except BaseException as error:
        os.write(telling, f"{type(error).__name__}: {error}"[:1_000].encode())
        os._exit(_FAILED)
    os.write(telling, b"!")
    os.close(telling)
    _run_kernel(request["arguments"])


def _run_kernel(arguments: list[str]) -> None:
    """Be the process that `python -m ipykernel_launcher` would be."""
    os.environ.pop("JPY_PARENT_PID", None)
    sys.argv = [f"{KERNEL}.py", *arguments]
    sys.path[:] = [each for each in sys.path[1:] if each != str(REPOSITORY)]
    for name in [each for each in sys.modules if each.partition(".")[0] == "autograder"]:
        del sys.modules[name]
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance()


def _answer(connection: socket.socket, process: int) -> None:
    pidfd = os.pidfd_open(process)
    socket.send_fds(connection, [b"!"], [pidfd])


def _close_but(kept: int | None) -> None:
    """Close all descriptors but the first three and one more; those of a kernel lead nowhere."""
    for number in map(int, os.listdir("/proc/self/fd")):
        if number > 2 and number != kept:
            with contextlib.suppress(OSError):
                os.close(number)
    if kept is not None:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
