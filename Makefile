# Everything from a fresh machine with Python 3.11+ and make. `make help` lists what there is.

VENV := .venv
BIN := $(VENV)/bin
# The newest supported Python that answers (a name may be there and not work); PYTHON=... chooses another one.
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3; do \
	$$name -c '$(SUPPORTED)' 2>/dev/null && echo $$name && break; done)
PIP := $(BIN)/python -m pip --disable-pip-version-check install --no-deps --require-hashes
COMPILE = $(BIN)/uv pip compile --quiet --generate-hashes --no-emit-index-url --universal --python-version 3.11 $(ARGS)
SOURCES := agentchat accounts debates tools_app providers

# Every subprocess is called with a list of our own making.
BANDIT := $(BIN)/bandit --quiet --skip B404,B603,B606

# What `check --deploy` is asked about: an installation in production.
PRODUCTION = env SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(64))') \
	ALLOWED_HOSTS=example.org DATABASE_URL=postgres://user:secret@127.0.0.1/agentchat REDIS_URL=redis://127.0.0.1/0 \
	AGENTS_ENABLED=1 AI_PROFILE=openai OPENAI_API_KEY=x

.DEFAULT_GOAL := help
.PHONY: help run install test chaos check bench lock

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile | while IFS='	' read -r name what; do printf 'make %-9s%s\n' "$$name" "$$what"; done

run: $(VENV)/installed  ## install what is missing, start everything, print the address
	@exec $(BIN)/python manage.py up $(ARGS)

install: $(VENV)/installed  ## only install

test: $(VENV)/installed-dev  ## the whole test suite: what uses the database on PostgreSQL, then all on SQLite
	$(BIN)/python -W ignore -m tests.fakes.postgres $(BIN)/python -m pytest tests/debates tests/accounts $(ARGS)
	$(BIN)/python -m pytest $(ARGS)

chaos: $(VENV)/installed-dev  ## kill, freeze and restart every process while debates run; twenty minutes
	$(BIN)/python -m pytest -m "" tests/chaos $(ARGS)

check: $(VENV)/installed-dev  ## style, types, architecture, migrations, deployment, security
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(PRODUCTION) $(BIN)/python manage.py check --deploy --fail-level WARNING
	$(BANDIT) --recursive $(SOURCES)
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker-compose.yml

bench: $(VENV)/installed-dev  ## what it costs beside plain code (ARGS="turn many" for these parts alone)
	$(BIN)/python -m tests.bench $(ARGS)

lock: $(VENV)/installed-dev  ## compile requirements/ anew from pyproject.toml (ARGS=--upgrade: to the newest)
	$(COMPILE) pyproject.toml -o requirements/base.txt
	$(COMPILE) --group embedded -c requirements/base.txt -o requirements/embedded.txt
	$(COMPILE) --group dev -c requirements/base.txt -c requirements/embedded.txt -o requirements/dev.txt

# A stamp is written last, so that an installation that was interrupted is done again.
$(VENV)/installed: requirements/base.txt requirements/embedded.txt | $(BIN)/pip
	$(PIP) -r requirements/base.txt -r requirements/embedded.txt
	@touch $@

$(VENV)/installed-dev: requirements/dev.txt $(VENV)/installed
	$(PIP) -r requirements/dev.txt
	@touch $@

$(BIN)/pip:
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed and was not found." \
		"PYTHON=/path/to/python names one." >&2; exit 1; }
	@"$(PYTHON)" -c '$(SUPPORTED)' || { echo "$(PYTHON) does not work or is no Python 3.11, 3.12 or 3.13." \
		"PYTHON=/path/to/python names another one." >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) cannot make virtual environments." \
		"On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
