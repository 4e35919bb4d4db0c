# Two commands do everything: `make lab` and `make test`. The others are for people who change peerlab.
PYTHON ?= python3
VENV   := .venv
# Who may open `make voila`: this machine alone.
VOILA_IP ?= 127.0.0.1
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --no-input
# Groups of tests side by side (tests/groups.py says which), the longest first; then the 25 tests that took longest.
TOGETHER := --numprocesses=auto --maxprocesses=4 --dist=loadscope --no-loadscope-reorder --durations=25
# Tests start some hundred processes of ours: each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE
# Only these decide what is installed; editing our own code needs no new install.
SETUP  := pyproject.toml Makefile
# A line before each part that takes a while; pip's own warnings and errors stand between them.
say     = @echo "peerlab: $(1) ..."
pinned  = $(shell grep -c == $(1)) packages

.PHONY: lab voila site test soak lint bench docs solutions shots course binder lock clean chromium

lab: $(VENV)/lab.stamp          ## set up and open the lab (prints its address)
	$(call say,opening the lab)
	@exec $(BIN)/peerlab lab --parent $$PPID $(ARGS)

voila: $(VENV)/test.stamp       ## serve copies of the labs as an app: prose and pictures, no code
	rm -rf out/voila && mkdir -p out/voila && cp labs/*.ipynb out/voila
	JUPYTER_PATH="$(CURDIR)/peerlab/jupyter" $(BIN)/python -m voila out/voila --template=peerlab --no-browser --Voila.ip=$(VOILA_IP) $(ARGS)

test: $(VENV)/test.stamp chromium        ## set up and run all tests (a part of the long trials, with another seed each time)
	$(BIN)/python -m pytest $(TOGETHER)

site: $(VENV)/lab.stamp         ## the lab in a browser tab, as static files in out/site (npm gets Pyodide, or ARGS="--pyodide FILE")
	@mkdir -p out
	@exec $(BIN)/peerlab site out/site $(ARGS)

soak: $(VENV)/test.stamp chromium        ## all tests, every long trial
	PEERLAB_SOAK=1 $(BIN)/python -m pytest $(TOGETHER)

lint: $(VENV)/test.stamp        ## style, types, import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/test.stamp chromium       ## what must be fast, measured side by side
	$(BIN)/python bench/run.py $(ARGS)

docs: $(VENV)/lab.stamp         ## writes the generated documents (ARGS="model api": these)
	$(BIN)/python docs/write.py $(ARGS)

solutions: $(VENV)/lab.stamp   ## writes labs/solutions/, the labs with the answers filled in
	$(BIN)/python labs/write_solutions.py

shots: $(VENV)/test.stamp chromium       ## the pictures in README and docs, taken from the real thing
	$(BIN)/python docs/shots.py $(ARGS)

course: $(VENV)/lab.stamp       ## the trainer's papers: slides, one page of answers, two tasks (into out/course)
	$(BIN)/python docs/course.py $(ARGS)

binder:                         ## names your public repository wherever Binder is (REPO=owner/name)
	@$(PYTHON) binder/repository.py "$(REPO)"

lock:                           ## pin every dependency with hashes
	./requirements/lock.sh

clean:                          ## remove what the other targets made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

chromium:
	@./tests/browser/need_chromium.sh

$(VENV)/bin/python:
	$(call say,creating the environment in $(VENV))
	@./requirements/venv.sh "$(PYTHON)" "$(VENV)"

$(VENV)/lab.stamp: requirements/lab.txt $(SETUP) | $(VENV)/bin/python
	$(call say,installing $(call pinned,requirements/lab.txt) (about a minute))
	@$(PIP) install --quiet --require-hashes -r requirements/lab.txt
	$(call say,installing peerlab itself)
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/test.stamp: requirements/test.txt $(VENV)/lab.stamp
	$(call say,installing the $(call pinned,requirements/test.txt) of the tests (about a minute))
	@$(PIP) install --quiet --require-hashes -r requirements/test.txt
	@touch $@
