# Two commands are all a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UNUSED := /tests?/|/transformers/models/|/torch/(_inductor|testing)/|/(fontTools|mypyc?|pip|sympy/physics)/
DEMO ?= pinakes-demo
# A worker a core, and a thread a worker. Two more wait less and took a quarter longer (two cores of an AMD EPYC with
# AVX2): each worker imports everything, collects all tests, and makes databases of its own.
# Tests of one file share a worker, and so their fixtures; files start in their order, acceptance first, so that no
# long one is left at the end. Bytecode is kept, else each worker and each process that a test starts compiles anew.
WORKERS ?= $(shell $(PYTHON) -c "import os; print(os.cpu_count() or 1)")
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder

.PHONY: demo test test-long fuzz faults store-schema check lint types imports wheel audit bench docs clean install-locked lock
.DEFAULT_GOAL := test

# Bytecode is made on all cores at the end: pip makes it on one, in about a third of its time. A third of the text
# are the packages' own tests, transformers' models and other parts that nothing or little imports: what is used of
# them is compiled when it is imported.
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt --editable '.[dev]'
	$(BIN)/python -m compileall -qq -j 0 -x '$(UNUSED)' $(VENV)/lib || true
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/pinakes demo --folder $(DEMO)

test: $(STAMP)
	$(BIN)/python -m tests.bytecode
	$(PYTEST)

test-long: $(STAMP)
	$(BIN)/python -m tests.bytecode
	$(PYTEST) -m "long or not long"

# Mutated input for every loader; what one goes wrong on is kept in tests/data/finds, which `make test` reads.
fuzz: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),10) --seed $(or $(SEED),1)

# Faults of each scenario on each database, and which: `make faults FAULTS="--count 40 --seed 2"`.
FAULTS ?= --count 24
faults: $(STAMP)
	PYTHONPATH=src:. OMP_NUM_THREADS=1 $(BIN)/python -m tests.faults $(FAULTS)

# The small database of this schema version that later versions are upgraded from in tests; see schema/upgrades.
store-schema: $(STAMP)
	PYTHONPATH=src:. OMP_NUM_THREADS=1 $(BIN)/python -m tests.stored_schemas

check: lint types imports wheel audit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

wheel: $(STAMP)
	$(BIN)/python tests/wheel_listing.py

# Skipped with a word where no index of advisories can be reached.
audit: $(STAMP)
	$(BIN)/python tests/advisories.py

# Each file by its digest. torch is the exception: an index of its own may have another build of the same version.
install-locked:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/pip check --disable-pip-version-check
	touch $(STAMP)

# After a change of constraints.txt; needs uv.
lock:
	grep -v '^torch==' constraints.txt | uv pip compile --no-config --default-index https://pypi.org/simple \
		--no-deps --generate-hashes --no-annotate --custom-compile-command 'make lock' --python-version 3.11 - --output-file requirements.lock

# One table of all, in bench-results/, and a line in benchmarks/history.jsonl; `make bench FULL=1` takes hours.
bench: $(STAMP)
	$(BIN)/python benchmarks/all.py $(if $(FULL),--full) $(BENCH)

$(VENV)/.docs: $(STAMP)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	touch $@

# The manual as a site in docs-site/. A warning is an error, which it would not be with --quiet. `make test` tests what
# the pages say, and the site where the extra is installed. The notice that is turned off is about a later MkDocs.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "docs-site/index.html"

clean:
	rm -rf $(VENV) $(DEMO) docs-site dist build
