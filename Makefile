# Two commands do all the set-up: `make demo` and `make test`.
# The development torch is pinned; the package itself admits torch >= 2.4.
PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch==2.13.0
BIN := $(VENV)/bin
# Lines are followed in another way from Python 3.12 on; PYTHON312 names one, otherwise it is looked for.
export PYTHON312
VENV_LINES ?= .venv-lines
VENV_FRAMEWORKS ?= .venv-frameworks
GPU_RESULTS ?= gpu-check
BIN_LINES := $(VENV_LINES)/bin
BIN_FRAMEWORKS := $(VENV_FRAMEWORKS)/bin

.PHONY: demo test traces lines frameworks mutants lint types layers docs notebooks check gpu-check gpu-wheels scores evidence clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet "$(TORCH)"
	$(BIN)/python -m pip install --quiet --editable ".[demo]"
	@touch $@

$(VENV)/.test: pyproject.toml $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --editable ".[demo,test]"
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.test
	$(BIN)/python -m pip install --quiet --editable ".[demo,test,docs,dev]"
	@touch $@

# Profiles a real training loop in a real kernel; leaves the executed notebook and gpuprof-report.html.
demo: $(VENV)/.demo
	$(BIN)/python notebooks/execute.py quickstart
	@echo "wrote notebooks/quickstart.executed.ipynb and gpuprof-report.html"

# AGAIN: further options of pytest, also for `make lines`.
test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(AGAIN)

# The public recordings that many tests read (35 MB): from TRACES or ../shared/traces where they are, else downloaded.
traces:
	$(PYTHON) tests/recordings/fetch.py $(if $(TRACES),--from $(TRACES))

# 1.4 GB to load where there is no CPU wheel of torch for that Python.
$(VENV_LINES)/.test: pyproject.toml
	@.ci/newer-python >/dev/null || { echo "make lines needs Python 3.12 or newer: make lines PYTHON312=<its path>"; exit 1; }
	"$$(.ci/newer-python)" -m venv $(VENV_LINES)
	$(BIN_LINES)/python -m pip install --quiet --upgrade pip
	$(BIN_LINES)/python -m pip install --quiet "$(TORCH)"
	$(BIN_LINES)/python -m pip install --quiet --editable ".[test]"
	@touch $@

lines: $(VENV_LINES)/.test
	$(BIN_LINES)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder tests/capture/lines \
		tests/capture/base/test_exclusive_session.py tests/capture/session/test_session.py tests/profiling tests/kernel $(AGAIN)

# In an environment of their own: what they need may contradict what the other tests need. About 3 GB.
$(VENV_FRAMEWORKS)/.test: pyproject.toml tests/frameworks/requirements.txt
	$(PYTHON) -m venv $(VENV_FRAMEWORKS)
	$(BIN_FRAMEWORKS)/python -m pip install --quiet --no-compile "$(TORCH)" --requirement tests/frameworks/requirements.txt \
		pytest pytest-timeout pytest-xdist hypothesis --editable .
	@touch $@

# Small fits with each training framework that is known, as people write them.
frameworks: $(VENV_FRAMEWORKS)/.test
	$(BIN_FRAMEWORKS)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder tests/frameworks

# Small faults, one at a time: do the tests notice? Takes about 20 minutes. MUTANTS="--seed 2 --count 50" asks otherwise.
mutants: $(VENV)/.test
	$(BIN)/python -m benchmarks.mutation $(MUTANTS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

# The reference pages come from the code: this fails where they are out of date, then builds the site without warnings.
docs: $(VENV)/.dev
	$(BIN)/python docs/generate.py --check
	$(BIN)/python docs/generate_replay.py --check
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/site

notebooks: $(VENV)/.demo
	$(BIN)/python notebooks/execute.py

# Everything only a GPU can show, by the Python that has a torch for it. Run it again to go on; see docs/gpu-check.md.
gpu-check:
	$(PYTHON) -m benchmarks.gpu_check --output $(GPU_RESULTS) $(if $(wildcard .wheels),--wheels .wheels) $(GPU_CHECK)

# What a machine without network lacks for it, to be carried there.
gpu-wheels:
	$(PYTHON) -m benchmarks.gpu_check.wheels .wheels

# Records and measures the labelled pairs that this machine has not done yet, and prints the scores.
scores: $(VENV)/.test
	$(BIN)/python -m benchmarks.proving score $(SCORES)

# The pages of docs/evidence/, and the recordings that tests read, from what was measured.
evidence: $(VENV)/.test
	test ! -e $(GPU_RESULTS)/results.json || $(BIN)/python -m benchmarks.gpu_check.evidence $(GPU_RESULTS)
	$(BIN)/python -m benchmarks.proving.evidence

check: test lint types layers docs notebooks

clean:
	rm -rf $(VENV) $(VENV_LINES) $(VENV_FRAMEWORKS) .gpuprof notebooks/.gpuprof notebooks/*.executed.ipynb gpuprof-report.html
