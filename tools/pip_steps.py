"""What set-up asks of pip, and what to say when pip fails: decisions only, nothing is run here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""PyTorch's own index of builds without GPU libraries; the only place to get them for Linux."""


@dataclass(frozen=True)
class Step:
    """One call of `pip install`: the line to print first, its arguments, and whether the next step may stand in."""

    says: str
    arguments: tuple[str, ...]
    optional: bool = False


def torch_pin(lock: str) -> str:
    """Return the version of torch that the text of a lock file pins; ValueError if it pins none."""
    found = re.search(r"^torch==([\w.]+)", lock, flags=re.MULTILINE)
    if not found:
        raise ValueError("requirements.lock pins no torch: run `make lock`")
    return found[1]


def torch_steps(version: str, platform: str) -> tuple[Step, ...]:
    """Return the ways to install torch in order of preference for a `sys.platform`; one that works is enough.

    Only Linux has builds with GPU libraries under the plain name. Dependencies come with the lock.
    """
    plain = ("--no-deps", f"torch=={version}")
    if not platform.startswith("linux"):
        return (Step(f"Installing PyTorch {version}", plain),)
    cpu = ("--no-deps", "--index-url", TORCH_CPU_INDEX, "--retries", "0", "--timeout", "15", f"torch=={version}+cpu")
    return (
        Step(f"Installing PyTorch {version}, CPU build (about 200 MB)", cpu, optional=True),
        Step(
            "PyTorch's CPU builds can't be reached; taking the ordinary package, "
            "which with its GPU libraries may come to 3 GB",
            plain,
        ),
    )


def remaining_steps(lock: Path, project: Path) -> tuple[Step, ...]:
    """Return the steps after torch: everything the lock names, then the project itself."""
    return (
        Step("Installing the locked packages (about 150)", ("-r", str(lock))),
        Step("Installing the project itself", ("--no-deps", "--no-build-isolation", "-e", str(project))),
    )


def unavailable(output: str) -> bool:
    """Say whether pip failed because its sources hold no such package, reachable or not: another source may have it.

    After any other failure (a download that broke off, a full disk) the next source would hide the real problem.
    """
    return "No matching distribution found" in output


_CAUSES = (
    (r"No space left on device|Errno 28", "the disk is full", "free about 3 GB"),
    (r"Permission denied|Errno 13", "a file may not be written", "make the project folder and its .venv your own"),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        "the package index's certificate isn't trusted",
        "set PIP_CERT to your network's certificate file",
    ),
    (r"DO NOT MATCH THE HASHES", "a download arrived damaged", "empty pip's cache with `pip cache purge`"),
    (
        r"NewConnectionError|NameResolutionError|[Nn]ame resolution|Name or service not known|Max retries exceeded"
        r"|Connection(Timeout|ResetError| refused| broken)|[Rr]ead timed out|ReadTimeout|ProxyError|IncompleteRead"
        r"|Network is unreachable",
        "the package index can't be reached or the download broke off",
        "check the network and any proxy",
    ),
    (
        r"No matching distribution found for (?P<name>[\w.+=-]+)",
        "pip finds no {name} for this Python and system",
        "check the network and `pip config list`, or use another Python: "
        "delete .venv and run `make PYTHON=python3.12 setup`",
    ),
    (
        r"Failed (to build|building)|metadata-generation-failed|subprocess-exited-with-error",
        "a package has no ready-made build for this Python and couldn't be built",
        "use another Python: delete .venv and run `make PYTHON=python3.12 setup`",
    ),
)


def explain(output: str) -> tuple[str, str]:
    """Return what went wrong in a failed pip run, and the cure, from what pip printed."""
    for pattern, problem, cure in _CAUSES:
        found = re.search(pattern, output)
        if found:
            return problem.format(**found.groupdict()), cure
    errors = [line.partition("ERROR:")[2].strip() for line in output.splitlines() if line.startswith("ERROR:")]
    return f"pip failed ({errors[-1] if errors else 'it gave no reason'})", "read the details"
