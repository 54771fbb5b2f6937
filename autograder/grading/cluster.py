"""Several machines: submissions are graded on a Dask cluster, and only the coordinating process writes marks.

The workers run the same pure function as everywhere, behind the same walls. They need this package at the same
version and no file of the course: what a section consists of is sent to them.
"""

from __future__ import annotations

import contextlib
import json
import socket
import tempfile
import threading
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat

from autograder.course import Course, parse_notebook, read_notebook
from autograder.errors import CourseError
from autograder.grading.result import Result
from autograder.grading.running import Interrupted
from autograder.grading.scratch import shipped
from autograder.grading.seam import grade_again_if_unsound
from autograder.grading.stamp import version_here
from autograder.limits import Limits
from autograder.sealed.diagnosis import obstacle
from autograder.sealed.forking import ForkServer
from autograder.sealed.runner import choose_runner

_CONNECTS_WITHIN = 20.0
_GLANCE = 0.5
_IN_FLIGHT = 2
"""Submissions that are on their way, for each thread of the cluster: so no worker waits for the next one."""


@dataclass(frozen=True)
class SectionFiles:
    """What a worker needs of a section: its master, as JSON, and the files that ship with it."""

    master: str
    files: dict[str, bytes]
    digest: str


class Cluster:
    """A connection to a Dask scheduler, for use in a `with` statement; threads may share it."""

    def __init__(self, course: Course, address: str, unsafe: bool = False) -> None:
        try:
            self._dask: Any = import_module("distributed")
        except ImportError as error:
            cure = "Install it: pip install 'numfmt-course[cluster]'."
            raise CourseError("Grading on a cluster needs Dask's package distributed.", cure) from error
        self.stop = threading.Event()
        self._course, self._unsafe = course, unsafe
        self._sections: dict[str, Any] = {}  # futures of Dask's
        self._lock = threading.Lock()
        try:
            # Dask's own client complains at length about an address at which nobody listens.
            place = urlsplit(address)
            socket.create_connection((place.hostname or "", place.port or 0), _CONNECTS_WITHIN).close()
            self._client: Any = self._dask.Client(address, timeout=_CONNECTS_WITHIN, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            cure = "Start one with `dask scheduler`, and give the address that it prints, such as tcp://host:8786."
            raise CourseError(f"No Dask scheduler answers at {address} ({error}).", cure) from error

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    @property
    def at_a_time(self) -> int:
        """How many submissions should be on their way."""
        return _IN_FLIGHT * int(sum(self._client.nthreads().values()))

    @property
    def runner(self) -> str:
        """How results name the runner of the workers; CourseError if one of them can't grade."""
        try:
            found: dict[str, tuple[str, str | None]] = self._client.run(_about)
        except (ImportError, AttributeError) as error:
            cure = "Install the same version of it in the environment of each worker."
            raise CourseError(f"A worker of the cluster can't import this package ({error}).", cure) from error
        if not found:
            raise CourseError("The cluster has no workers.", "Start some: dask worker ADDRESS --nthreads 2")
        for worker, (version, problem) in sorted(found.items()):
            if version != version_here():
                cure = "Install the same version everywhere, so that grades can't differ."
                raise CourseError(f"The worker {worker} has version {version}, not {version_here()}.", cure)
            if problem is not None and not self._unsafe:
                cure = "Start the worker elsewhere, or grade with --unsafe if you trust every submission."
                raise CourseError(f"Student code can't be isolated on the worker {worker}. {problem}.", cure)
        return "plain" if any(problem for _, problem in found.values()) else "sealed"

    def grade(self, section: str, notebook: Path, limits: Limits, code: str = "") -> Result:
        """Grade a submission on a worker and wait for it; one whose worker dies goes to another worker."""
        text = nbformat.v4.writes(read_notebook(notebook))
        future = self._client.submit(
            grade_there, self._section(section), text, limits, self._unsafe, code, pure=False
        )
        try:
            while not future.done():
                if self.stop.is_set():
                    raise Interrupted
                with contextlib.suppress(TimeoutError):
                    future.exception(timeout=_GLANCE)
            result: Result = future.result()
            return result
        except self._dask.KilledWorker as error:
            cure = "Look at the workers' logs (memory?), then grade again."
            raise CourseError(f"{notebook}: workers ended while they graded it ({error}).", cure) from error
        finally:
            future.cancel()

    def _section(self, section: str) -> Any:
        """Return where the cluster has the files of a section; they are sent once."""
        master = self._course.master_path(section)
        with self._lock:
            if section not in self._sections:
                files = {str(path.relative_to(master.parent)): path.read_bytes() for path in shipped(master.parent)}
                text = nbformat.v4.writes(read_notebook(master))
                digest = sha256(json.dumps([text, *sorted(files)]).encode() + b"".join(files.values())).hexdigest()
                self._sections[section] = self._client.scatter(SectionFiles(text, files, digest), broadcast=True)
            return self._sections[section]


def grade_there(section: SectionFiles, text: str, limits: Limits, unsafe: bool, code: str) -> Result:
    """Grade a submission: what a worker runs."""
    local = _local(section.digest)
    runner = choose_runner(local.folder(section), unsafe=unsafe, server=local.server, code=code)
    return grade_again_if_unsound(parse_notebook(section.master), parse_notebook(text), runner, limits)


@dataclass
class _Local:
    """What a worker keeps of a section between submissions."""

    server: ForkServer
    lock: threading.Lock = field(default_factory=threading.Lock)
    place: tempfile.TemporaryDirectory[str] | None = None

    def folder(self, section: SectionFiles) -> Path:
        with self.lock:
            if self.place is None:
                place = tempfile.TemporaryDirectory(prefix="autograder-section-")
                for name, data in section.files.items():
                    path = Path(place.name) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(data)
                self.place = place
            return Path(self.place.name)


@cache
def _local(digest: str) -> _Local:
    return _Local(_server())


@cache
def _server() -> ForkServer:
    return ForkServer()


def _about() -> tuple[str, str | None]:
    """Return the version of this package and what keeps this machine from isolating student code."""
    return version_here(), obstacle()
