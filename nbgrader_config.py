"""nbgrader reads this file in the folder where it is run; copy it into a course folder to use nbgrader there."""

from pathlib import Path

import autograder

load_subconfig("nbgrader_config.py", path=str(Path(autograder.__file__).parent))  # type: ignore[name-defined]  # noqa: F821
