"""Make the environment in .venv, or say in one line why that can't be.

Every Python from 3.6 on can read this file; the work is done by `tools.environment`, which needs the version below.
"""

import sys
from os.path import abspath, dirname

NEEDED = (3, 11)


def complaint(version: tuple) -> str:  # type: ignore[type-arg]
    """Return what to say to a Python of this version: nothing if it will do."""
    if tuple(version[:2]) >= NEEDED:
        return ""
    return (
        f"Python 3.11 or newer is needed, this is {'.'.join(map(str, version[:3]))}: "
        "install it and run `make PYTHON=python3.12 setup` (with its name)."
    )


def main() -> int:
    """Check the version, then make the environment; the exit code is 0 when it is ready."""
    unfit = complaint(sys.version_info)
    if unfit:
        sys.stderr.write(unfit + "\n")
        return 1
    sys.path.insert(0, dirname(dirname(abspath(__file__))))
    from tools.environment import main as make_environment

    return make_environment()


if __name__ == "__main__":
    sys.exit(main())
