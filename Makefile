# make demo   sets up .venv, ranks a real data set and writes a page about it
# make test   sets up .venv and runs the tests
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

# Folders of real data sets and of recorded results of the authors' toolbox. Tests that need them are skipped without them.
export ILFS_DATA   ?= $(wildcard $(abspath ../shared/data))
export ILFS_ORACLE ?= $(wildcard $(abspath ../shared/oracle))

.PHONY: help demo test test-oldest test-newest test-slow test-browser page coverage lint workflows review format docs dist bench bench-quick bench-timing bench-peers bench-fdr bench-omics findings figures tables fidelity robustness quality clean-kernels clean
.DEFAULT_GOAL := help

help:  ## list all commands
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

demo: $(VENV)/report  ## rank a real data set, print the best features, write a page, a picture and a CSV file
	@mkdir -p out
	@$(BIN)/ilfs rank breast_cancer -o out/breast_cancer.csv --report out/breast_cancer.html --plot out/breast_cancer.png

# Tests of baselines need packages that do not run with the oldest supported versions of others.
BASELINES = $(VENV)/baselines

test: $(VENV)/test $(BASELINES)  ## run all tests except slow ones, including the examples in the documentation
	$(BIN)/python -m pytest -n 2

# The oldest and the newest versions that pyproject.toml allows, each in its own environment. Each environment has its own
# folder of compiled kernels, because numba overwrites kernels that another version has compiled.
OLDEST := .venv-oldest
NEWEST := .venv-newest

test-oldest:  ## run the ordinary tests with the oldest supported versions of all packages (on Python 3.11 if it is there)
	@NUMBA_CACHE_DIR=$(abspath $(OLDEST))/kernels $(MAKE) --no-print-directory VENV=$(OLDEST) \
		CONSTRAINTS=constraints-oldest.txt BASELINES= PYTHON=$(or $(shell command -v python3.11),$(PYTHON)) test

test-newest:  ## run the ordinary tests with the newest released versions of all packages, installed anew
	@rm -rf $(NEWEST)
	@NUMBA_CACHE_DIR=$(abspath $(NEWEST))/kernels $(MAKE) --no-print-directory VENV=$(NEWEST) CONSTRAINTS= test

test-slow: $(VENV)/test  ## run the tests that take minutes or need much data
	$(BIN)/python -m pytest -n 2 -m slow

# Chromium is a package of the system: it is installed if this user may, and otherwise the tests say what they need.
test-browser: $(VENV)/test $(VENV)/browser docs  ## test the pages and the documentation in Chromium, which is installed if possible (Debian, as root)
	@command -v chromedriver >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium chromium-driver; } \
		|| echo "make test-browser needs Chromium and chromedriver: apt-get install chromium chromium-driver"
	$(BIN)/python -m pytest -m browser tests/browser

page: $(VENV)/browser  ## draw the pictures of docs/page.md and docs/tutorial.md, pages in Chromium
	$(BIN)/python docs/figures/page.py
	$(BIN)/python docs/figures/tutorial.py

coverage: $(VENV)/test  ## report how much of the code the tests cover (kernels run as plain Python: some minutes)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest -q -W ignore::RuntimeWarning
	$(BIN)/python -m coverage report -m

lint: $(VENV)/test $(VENV)/lint  ## check formatting, style, types, the layers of imports, spelling, workflows and the repository
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell *.md src docs examples benchmarks recipe .github
	@$(MAKE) --no-print-directory workflows review

workflows: $(VENV)/lint  ## check the GitHub workflows and the issue forms (no network)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/idea.yml
	$(BIN)/zizmor --offline --quiet --no-progress --persona=pedantic .github

review: $(VENV)/lint  ## check the repository against the guide of Scientific Python
	@$(BIN)/repo-review --show err .

format: $(VENV)/lint  ## format the code and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/docs  ## build the documentation, docs/_build/html/index.html
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build/html
	@echo docs/_build/html/index.html

# Built without isolation, from the versions in constraints.txt: the build needs no network.
dist: $(VENV)/dist  ## build the wheel and the source distribution in dist/, and check both
	@rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	@ls -l dist

bench: $(VENV)/package  ## compare speed and memory with scikit-learn and the limits of the hardware (about 3 minutes)
	$(BIN)/python benchmarks/speed.py

bench-timing: $(VENV)/package  ## time all methods on the paper's timing job, and their growth with size (an hour)
	$(BIN)/python benchmarks/timing.py

