"""`python -m autograder`: the same command line as `autograder`."""

import sys

from autograder.cli import main

sys.exit(main())
