"""The programs from outside Python that some tests need: find them, and install them where that's allowed.

python -m tools.system_packages      use what is there, install the rest, or say what is missing
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from ctypes.util import find_library
from pathlib import Path

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_PLACES = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
CHROMIUM_MISSING = (
    "Chromium is missing: `apt install chromium` on Debian, `snap install chromium` on Ubuntu, "
    "or Google Chrome from its website elsewhere"
)
LOG = Path(__file__).resolve().parent.parent / "build" / "system_packages.log"


def find_chromium() -> str | None:
    """Return the path of a Chromium or Chrome that starts, or None; a name alone may belong to an empty stand-in."""
    found = [shutil.which(name) for name in (*CHROMIUM_NAMES, *CHROMIUM_PLACES)]
    return next((path for path in found if path and _starts(path)), None)


def _starts(program: str) -> bool:
    try:
        return subprocess.run([program, "--version"], capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def is_required(variables: Mapping[str, str]) -> bool:
    """Say whether a missing program fails the tests (continuous integration) rather than skipping some of them."""
    return variables.get("CI", "").lower() in {"true", "1"}


def may_install(uid: int, release: Mapping[str, str], apt_get: str | None) -> bool:
    """Say whether this user may install packages here: root on Debian, Ubuntu or their kin."""
    kin = {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
    return uid == 0 and apt_get is not None and bool(kin & {"debian", "ubuntu"})


def _release() -> Mapping[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def install(package: str) -> bool:
    """Install a Debian package without asking anything; return whether it worked. apt's words go to the log."""
    LOG.parent.mkdir(exist_ok=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = ["apt-get", "-o", "DPkg::Lock::Timeout=120", "-q"]
    commands = ([*apt, "update"], [*apt, "install", "-y", "--no-install-recommends", package, "fonts-dejavu-core"])
    with LOG.open("ab") as log:
        # A failed update may concern another source than the package's: the install decides.
        codes = [
            subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=quiet, check=False
            ).returncode
            for command in commands
        ]
    return codes[-1] == 0


def _starts_bubblewrap() -> str | None:
    found = shutil.which("bwrap")
    return found if found and _starts(found) else None


NEEDED = (
    ("chromium", "Chromium", find_chromium, CHROMIUM_MISSING, "browser tests"),
    (
        "bubblewrap", "bubblewrap", _starts_bubblewrap,
        "bubblewrap is missing: `apt install bubblewrap` on Debian and Ubuntu", "tests of sealed grading",
    ),
    (
        "libseccomp2", "libseccomp", lambda: find_library("seccomp"),
        "libseccomp is missing: `apt install libseccomp2` on Debian and Ubuntu", "tests of sealed grading",
    ),
)  # fmt: skip
"""What the tests need: the package, its name, how to find it, what to say without it, and which tests need it."""


def main() -> int:
    """Provide what the tests need, or say in a line what is missing; the tests themselves skip or fail on it."""
    for package, name, find, missing, tests in NEEDED:
        if find():
            continue
        if may_install(os.geteuid(), _release(), shutil.which("apt-get")):
            print(f"Installing {name} for the {tests} (apt-get, once)", flush=True)
            if install(package) and find():
                continue
            print(f"apt-get couldn't install a {name} that starts (details: {LOG})", file=sys.stderr)
        effect = f"the {tests} will {'fail' if is_required(os.environ) else 'be skipped'}"
        print(f"{missing}; {effect}.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
