# make demo   sets up and ranks a real data set
# make test   sets up and runs the tests
# Everything is installed into .venv.

PYTHON ?= python3
VENV   := .venv
CONSTRAINTS := constraints.txt
BIN    := $(VENV)/bin
UV     := $(shell command -v uv 2>/dev/null)
ifdef UV
CREATE  = uv venv --quiet --python $(PYTHON) $(VENV)
INSTALL = uv pip install --quiet --python $(BIN)/python $(VERSIONS)
else
CREATE  = $(PYTHON) -m venv $(VENV)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(VERSIONS)
endif
VERSIONS = $(if $(CONSTRAINTS),-c $(CONSTRAINTS))

# real data and the authors' toolbox's answers, if they lie beside the repository: tests that need them skip otherwise
export ILFS_DATA   ?= $(wildcard $(abspath ../shared/data))
export ILFS_ORACLE ?= $(wildcard $(abspath ../shared/oracle))

.PHONY: help demo test test-oldest test-newest test-slow coverage lint format docs bench bench-quick bench-timing bench-peers findings figures tables fidelity robustness quality clean-kernels clean
.DEFAULT_GOAL := help

help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */\1|/' | awk -F'|' '{printf "  make %-14s %s\n", $$1, $$2}'

$(VENV)/package: pyproject.toml $(CONSTRAINTS)
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit(f"ilfs needs Python 3.11 or newer, {sys.executable} is {v.major}.{v.minor}: make PYTHON=python3.12 ...")'
	@echo "Setting up $(VENV) (once; a minute or two)"
	@test -x $(BIN)/python || $(CREATE)
	@$(INSTALL) -e .
	@touch $@

$(VENV)/%: $(VENV)/package
	@$(INSTALL) -e '.[$*]'
	@touch $@

demo: $(VENV)/package  ## rank a real data set, print the best features, write a CSV
	@$(BIN)/python examples/demo.py

test: $(VENV)/test  ## all ordinary tests, examples in the documentation included
	$(BIN)/python -m pytest -n 2

# The ends of the range of versions that pyproject.toml allows, each in an environment of its own. So are the compiled
# kernels: numba overwrites those of another version.
OLDEST := .venv-oldest
NEWEST := .venv-newest

test-oldest:  ## the ordinary tests with the oldest supported versions of all packages (on Python 3.11 if it is there)
	@NUMBA_CACHE_DIR=$(abspath $(OLDEST))/kernels $(MAKE) --no-print-directory VENV=$(OLDEST) \
		CONSTRAINTS=constraints-oldest.txt PYTHON=$(or $(shell command -v python3.11),$(PYTHON)) test

test-newest:  ## the ordinary tests with the newest released versions of all packages, installed anew
	@rm -rf $(NEWEST)
	@NUMBA_CACHE_DIR=$(abspath $(NEWEST))/kernels $(MAKE) --no-print-directory VENV=$(NEWEST) CONSTRAINTS= test

test-slow: $(VENV)/test  ## the tests that need minutes or much data
	$(BIN)/python -m pytest -n 2 -m slow

coverage: $(VENV)/test  ## how much of the code the tests run (kernels as plain Python: some minutes)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest -q -W ignore::RuntimeWarning
	$(BIN)/python -m coverage report -m

lint: $(VENV)/test $(VENV)/lint  ## formatting, style, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/lint  ## format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/docs  ## the documentation, as docs/_build/html/index.html
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build/html
	@echo docs/_build/html/index.html

bench: $(VENV)/package  ## speed and memory against scikit-learn and the machine (about 3 minutes)
	$(BIN)/python benchmarks/speed.py

bench-timing: $(VENV)/package  ## all methods on the paper's timing job, with growth (an hour)
	$(BIN)/python benchmarks/timing.py

bench-quick: $(VENV)/package  ## a small benchmark from end to end, with data that ship with scikit-learn (a minute)
	@mkdir -p out
	$(BIN)/ilfs bench run quick --store out/quick.sqlite
	$(BIN)/ilfs bench table quick --store out/quick.sqlite
	$(BIN)/ilfs bench statistics quick --store out/quick.sqlite

# a job that takes longer than the limit fails: the tables say which
findings: $(VENV)/baselines  ## all experiments on the data in ILFS_DATA, and the tables of docs/findings.md and docs/subsets.md (hours)
	@mkdir -p out
	$(BIN)/ilfs bench run paper --store out/sizes.sqlite
	-$(BIN)/ilfs bench run modern --store out/sizes.sqlite --time-limit 900
	-$(BIN)/ilfs bench run novelty --store out/sizes.sqlite --time-limit 900
	$(BIN)/ilfs bench run deep --store out/deep.sqlite
	$(BIN)/ilfs bench run timing --store out/timing.sqlite
	$(BIN)/python benchmarks/findings.py out

figures: $(VENV)/package  ## where picked pixels lie, for docs/redundancy.md, from the data in ILFS_DATA
	$(BIN)/python docs/figures/pixels.py

tables: $(VENV)/package  ## the tables of methods in README.md and docs/methods/index.md, from the registry
	$(BIN)/python docs/tables.py

# packages of other people that we compare with never get into the environment of the project
PEERS := .venv-peers
$(PEERS)/ready: pyproject.toml constraints.txt benchmarks/peers.txt
	@$(MAKE) --no-print-directory VENV=$(PEERS) $(PEERS)/package
	@$(subst $(BIN),$(PEERS)/bin,$(INSTALL)) -r benchmarks/peers.txt
	@touch $@

bench-peers: $(PEERS)/ready  ## every method beside the best public implementation of it (about 10 minutes)
	$(PEERS)/bin/python benchmarks/peers.py

fidelity: $(VENV)/test  ## how far every method is from what it is checked against
	$(BIN)/python benchmarks/fidelity.py

robustness: $(VENV)/test  ## how many orders of features change with rows, labels, storage, blocks and threads (half an hour)
	$(BIN)/python benchmarks/robustness.py

quality: $(VENV)/package  ## the configurations of ILFS on the data in ILFS_DATA (hours; continues where it stopped)
	$(BIN)/python benchmarks/quality.py run --store out/quality.jsonl --jobs 2

clean-kernels:  ## forget compiled kernels
	find src tests -name '*.nb[ic]' -delete

clean:  ## remove everything that was made here
	rm -rf $(VENV) $(OLDEST) $(NEWEST) $(PEERS) out build dist docs/_build docs/api/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -exec rm -rf {} +
