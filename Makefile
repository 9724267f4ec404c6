# make demo      set up .venv and show the main job on the embedded model and text
# make test      set up .venv and run the tests
# make lint      ruff and pyright
# make docs      write docs/commands.md
# make wheel     build dist/interp-*.whl and try it in an environment of its own
# make bench     speed and memory against others, a line per figure (half an hour)
# make results   write analyses/first-look/, reports/first-look.html and reports/index.html
# make clean     remove .venv and whatever else can be made again
#
# PYTHON=python3.12   another Python than python3, for .venv
# TORCH_INDEX=URL     take torch from this package index; the CPU-only builds are far smaller

PYTHON ?= python3
TORCH_INDEX ?=

SHELL := bash
VENV := .venv
BIN := $(VENV)/bin

# A set-up is done when its stamp is there. The name says what was set up, and where, so that a
# change of the pins sets up again and a mere change of file times does not.
KEY := $(shell { pwd; cat pyproject.toml constraints.txt; } | cksum | cut -d ' ' -f 1)
RUNTIME := $(VENV)/.runtime-$(KEY)
DEVELOPMENT := $(VENV)/.development-$(KEY)

PIP := set -o pipefail; \
	$(BIN)/python -m pip --disable-pip-version-check install --constraint constraints.txt
# Of what pip says, the downloads of a megabyte or more. Its errors are on stderr, and stay.
SHOW := | awk '/(Downloading|Using cached) .* MB/ { print; fflush() } \
	/^Installing/ { print "  unpacking"; fflush() }'

# pip writes INSTALLER last: what an interrupted pip left without one is to be installed again.
REPAIR := find $(VENV) -maxdepth 4 -name '*.dist-info' ! -exec test -e {}/INSTALLER ';' \
	-prune -exec rm -rf {} +

# These have their shapes checked, in a run of their own: what is checked cannot be compiled. It
# goes beside the other, on a second core, and is shown after it. Those of training and of pages
# follow it there, so that both cores have about as much to do.
SHAPED := interp.analyses,interp.extraction.batches,interp.extraction.interventions,$\
	interp.extraction.reductions,interp.extraction.ridge,interp.extraction.signal,$\
	interp.extraction.signals,interp.model.added_positions,interp.model.attention,$\
	interp.model.biased_scores,interp.model.loss,interp.model.norm,$\
	interp.model.position_encoding,interp.model.position_encodings,$\
	interp.model.position_tables,interp.model.rotary,$\
	interp.model.rotation,interp.model.score_bias,interp.model.score_terms,interp.model.stretching,$\
	interp.model.transformer,interp.model.verification,interp.segmentation.chinese,$\
	interp.segmentation.gaps,interp.segmentation.scripts,interp.segmentation.spaces,interp.text

FOLLOWING := tests/training tests/reports

.PHONY: demo test lint docs wheel bench results clean

demo: $(RUNTIME)
	$(BIN)/interp demo

test: $(DEVELOPMENT)
	@log=$$(mktemp); \
	{ $(BIN)/python -m pytest --jaxtyping-packages=$(SHAPED),beartype.beartype \
		tests/analyses tests/extraction tests/model tests/segmentation tests/test_text.py; \
		failed=$$?; $(BIN)/python -m pytest $(FOLLOWING) || failed=1; exit $$failed; \
	} >"$$log" 2>&1 & beside=$$!; \
	trap 'kill $$beside 2>/dev/null; rm -f "$$log"' EXIT; \
	$(BIN)/python -m pytest $(addprefix --ignore=,$(FOLLOWING)); failed=$$?; \
	wait $$beside || failed=1; \
	cat "$$log"; exit $$failed

lint: $(DEVELOPMENT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

docs: $(RUNTIME)
	$(BIN)/python docs/make_commands.py

wheel: $(DEVELOPMENT)
	rm -rf dist
	$(BIN)/python -m hatchling build --target wheel
	INTERP_WHEEL=$$(realpath dist/*.whl) TORCH_INDEX=$(TORCH_INDEX) \
		$(BIN)/python -m pytest tests/test_wheel.py

bench: $(RUNTIME)
	$(BIN)/python -m benchmarks

results: $(RUNTIME)
	$(BIN)/python -m interp.cli.results --out .

clean:
	rm -rf $(VENV) build dist interp-demo .pytest_cache .ruff_cache .hypothesis
	find interp tests -name __pycache__ -prune -exec rm -rf {} +

$(RUNTIME):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo \
	"interp needs Python 3.11 or newer, and $(PYTHON) is: $$($(PYTHON) --version 2>&1)"; \
	echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; } >&2
	@echo "Setting up $(VENV). With a CPU-only torch: 420 MB to download, 1.9 GB on disk."
	@mkdir -p $(VENV) && rm -f $(VENV)/.runtime-* $(VENV)/.development-* && $(REPAIR)
	@$(PYTHON) -m venv $(VENV)
ifneq ($(TORCH_INDEX),)
	@$(PIP) --no-deps --index-url $(TORCH_INDEX) torch $(SHOW)
endif
	@$(PIP) --editable . $(SHOW)
	@touch $@

$(DEVELOPMENT): | $(RUNTIME)
	@echo "Adding what tests and lint need to $(VENV)."
	@$(REPAIR)
	@$(PIP) --editable '.[dev]' $(SHOW)
	@touch $@
