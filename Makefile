# The commands of the project; `make` alone lists them.
#
#   make up DEMO=0                        without demo traffic
#   make up DOCUMENTS="a.txt b.txt"       with text files as a source
#   make up SECURE=1                      TLS, logins and access lists
#   make up AUDIT=1                       count what is appended and committed, for the page Completeness
#   make up MIRROR=1                      a second small cluster, and a mirror there and back
#
# Everything else is set by environment variables named BARNABAS_…; docs/reference/settings.md lists them.

PYTHON ?= python3
VENV := .venv
# Rewritten tests are kept as bytecode whatever the environment says: the next run reads them.
# TIMES=1 lists what took longest.
# The plugins of --setup-show and --setup-plan wrap each fixture of each test; the gate needs neither.
FORKS = -p tests.forked --forks auto -p no:setuponly -p no:setupplan -o console_output_style=classic $(if $(TIMES),--durations=25 --durations-min=3)
PYTEST = PYTHONDONTWRITEBYTECODE= $(VENV)/bin/python -m pytest $(FORKS)

.DEFAULT_GOAL := help
.PHONY: help setup setup-test fetched up down wheel test gated test-long test-all checked looked-over bytecode faults fuzz chaos simulate reference bench bench-console bench-streams lint style types clean-data lock again docs

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Make .venv and install what runs the product (again only when the lock changed)
	@$(call install,requirements.lock)

setup-test:
	@$(call install,tests/requirements.lock)

fetched: setup-test ## Fetch Apache Kafka's jars and another broker into a cache, for tests that compare with them
	@$(VENV)/bin/python -m tests.fetched

# A stage of the checks is one line; what it printed is shown where it failed.
define stage
	@log=$$(mktemp) && trap 'rm -f -- "$$log"' EXIT && began=$$(date +%s) && if { $(2); } >"$$log" 2>&1; then \
	  printf '%-10s ok %5d s\n' $(1) $$(($$(date +%s) - began)); else cat "$$log"; printf '%-10s FAILED\n' $(1); exit 1; fi
endef

# What an old Python can read; the rest, and every other reason why it cannot be done, is in broker/install.py.
define install
	interpreter=$(PYTHON); if [ -e $(VENV)/bin/python ]; then interpreter=$(VENV)/bin/python; fi; \
	"$$interpreter" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null || { \
	  for other in python3.14 python3.13 python3.12 python3.11; do \
	    if $$other -c 'import venv' 2>/dev/null; then hint="delete $(VENV) and type: make PYTHON=$$other $(MAKECMDGOALS)"; break; fi; done; \
	  echo "Barnabas needs Python 3.11 to 3.14; $$interpreter is $$("$$interpreter" --version 2>/dev/null || echo none). Next: $${hint:-install one of these, on Debian and Ubuntu with python3-venv}" >&2; exit 1; }; \
	"$$interpreter" -m broker.install $(VENV) $(1)
endef

up: setup ## Start everything and stay in the foreground; Ctrl-C stops everything
	@$(if $(DEMO),BARNABAS_DEMO="$(DEMO)") $(if $(DOCUMENTS),BARNABAS_DOCUMENTS="$(DOCUMENTS)") $(if $(SECURE),BARNABAS_SECURE="$(SECURE)") $(if $(MIRROR),BARNABAS_MIRROR="$(MIRROR)") $(if $(AUDIT),BARNABAS_AUDIT="$(AUDIT)") exec $(VENV)/bin/python manage.py up

down: ## End what runs here, also what a killed terminal left
	@[ -x $(VENV)/bin/python ] || { echo "Nothing is installed here, so nothing is running."; exit 0; }; \
	  exec $(VENV)/bin/python manage.py down

# What setuptools leaves in build/ would go into the next wheel, though its source were gone.
wheel: setup ## Build dist/barnabas-….whl
	@rm -rf build && $(VENV)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps --wheel-dir dist . && \
	  rm -rf build barnabas.egg-info && ls dist

# Types are checked while tests are collected: each keeps one core busy, and mypy's cache is not there in a clean clone.
test: looked-over ## Run every check and the tests of the gate, some minutes
	@said=$$(mktemp) && trap 'rm -f -- "$$said"' EXIT && { $(MAKE) --no-print-directory types >"$$said" 2>&1 & } && types=$$!; \
	  $(MAKE) --no-print-directory gated; tests=$$?; wait $$types; types=$$?; cat "$$said"; exit $$((tests || types))

# Files lie in memory where it has room: half of a gate would be waiting for fsync. What a disk does is test-all's business.
gated: setup-test
	@room=$$(df --output=avail /dev/shm 2>/dev/null | tail -n 1); \
	  where=$$([ "$${room:-0}" -gt 8000000 ] && ! grep -q ' /dev/shm [^ ]* [^ ]*noexec' /proc/mounts && echo /dev/shm || echo "$${TMPDIR:-/tmp}"); \
	  place=$$(mktemp -d --tmpdir="$$where" bt.XXXXXX) && export TMPDIR="$$place" && \
	  if $(PYTEST) --basetemp="$$place/t" -m "not long" 2>"$$place/stderr"; then rm -rf -- "$$place"; else \
    echo "Libraries wrote this:"; tail -n 100 "$$place/stderr"; echo "What failed tests left is in $$place"; exit 1; fi

