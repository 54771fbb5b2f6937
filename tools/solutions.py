"""Open the instructor's notebooks, executed and with solutions, for self-study (`make solutions`).

    python -m tools.solutions [ARGUMENT...]      arguments go to `jupyter lab`, such as --no-browser --port=8899

You get a working copy in build/solutions, which follows the course's newer versions where you changed nothing.
"""

from __future__ import annotations

import os
import sys

from autograder.course import REPOSITORY, Course
from tools.lab import config_path, copy_of, jupyter_command

SOLUTIONS = REPOSITORY / "build" / "solutions"


def main(arguments: list[str]) -> int:
    """Copy, and hand over to JupyterLab at the first section."""
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    course = Course.at(REPOSITORY)
    copy_of(course.source, SOLUTIONS)
    first = course.sections[0]
    command = jupyter_command(sys.executable, SOLUTIONS, os.geteuid(), arguments, f"{first}/{first}.ipynb")
    os.execve(command[0], command, os.environ | {"JUPYTER_CONFIG_PATH": config_path(os.environ)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
