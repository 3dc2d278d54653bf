# make demo   sets up what the package needs in .venv and anonymises the bundled Adult data
# make test   sets everything up and runs every check that takes minutes, not hours
# Needs Python 3.11 or newer (another one: make PYTHON=python3.13 ...) and nothing else.

PYTHON ?= python3
JOBS ?= 2
SECONDS ?= 60

BIN := .venv/bin
PACKAGE := .venv/.package
TOOLS := .venv/.tools
NOTEBOOKS := $(wildcard notebooks/*.ipynb)
BENCHMARKS := $(filter-out %/bench_scale.py,$(sort $(wildcard tests/benchmarks/bench_*.py)))
ROWS ?= 1e6 1e7 1e8

# A file is tested by one worker, so that its fixtures and kernels are made once.
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile
# Only the notebooks need nbmake, which takes seconds to import.
TESTS := $(PYTEST) -p no:nbmake

# Compiled bytecode is kept: otherwise each of the hundreds of processes that tests start compiles the package
# again, and every worker rewrites the assertions of all tests again.
unexport PYTHONDONTWRITEBYTECODE

# Tests run in a random order, with random hashes of texts. The continuous integration repeats one order, so
# that it fails because of a change and not by chance; Hypothesis repeats its examples there, too.
ifdef CI
ORDER := --randomly-seed=1
export PYTHONHASHSEED := 1
endif

.DEFAULT_GOAL := help
.PHONY: help venv demo docs test test-faults test-all lint ruff types pytest quick-notebooks notebooks bench \
	bench-scale fuzz clean

help:
	@echo "make demo         optimise the bundled Adult data and write a release, a picture and a report"
	@echo "make test         lint, types, tests, README examples, notebooks with short searches (minutes)"
	@echo "make test-faults  every failing system call, kills, bad inputs, all examples of property tests"
	@echo "make test-all     everything, with the slow reproductions"
	@echo "make notebooks    run the notebooks in full and write their outputs into them"
	@echo "make docs         build the documentation: build/docs/html/index.html"
	@echo "make bench        measure the speed of the evaluation"
	@echo "make bench-scale  scan and release up to 100 million rows (ROWS=1e6 for fewer)"
	@echo "make fuzz         feed damaged files to every reader (SECONDS=60 each)"
	@echo "make lint         ruff and mypy only"
	@echo "make venv         only set up .venv with all development tools"
	@echo "make clean        remove everything that was generated except .venv"

venv: $(TOOLS)

# A stamp is newer than pyproject.toml exactly when what it stands for is installed and up to date:
# the package with what it needs, and the tools for working on it.
$(PACKAGE): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "privmoo needs Python 3.11 or newer, and $(PYTHON) is" \
		"$$($(PYTHON) --version 2>/dev/null || echo not there); install one and run: make PYTHON=/path/to/python3.11" >&2; \
		exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { \
		rm -rf .venv; \
		echo "$(PYTHON) cannot create a virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2; \
		exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(TOOLS): $(PACKAGE)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(PACKAGE)
	$(BIN)/privmoo demo

ruff: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: venv
	$(BIN)/mypy

lint: ruff types

pytest: venv
	$(TESTS) $(ORDER) -m "not slow and not faults" --hypothesis-profile=few

# The notebooks look for PRIVMOO_QUICK and then search less. Their files stay as they are.
quick-notebooks: venv
ifneq ($(NOTEBOOKS),)
	PRIVMOO_QUICK=1 $(PYTEST) --nbmake --nbmake-timeout=600 -p no:randomly $(NOTEBOOKS)
endif

notebooks: venv
	$(BIN)/python notebooks/run.py $(NOTEBOOKS)

# mypy and after it the notebooks run beside the tests, so that no core idles while the last file is tested.
test: ruff
	@$(MAKE) --no-print-directory --jobs=2 pytest types quick-notebooks

# Property tests run again, this time with all their examples.
test-faults: venv
	$(TESTS) $(ORDER) -m "(faults or hypothesis) and not slow"

test-all: lint quick-notebooks
	$(TESTS) $(ORDER)

# Warnings are errors: a link that leads nowhere, a name without documentation.
docs: venv
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -c .site notebooks build/docs/html
	@echo "build/docs/html/index.html"

bench: venv
	@test -n "$(BENCHMARKS)" || { echo "there is no tests/benchmarks/bench_*.py" >&2; exit 1; }
	@set -e; for file in $(BENCHMARKS); do $(BIN)/python $$file; done

bench-scale: venv
	$(BIN)/python tests/benchmarks/bench_scale.py $(ROWS)

fuzz: venv
	$(BIN)/python tests/fuzz/fuzz_files.py $(SECONDS)

clean:
	rm -rf build dist demo artefacts .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
	find . -name .venv -prune -o -type d -name __pycache__ -exec rm -rf {} +
