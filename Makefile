# Everything lives in .venv; its stamps say what is installed, so a second time is quick.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
# uv takes a tenth of pip's time, but does not read pip's settings: where it cannot install, pip does.
INSTALL = install() { $(BIN)/uv pip install -q --system-certs --python $(BIN)/python "$$@" 2>/dev/null || \
	$(PIP) install -qq --no-compile "$$@"; }; install
COMPILE = $(BIN)/uv pip compile -q --universal --python-version 3.11 \
	--fork-strategy fewest --generate-hashes --custom-compile-command 'make lock'
BASE := $(VENV)/.base-installed
DEV := $(VENV)/.dev-installed
DEMO := runs/demo runs/demo-2 runs/monitor
SEED := $(or $(SEED),$(shell od -An -N2 -tu2 /dev/urandom | tr -d ' '))
# Folders of tests lie in memory that has 8 GB free: on a disk SQLite waits at every commit.
MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 8000000 { print "/dev/shm" }')

# One more than processors, for some tests wait. By theft each worker has whole files, set up once.
# Workers keep all processors busy, so threads of Polars would only wait: only one worker has them.
WORKERS := --tx popen --tx '$(shell nproc 2>/dev/null || echo 2)*popen//env:POLARS_MAX_THREADS=1'
# Files that never say `shared` have no test with that mark, and are not even imported for it.
FILES_OF_shared = $(shell grep -rlw shared tests --include='test_*.py')

.DEFAULT_GOAL := help
.PHONY: demo test peers programs check lint types rooms bench docs lock wheel release-check clean help

demo: $(BASE) ## what Ragstone does with 30 questions of its own, in the browser
	@$(BIN)/ragstone demo

# Bytecode is kept, whatever the environment says: many tests start commands, a second sooner with it.
test: programs ## run all tests; ROOM=monitor those of a room, MARK="not browser" those of a mark
	@echo "Order of tests: make test$(if $(ROOM), ROOM=$(ROOM))$(if $(MARK), MARK='$(MARK)') SEED=$(SEED)"
	@PYTHONDONTWRITEBYTECODE= $(if $(MEMORY),PYTEST_DEBUG_TEMPROOT=$(MEMORY)) \
	  $(BIN)/python -m pytest $(WORKERS) --dist worksteal --randomly-seed=$(SEED) \
	  $(if $(MARK),-m '$(MARK)') $(if $(ROOM),tests/$(ROOM),$(FILES_OF_$(MARK)))

peers: $(VENV)/.peers-installed ## what the tests compare with, torch among it; without it these are skipped

programs: $(DEV) $(VENV)/.browser $(VENV)/.postgres ## what the tests start besides: chromium and PostgreSQL

check: lint types rooms ## style, types and the order of the rooms

types: $(DEV) ## types alone
	@$(BIN)/mypy

rooms: $(DEV) ## the order of the rooms alone
	@$(BIN)/lint-imports

lint: $(DEV) ## style alone
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

bench: $(DEV) ## the short benchmarks, beside the figures that are kept; fails when one is a quarter slower
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python benchmarks/short.py

docs: $(VENV)/.docs-installed ## the documentation as a site, in the folder site
	@$(BIN)/python docs/build_site.py
	@echo "To read it: $(BIN)/python -m http.server -d site"

lock: | $(BIN)/uv ## remake the lock files, moving only the pins that have to move
	@$(COMPILE) pyproject.toml --group dev -o requirements-dev.lock
	@$(COMPILE) pyproject.toml -c requirements-dev.lock -o requirements.lock
	@$(COMPILE) --group docs -c requirements-dev.lock -o requirements-docs.lock

wheel: $(DEV) ## the wheel in dist, and its bill of materials beside it
	@$(PIP) wheel -qq --no-deps -w dist .
	@$(BIN)/python .ci/sbom.py dist/*.whl

release-check: $(DEV) ## build, check what a package index shows, and say what is left to do before a release
	@$(INSTALL) build twine
	@rm -rf dist
	@$(BIN)/python -m build -o dist . >/dev/null
	@$(BIN)/twine check --strict dist/*.whl dist/*.tar.gz
	@$(BIN)/python .ci/sbom.py dist/*.whl
	@$(MAKE) --no-print-directory lock
	@$(BIN)/python .ci/release_check.py

clean: ## remove the environment, the demo's runs and all caches
	rm -rf $(VENV) $(DEMO) dist build site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/uv:
	@$(PYTHON) -c 'import sys; sys.exit("Ragstone needs Python 3.11 or newer, this is %d.%d; name another one: make PYTHON=python3.12" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@echo "Making $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install -qq uv

$(BASE): pyproject.toml requirements.lock | $(BIN)/uv
	@echo "Installing Ragstone into $(VENV) ..."
	@$(INSTALL) --no-deps -r requirements.lock
	@$(INSTALL) --no-deps -e .
	@touch $@

$(DEV): $(BASE) requirements-dev.lock
	@echo "Installing what the tests and checks need ..."
	@$(INSTALL) --no-deps -r requirements-dev.lock
	@touch $@

$(VENV)/.docs-installed: $(DEV) requirements-docs.lock
	@echo "Installing what builds the site of the documentation ..."
	@$(INSTALL) --no-deps -r requirements-docs.lock
	@touch $@

# Tests of the local app drive a real browser; without it they are skipped, and fail on CI.
$(VENV)/.browser: $(DEV)
	@command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing chromium, which the tests of the app drive ..." && \
	  { apt-get install -yqq --no-install-recommends chromium-headless-shell fonts-liberation >/dev/null 2>&1 || \
	    { apt-get update -qq && apt-get install -yqq --no-install-recommends chromium-headless-shell fonts-liberation; } >/dev/null 2>&1; } || \
	  echo "Without chromium: the tests in a browser are skipped. On Debian: apt-get install chromium-headless-shell"; }
	@touch $@

# Tests of labels in PostgreSQL start a server of their own; without it they are skipped, and fail on CI.
# After the browser, for two of apt-get keep each other out.
$(VENV)/.postgres: $(DEV) | $(VENV)/.browser
	@command -v pg_ctl >/dev/null || ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing PostgreSQL, which tests of labels start ..." && \
	  { apt-get install -yqq --no-install-recommends postgresql >/dev/null 2>&1 || \
	    { apt-get update -qq && apt-get install -yqq --no-install-recommends postgresql; } >/dev/null 2>&1; } || \
	  echo "Without PostgreSQL: the tests of labels in it are skipped. On Debian: apt-get install postgresql"; }
	@touch $@

# Not in the lock file: the wheel of torch is another one on every system.
$(VENV)/.peers-installed: $(DEV)
	@echo "Installing torch, sentence-transformers, bert-score and sacrebleu, which some tests compare with ..."
	@$(PIP) install -qq --no-compile torch==2.13.0
	@$(PIP) install -qq --no-compile sentence-transformers bert-score sacrebleu
	@touch $@
