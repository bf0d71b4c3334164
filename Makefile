.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup duckdb demo test proof check lint bench figures profiles mutants fuzz docs dist lock clean spark-versions

PYTHON ?= $(shell python3.11 -c '' 2>/dev/null && echo python3.11 || echo python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SPARKS := 3.5 4.0

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.installed .venv/.jars ## make .venv with everything, pinned and hashed

duckdb: .venv/duckdb/.installed ## DuckDB with its readers for Delta and Iceberg, for whyscan verify

demo: setup ## a lake in a folder, the tour, and the pipeline on Spark
	@$(BIN)/whyscan demo --spark

test: lint ## lint, types and every test
	@$(BIN)/python -m pytest -n 2 --dist loadgroup

proof: setup ## what make test samples, whole: for releases
	@$(BIN)/python -m pytest -n 2 --dist loadgroup -m proof

spark-versions: $(SPARKS:%=.venv/spark-%/.installed) ## the stages and the reader on the other Sparks
	@for each in $(SPARKS); do .venv/spark-$$each/bin/python -m pytest -W default -m spark tests/spark || exit 1; done

# The law, SQL, plans and reports: no engine, no server, no browser, 20 examples a property.
QUICK = $(addprefix tests/,test_architecture.py test_masking.py pruning predicate planning statements reports soundness)

check: lint ## lint, types and the quick tests, in two minutes
	@WHYSCAN_QUICK=1 $(BIN)/python -m pytest -n 2 --dist loadgroup -m "not spark and not slow and not proof" --ignore=tests/reports/pages $(QUICK)

lint: setup ## ruff and mypy --strict
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --strict src

# ONLY="duckdb hive" runs some engines and tables.
profiles: setup ## what engines read against what their profiles predict; 1 below 97 %
	@PYTHONPATH=tests $(BIN)/python -m profiles.matrix $(ONLY)

bench: setup ## measure against the peers; ONLY="delta footers" for some of it
	@$(BIN)/python bench/run.py $(ONLY)

figures: setup ## the figures of the newest runs of make bench, in docs/performance.md
	@$(BIN)/python bench/run.py --page

mutants: setup ## break the law on purpose; the tests must notice
	@$(BIN)/python tests/mutants.py

docs: setup ## the documentation as a site, in build/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Of what git tracks: nothing that lies about gets into a release.
dist: setup .venv/dist/.installed ## a wheel and an sdist in dist/, checked by twine
	@rm -rf dist
	@$(BIN)/python -m hatchling build -d dist
	@.venv/dist/bin/twine check --strict dist/*

# make fuzz SECONDS=3600 SEED=7 ONLY=delta; REPLAY=build/fuzz/NAME judges one kept mutant again.
fuzz: setup ## damage tables at random; every answer must be a typed error or sound
	@PYTHONPATH=tests $(BIN)/python -m fuzz.run $(if $(REPLAY),--replay "$(REPLAY)",--seconds $(or $(SECONDS),600)) \
		$(if $(SEED),--seed "$(SEED)") $(if $(ONLY),--only "$(ONLY)")

# Two stamps: a change of pyproject.toml alone reinstalls the package and downloads nothing.
.venv/.requirements: requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "whyscan needs Python 3.11 or newer: make setup PYTHON=path")'
	@echo "setting up .venv (a minute or two, once)"
	@$(PYTHON) -m venv .venv
	@$(PIP) install --require-hashes -r $<
	@touch $@

.venv/.installed: .venv/.requirements pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src  # as an installed package is: start-up is measured in bytecode
	@touch $@

.venv/.jars: .venv/.requirements requirements/ivy.xml requirements/jars-4.1.sha256
	@$(BIN)/python requirements/jars.py .venv/jars 4.1
	@touch $@

# An environment inside .venv: extensions fit one release of DuckDB, which is not the project's.
.venv/duckdb/.installed: requirements/duckdb.txt .venv/.requirements
	@$(BIN)/python -m venv .venv/duckdb
	@.venv/duckdb/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r $<
	@touch $@

# An environment inside .venv: what checks and uploads releases shares nothing with the project.
.venv/dist/.installed: requirements/dist.txt .venv/.requirements
	@$(BIN)/python -m venv .venv/dist
	@.venv/dist/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r $<
	@touch $@

# An environment with another Spark and its jars; everything else comes from .venv.
PURELIB = -c 'import sysconfig; print(sysconfig.get_path("purelib"))'
.venv/spark-%/.installed: requirements/spark-%.txt requirements/ivy.xml requirements/jars-%.sha256 .venv/.installed
	@$(BIN)/python -m venv .venv/spark-$*
	@.venv/spark-$*/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r $<
	@echo "import site; site.addsitedir('$$($(BIN)/python $(PURELIB))')" > "$$(.venv/spark-$*/bin/python $(PURELIB))/zz.pth"
	@$(BIN)/python requirements/jars.py .venv/spark-$*/jars $*
	@touch $@

# Pins stay as they are where they can: `make lock UPGRADE=--upgrade` renews them.
# No index address and no path is written: hashes say what, not where from.
UV = build/uv/bin/uv pip compile --quiet $(UPGRADE) --universal --python-version 3.11 \
	--generate-hashes --no-header --no-emit-index-url --no-emit-find-links

lock: build/uv/bin/uv ## compile requirements/ from pyproject.toml
	@$(UV) pyproject.toml --extra dev -o requirements/dev.txt
	@$(UV) pyproject.toml -c requirements/dev.txt -o requirements/core.txt
	@$(UV) pyproject.toml --extra spark --extra catalogs -c requirements/dev.txt -o requirements/container.txt
	@$(UV) requirements/tpc.in -o requirements/tpc.txt
	@$(UV) requirements/duckdb.in -o requirements/duckdb.txt
	@$(UV) requirements/dist.in -o requirements/dist.txt
	@$(foreach each,$(SPARKS),$(UV) requirements/spark-$(each).in -o requirements/spark-$(each).txt;)

build/uv/bin/uv:
	@$(PYTHON) -m venv build/uv
	@build/uv/bin/python -m pip --disable-pip-version-check --quiet install uv==0.13.7

clean: ## remove .venv and everything else that can be made again
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist whyscan-demo
