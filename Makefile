# Needs make and Python 3.11 or newer; everything else is installed into .venv (see tools/bootstrap.py).
# Another Python for a new environment: make PYTHON=python3.12 setup

VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.ready
CANDIDATES := $(or $(PYTHON),python3.13 python3.12 python3.11 python3)

# Recursive makes stay silent, and packages from outside the environment stay out of it.
MAKEFLAGS += --no-print-directory
unexport PYTHONPATH PYTHONHOME

.DEFAULT_GOAL := help
.PHONY: help setup lab solutions demo test test-fast mutants notebooks book lint bench lock FORCE

help:
	@echo "Targets (each makes the environment first if it has to):"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP)  ## make the environment in .venv: locked versions, CPU build of PyTorch
	@echo "The environment is ready: $(PY)"

lab: $(STAMP)  ## build the student bundle and open JupyterLab on it (LAB_ARGS="--no-browser --port=8899")
	@$(PY) -m tools.lab $(LAB_ARGS)

solutions: $(STAMP)  ## for self-study: open the executed notebooks with solutions (takes LAB_ARGS too)
	@$(PY) -m tools.solutions $(LAB_ARGS)

demo: $(STAMP)  ## the instructor's loop on sample submissions, ending in the grades (SECTION=02_floats for another)
	@$(PY) -m tools.demo $(SECTION)

test: $(STAMP)  ## everything CI runs (TEST_ARGS="-k wrap" narrows it)
	@$(PY) -m tools.system_packages
	@$(MAKE) lint
	@$(PY) -m pytest tests notebooks --nbval --nbval-current-env -q -n auto --maxprocesses=8 --dist=loadfile \
	    --no-loadscope-reorder -m "not exhaustive" $(TEST_ARGS)

mutants: $(STAMP)  ## all attacks on the grader; then each defence is switched off in turn, and one must succeed
	@$(PY) -m pytest tests/attacks -q -n auto --maxprocesses=8 --dist=loadfile $(TEST_ARGS)

test-fast: $(STAMP)  ## the tests that start no notebook and no browser, in under a minute
	@$(PY) -m pytest tests -q -m "not slow" -n auto --maxprocesses=8 --dist=loadfile $(TEST_ARGS)

notebooks: $(STAMP)  ## re-execute the notebooks from their text twins (SECTION=01_integers for one)
	@$(PY) tools/notebooks.py $(SECTION)

book: $(STAMP)  ## build the lectures and the reference as a static site, build/book/html
	@$(PY) -m tools.book $(BOOK_ARGS)

lint: $(STAMP)  ## ruff, mypy and codespell
	@$(PY) -m ruff check --quiet .
	@$(PY) -m ruff format --check --quiet .
	@$(PY) -m mypy --no-error-summary
	@$(PY) -m codespell_lib

bench: $(STAMP)  ## measure speed
	@$(PY) benchmarks/run.py $(BENCH_ARGS)
	@$(PY) benchmarks/grading.py $(BENCH_ARGS)

lock: $(STAMP)  ## rewrite the lock files from the ranges in pyproject.toml (LOCK_ARGS=--upgrade for new versions)
	@$(PY) -m tools.lock $(LOCK_ARGS)

# The stamp's first line is the folder it was made in: a moved folder, or a .venv whose Python is gone, is made anew.
ifneq ($(shell test -x $(PY) && head -n 1 $(STAMP) 2>/dev/null),$(CURDIR))
$(STAMP): FORCE
endif

# Candidates are tried by running them: a name on PATH may be a shim that only fails.
$(STAMP): requirements.lock pyproject.toml tools/bootstrap.py tools/environment.py tools/pip_steps.py
	@for python in $(CANDIDATES); do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	  then exec $$python tools/bootstrap.py; fi; \
	done; \
	for python in $(or $(PYTHON),python3 python); do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 6))' >/dev/null 2>&1; \
	  then exec $$python tools/bootstrap.py; fi; \
	done; \
	echo "No Python works under the name $(or $(PYTHON),python3): install Python 3.11 or newer and run" \
	  "\`make PYTHON=python3.12 setup\` (with its name)." >&2; exit 1
