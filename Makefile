# Two commands are all a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO ?= pinakes-demo
# A worker more than cores, since tests wait for databases and for processes that they start; a thread a worker.
# Tests of one file share a worker, and so their fixtures; files start in their order, acceptance first, so that no
# long one is left at the end.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(1 + (os.cpu_count() or 1))")
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder

.PHONY: demo test test-long faults check lint types imports wheel bench docs clean
.DEFAULT_GOAL := test

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/pinakes demo --folder $(DEMO)

test: $(STAMP)
	$(PYTEST)

test-long: $(STAMP)
	$(PYTEST) -m "long or not long"

# Faults of each scenario on each database, and which: `make faults FAULTS="--count 40 --seed 2"`.
FAULTS ?= --count 24
faults: $(STAMP)
	PYTHONPATH=src:. OMP_NUM_THREADS=1 $(BIN)/python -m tests.faults $(FAULTS)

check: lint types imports wheel

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

wheel: $(STAMP)
	$(BIN)/python tests/wheel_listing.py

bench: $(STAMP)
	for script in benchmarks/[a-z]*.py; do $(BIN)/python $$script --quick || exit 1; done

docs: $(STAMP)
	$(BIN)/pytest tests/acceptance/test_documentation.py

clean:
	rm -rf $(VENV) $(DEMO) dist build