again: checked ## Try the few tests that failed last once more, alone; names what passes then
	@$(VENV)/bin/python -m tests.second_chance --durations=3

test-all: checked ## Run every check and every test, also those that take long
	$(PYTEST) --hypothesis-profile full

test-long: bytecode ## Run the tests that take long, half an hour; LONG="tests/faults tests/interop" runs those of some rooms
	$(PYTEST) -m long $(LONG)

checked: looked-over types

looked-over: setup-test
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target style bytecode

# Tests start some hundred interpreters, and none of them writes bytecode: each would compile everything anew.
bytecode: setup-test
	$(call stage,bytecode,$(VENV)/bin/python -m compileall -q broker console)

faults: bytecode ## Kill, stop and attack brokers under load; FAULTS="--row 4" or FAULTS="crash --kills 5 --seed 7" runs a part
	@$(VENV)/bin/python -m tests.faults $(FAULTS)

fuzz: bytecode ## Send made-up requests of every API to a broker; FUZZ="--minutes 60 --seed 7"
	@$(VENV)/bin/python -m tests.fuzz $(FUZZ)

chaos: bytecode ## Kill and suspend everything for ten minutes, then compare the console with the truth; CHAOS="--seconds 60 --seed 7"
	@$(VENV)/bin/python -m tests.chaos $(CHAOS)

reference: setup-test ## Compare with Kafka's and Java's own classes, some minutes; REFERENCE="Cast dates --seed 7" compares some
	@$(VENV)/bin/python -m tests.reference $(REFERENCE)

bench: setup-test ## Measure the brokers; BENCH="--against HOST:PORT" runs the same loads on any other Kafka, BENCH="--against-commit REF" on another commit
	@$(VENV)/bin/python -m tests.bench $(BENCH)

bench-console: setup-test ## Measure the console before 10,000 topics and 200 browsers
	@$(VENV)/bin/python -m tests.bench.console $(BENCH)

bench-streams: setup-test ## Measure the Spark source and sink beside librdkafka and Spark's own files
	@$(VENV)/bin/python -m tests.bench.streams $(BENCH)

simulate: setup-test ## Run the cluster under simulated time, network and faults; SEEDS=500 or MINUTES=60 of them, SEED=N alone or first
	@$(VENV)/bin/python -m tests.simulation.campaign $(if $(SEED),--first $(SEED)) $(if $(MINUTES),--minutes $(MINUTES)) \
	  $(if $(SEEDS),--seeds $(SEEDS),$(if $(MINUTES),,$(if $(SEED),--seeds 1)))

lint: style types ## Check style, types and who imports whom

style: setup-test
	$(call stage,ruff,$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .)
	$(call stage,deptry,$(VENV)/bin/deptry --no-ansi broker console)
	$(call stage,imports,$(VENV)/bin/lint-imports)

types: setup-test
	$(call stage,mypy,$(VENV)/bin/python -m mypy)

docs: ## Build the documents to a site with a search, in site/
	@$(call install,tests/documentation/requirements.lock)
	@rm -rf site && $(VENV)/bin/python -m tests.documentation.site build/docs && $(VENV)/bin/zensical build --strict && \
	  echo "open site/index.html, or serve it: python -m http.server --directory site --bind 127.0.0.1 8000"

clean-data: ## Delete data/ (asks first)
	@printf 'Delete all topics, offsets and users in %s? Type yes: ' "$${BARNABAS_DATA:-data}"; read answer; \
	  [ "$$answer" = yes ] || { echo "Nothing was deleted."; exit 1; }; \
	  { [ ! -x $(VENV)/bin/python ] || $(VENV)/bin/python manage.py down; } && rm -rf -- "$${BARNABAS_DATA:-data}" && echo "Deleted."

lock: ## Write the lock files and the table of their wheels anew from pyproject.toml
	@uv=$$(mktemp -d) && trap 'rm -rf "$$uv"' EXIT && $(PYTHON) -m venv "$$uv" && "$$uv/bin/pip" install --quiet uv packaging && \
	  "$$uv/bin/uv" pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --all-extras pyproject.toml -o requirements.lock && \
	  "$$uv/bin/uv" pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --all-extras --group test pyproject.toml \
	    -c requirements.lock -o tests/requirements.lock && \
	  "$$uv/bin/uv" pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --group pyproject.toml:docs \
	    -c tests/requirements.lock -o tests/documentation/requirements.lock && \
	  "$$uv/bin/uv" pip compile -q --universal --python-version 3.11 --no-deps --format pylock.toml tests/requirements.lock \
	    -o "$$uv/pylock.toml" && "$$uv/bin/python" -m tests.wheel_table "$$uv/pylock.toml"