bench-quick: $(VENV)/package  ## run a small benchmark from end to end, with data that ship with scikit-learn (a minute)
	@mkdir -p out
	$(BIN)/ilfs bench run quick --store out/quick.sqlite
	$(BIN)/ilfs bench table quick --store out/quick.sqlite
	$(BIN)/ilfs bench statistics quick --store out/quick.sqlite
	$(BIN)/ilfs bench report quick --store out/quick.sqlite -o out/quick.html

findings: $(VENV)/baselines  ## run all experiments on the data in ILFS_DATA, write the tables of docs/findings.md and docs/subsets.md (about 5 hours of one core; continues where it stopped)
	$(BIN)/python benchmarks/findings.py run out
	$(BIN)/python benchmarks/findings.py tables out

figures: $(VENV)/report $(VENV)/omics  ## draw the pictures of docs/ilfs.md, docs/selection.md, docs/reading.md, docs/pictures.md, docs/certainty.md and docs/howto/single_cell.md, and from ILFS_DATA those of docs/redundancy.md, docs/stability.md and docs/interactions.md
	$(BIN)/python docs/figures/plate.py
	$(BIN)/python docs/figures/sizes.py
	$(BIN)/python docs/figures/reading.py
	$(BIN)/python docs/figures/pictures.py
	$(BIN)/python docs/figures/fdr.py
	$(BIN)/python docs/figures/single_cell.py
	$(BIN)/python docs/figures/pixels.py
	$(BIN)/python docs/figures/stability.py
	$(BIN)/python docs/figures/interactions.py

tables: $(VENV)/package  ## write the tables of methods in README.md and docs/methods/index.md from the registry
	$(BIN)/python docs/tables.py

# Packages that we compare with are installed into a separate environment, so that they cannot change the versions in .venv.
PEERS := .venv-peers
$(PEERS)/ready: pyproject.toml constraints.txt benchmarks/peers.txt
	@$(MAKE) --no-print-directory VENV=$(PEERS) $(PEERS)/package
	@$(subst $(BIN),$(PEERS)/bin,$(INSTALL)) -r benchmarks/peers.txt
	@touch $@

bench-peers: $(PEERS)/ready  ## compare every method with the best public implementation of it (about 10 minutes)
	$(PEERS)/bin/python benchmarks/peers.py

FDR_PEERS := .venv-fdr
$(FDR_PEERS)/ready: pyproject.toml constraints.txt benchmarks/peers-fdr.txt
	@$(MAKE) --no-print-directory VENV=$(FDR_PEERS) $(FDR_PEERS)/package
	@$(subst $(BIN),$(FDR_PEERS)/bin,$(INSTALL)) -r benchmarks/peers-fdr.txt
	@touch $@

bench-fdr: $(FDR_PEERS)/ready  ## measure false discovery rates beside other packages, write the tables of docs/certainty.md (half an hour)
	$(FDR_PEERS)/bin/python benchmarks/fdr.py run
	$(FDR_PEERS)/bin/python benchmarks/fdr.py refused
	$(FDR_PEERS)/bin/python benchmarks/fdr.py uneven
	$(FDR_PEERS)/bin/python benchmarks/fdr.py table
	$(FDR_PEERS)/bin/python docs/figures/fdr.py

bench-omics: $(VENV)/test  ## compare the ranking of cells with scanpy, write the tables of docs/howto/single_cell.md (ten minutes)
	$(BIN)/python benchmarks/omics.py donors
	$(BIN)/python benchmarks/omics.py speed

fidelity: $(VENV)/test  ## print the difference of every method from its independent references
	$(BIN)/python benchmarks/fidelity.py

robustness: $(VENV)/test  ## count the orders of features that change with rows, labels, storage, blocks or threads (half an hour)
	$(BIN)/python benchmarks/robustness.py

quality: $(VENV)/package  ## evaluate the configurations of ILFS on the data in ILFS_DATA (hours; continues where it stopped)
	$(BIN)/python benchmarks/quality.py run --store out/quality.jsonl --jobs 2

clean-kernels:  ## remove compiled kernels
	find src tests -name '*.nb[ic]' -delete

clean:  ## remove everything that make created
	rm -rf $(VENV) $(OLDEST) $(NEWEST) $(PEERS) $(FDR_PEERS) out build dist docs/_build docs/api/generated docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -exec rm -rf {} +
