# make demo   grade a wrong and a corrected answer, in a temporary folder
# make test   the project's own tests                 make lint   formatting and rules
# make test-all   with all known answers and debug rounds, of which `make test` does a share each day
# make test-correct   every correct answer in every style: what was added may refuse one of another day's share
# make test-fast   those of them that grade nothing: seconds, while you work
# make test-notebook   the notebook of the documents, in a real kernel
# make test-web   the page of `kata web` in a real Chromium
# make test-cluster   `kata eval --engine ray` on a cluster of two nodes
# make test-examples   docs/examples, with a canned model
# make types  the types of grader/                    make bench  how long commands and gradings take
# make house  measures the code itself: circles, classes to know, lines
# make messages   brings the catalogues of the tool's sentences up to date and names what is left to translate
#
# Each sets up .venv first where that is needed. Another interpreter: make test PYTHON=python3.12
# Only some tests: make test ARGS="tests/test_catalog.py -k order"

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready-$(subst /,_,$(PYTHON))
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

BUNDLE := grader/web/bundle

# One more than there are processors: tests wait, for a process to start or a file to change, a fifth of their time.
WORKERS = $(shell $(BIN)/python -c "import os; print(min(len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count(), 7) + 1)")

VERSION = -c "import sys; print('%d.%d' % sys.version_info[:2])"

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-correct test-fast test-notebook test-examples test-cluster test-web extras lint types bench house messages format clean

help:
	@sed -n 's/^# \{0,1\}//p;/^$$/q' Makefile

setup: $(READY)

# A .venv of another minor version is made anew. pip learnt about dependency groups in 25.1.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null || { \
		echo "kata needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) $(VERSION) 2>/dev/null || echo missing)." \
		"Name another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo "Setting up $(VENV); the first time this downloads torch."
	@if [ -e $(BIN)/python ] && [ "$$($(BIN)/python $(VERSION))" = "$$($(PYTHON) $(VERSION))" ]; then :; \
		else $(PYTHON) -m venv --clear $(VENV); fi
	@$(PIP) install --upgrade "pip>=25.1"
	@$(PIP) install -c constraints.txt --group dev -e .
	@rm -f $(VENV)/.ready-* && touch $@

demo: $(READY)
	@$(BIN)/python tests/demo

# Tests of one group (`xdist_group`: a kata, a file with a server of its own) share a judge, so one worker does them all;
# the largest groups come first, the tests without one last, wherever there is nothing to do.
test: $(READY)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

test-all: $(READY)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --every $(ARGS)

test-correct: $(READY)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup tests/test_katas.py -k correct $(ARGS)

test-fast: $(READY)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "not grades" $(ARGS)

test-notebook: $(READY)
	@$(PIP) install -c constraints.txt --group notebook
	$(BIN)/python -m pytest tests/test_notebook.py tests/cli/test_ipython.py $(ARGS)

test-examples: $(READY)
	@$(PIP) install -c constraints.txt --group examples
	$(BIN)/python -m pytest tests/test_examples.py $(ARGS)

test-cluster: $(READY)
	@$(PIP) install -c constraints.txt --group cluster
	$(BIN)/python -m pytest tests/evaluation/test_cluster.py $(ARGS)

# What the four above and below need, at once: what runs side by side must not install side by side.
extras: $(READY)
	@$(PIP) install -c constraints.txt --group notebook --group examples --group cluster --group web-test

# axe-core and what makes the editor come with npm; without it two tests are left out, and say so.
test-web: $(READY)
	@$(PIP) install -c constraints.txt --group web-test
	@if [ ! -d $(BUNDLE)/node_modules/axe-core ] && command -v npm >/dev/null; then \
		npm ci --prefix $(BUNDLE) --ignore-scripts --silent || echo "npm ci has failed: its tests are left out"; fi
	$(BIN)/python -m pytest tests/web/test_browser.py tests/web/test_tooltips.py tests/web/test_bundle.py $(ARGS)

lint: $(READY)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-cache

types: $(READY)
	$(BIN)/mypy

bench: $(READY)
	@$(BIN)/python -m tests.bench $(ARGS)

house: $(READY)
	@$(BIN)/python -m grader dev house $(ARGS)

messages: $(READY)
	@$(BIN)/python -m grader.dev.messages

format: $(READY)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
