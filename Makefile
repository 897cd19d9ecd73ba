# The two commands to know: `make prove` measures this machine, `make test` tests the project.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORK := build/prove
LOCKS := requirements/run.txt requirements/dev.txt

.DEFAULT_GOAL := help
.PHONY: help venv prove test check lab test-lab bench lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(VENV)/.run: requirements/run.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Fourplane needs Python 3.11 or newer; call make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { echo "no venv module: install it (Debian: python3-venv)" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@$(BIN)/python -m compileall -q src
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

$(VENV)/.lab: $(VENV)/.dev requirements/lab.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/lab.txt
	@touch $@

venv: $(VENV)/.dev ## make the virtual environment; does nothing when it is up to date

# 0 accepted, 1 rejected and 3 unproven are all completed runs; anything else is not
prove: $(VENV)/.run ## measure this machine over four planes and write a report
	@mkdir -p $(WORK) && cp -R examples/laptop/. $(WORK)
	@$(BIN)/fourplane prove -C $(WORK); status=$$?; \
	  case $$status in 0|1|3) exit 0;; *) exit $$status;; esac

test: $(VENV)/.dev ## everything that needs no system packages, in under three minutes
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.dev ## format, lint, types, floors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

lab: $(VENV)/.lab ## install what the lab tests need (Debian or Ubuntu, root)
	tools/install_lab.sh

test-lab: $(VENV)/.lab ## tests with a real browser, fio and kills
	$(BIN)/python -m pytest -m lab

bench: $(VENV)/.dev ## benchmarks: ratios, never a verdict on time
	$(BIN)/python bench/run.py

lock: ## renew the hash-locked requirements (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  pyproject.toml requirements/build.in --extra mpi -o requirements/run.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  requirements/dev.in -c requirements/run.txt -o requirements/dev.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  requirements/lab.in -c requirements/dev.txt -o requirements/lab.txt

clean: ## remove the environment and what was built
	rm -rf $(VENV) build
