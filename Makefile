# Everything a reader or a machine runs goes through here; `make` alone lists it.
# Fresh machine: Python, Rust and a C compiler are enough, the rest is fetched into .venv and target/.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Every optional part is linted and tested, so every one is installed.
EXTRAS := test,cli,plot,stream

# A toolchain installed a minute ago is often not yet on PATH. ($(shell) does not see exported variables before make 4.4.)
export PATH := $(PATH):$(HOME)/.cargo/bin
CARGO := $(shell PATH='$(PATH)' command -v cargo)
# The binding is checked against the interpreter it will be loaded by, not whichever python is first on PATH.
export PYO3_PYTHON := $(abspath $(BIN)/python)
export VIRTUAL_ENV := $(abspath $(VENV))

# Directories are prerequisites too: removing a source file changes only its directory's time.
ENGINE := Cargo.toml $(wildcard Cargo.lock) pyproject.toml $(wildcard crates/*/Cargo.toml) \
          $(shell find crates/sapwood/src crates/sapwood-py/src -type d -o -name '*.rs')
# Every score but CRPS: its integral over the whole mixture would take most of the demo's time.
DEMO_METRICS := rmse,mae,log_score,coverage90,width90
VENV_STAMP := $(VENV)/.made
BUILD_STAMP := $(VENV)/.built
DOCS_STAMP := $(VENV)/.docs-tools
RELEASE_STAMP := $(VENV)/.release-tools
WHEEL_TARGETS := x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
# The same bytes in every folder and at any time: no paths and no clock in what is built.
REPRODUCIBLE = PATH=$(abspath $(BIN)):$$PATH SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) CARGO_INCREMENTAL=0 \
    RUSTFLAGS="--remap-path-prefix=$(CURDIR)=/sapwood --remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=/cargo"

##@ Use it

.PHONY: demo
demo: build ## Learn a drifting stream, print scores beside baselines, leave report and pictures in demo/
	@mkdir -p demo
	$(BIN)/sapwood learn 'demo:drifting-friedman?n=3000' --jobs -1 --warm-up 100 --window 200 --metrics $(DEMO_METRICS) \
	    --report demo/report.html --pictures demo/pictures --save demo/model.sap --predictions demo/predictions.csv $(ARGS)
	@echo 'Open demo/report.html in a browser, or look at demo/pictures/overview.png.'

.PHONY: build
build: $(BUILD_STAMP) ## Make .venv with the extension (release mode), the package and all its extras

.PHONY: wheel
wheel: build ## Make one abi3 wheel in dist/ and run the README's Python with it in a fresh environment
	rm -rf dist/sapwood-*.whl dist/.trial
	$(BIN)/maturin build --release --out dist
	$(PYTHON) -m venv dist/.trial
	dist/.trial/bin/python -m pip install --quiet dist/sapwood-*-cp310-abi3-*.whl
	sed -n '/^```python/,/^```/{/^```/!p}' README.md | dist/.trial/bin/python -
	rm -rf dist/.trial
	@ls -lh dist/sapwood-*.whl

.PHONY: dist
dist: $(RELEASE_STAMP) ## Make the source distribution and manylinux2014 wheels for x86-64 and aarch64 in dist/, and their checksums
	rm -rf dist && mkdir dist
	$(REPRODUCIBLE) $(BIN)/maturin sdist --out dist
	for target in $(WHEEL_TARGETS); do \
	    rustup target add $$target && \
	    $(REPRODUCIBLE) $(BIN)/maturin build --release --zig --compatibility manylinux2014 --target $$target --out dist || exit 1; \
	done
	cd dist && sha256sum * | tee SHA256SUMS

.PHONY: dist-twice
dist-twice: dist ## Make the distributions again from a fresh clone of the last commit, and compare them byte for byte
	rm -rf target/second && git clone --quiet . target/second
	$(MAKE) -C target/second VENV=$(abspath $(VENV)) dist
	cmp dist/SHA256SUMS target/second/dist/SHA256SUMS
	rm -rf target/second

.PHONY: sbom
sbom: $(RELEASE_STAMP) ## List every package that is built in or required, with versions and licences, in dist/sbom.json and dist/licences.md
	mkdir -p dist
	$(REPRODUCIBLE) $(BIN)/python tools/sbom.py dist

.PHONY: audit
audit: $(RELEASE_STAMP) ## Licences, sources and known vulnerabilities of all dependencies; needs cargo-deny and the network
	cargo deny check
	$(BIN)/pip-audit --local --strict

##@ Check it

.PHONY: test
test: test-rust test-python ## Run every test: the engine against its oracle, then the Python package

.PHONY: test-rust
test-rust: | toolchain ## Run the tests of the core, the attack and the oracle only
	cargo test --release -p sapwood -p sapwood-attack -p sapwood-oracle

.PHONY: test-python
test-python: build ## Run the Python tests only (ARGS='-k name' to choose)
	$(BIN)/python -m pytest $(ARGS)

.PHONY: lint
lint: build ## Formatting, clippy, ruff and mypy; any warning fails
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy python/sapwood

.PHONY: format
format: build ## Rewrite the sources the way lint wants them
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

##@ Measure it

.PHONY: bench
bench: build ## Speed, beside the peers that are installed
	$(BIN)/python -m benchmarks.speed $(ARGS)

.PHONY: instructions
instructions: build ## Instructions of a step, counted by valgrind, against the committed budget (ARGS=--bless renews it)
	$(BIN)/python -m benchmarks.speed.instructions $(ARGS)

.PHONY: bench-quality
bench-quality: build ## Predictive quality on the streams the defaults were chosen for
	$(BIN)/python -m benchmarks.quality $(ARGS)

##@ Read it

.PHONY: docs
docs: build $(DOCS_STAMP) ## Build the documentation into site/; a broken reference fails
	$(BIN)/sphinx-build --fail-on-warning --keep-going -b html docs site

.PHONY: help
help: ## List these commands
	@awk 'BEGIN { FS = ":.*## " } \
	      /^##@ /             { printf "\n%s\n", substr($$0, 5) } \
	      /^[a-z-]+:.*## /    { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: clean
clean: ## Remove everything the other commands made
	rm -rf $(VENV) target dist site demo python/sapwood/_core*.so .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- what the commands above stand on ----

$(BUILD_STAMP): $(ENGINE) $(VENV_STAMP)
	$(BIN)/maturin develop --release --extras $(EXTRAS)
	@touch $@

$(VENV_STAMP): | toolchain
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet 'maturin>=1.9,<2'
	@touch $@

$(DOCS_STAMP): docs/requirements.txt $(VENV_STAMP)
	$(BIN)/python -m pip install --quiet --requirement docs/requirements.txt
	@touch $@

$(RELEASE_STAMP): tools/requirements.txt $(VENV_STAMP)
	$(BIN)/python -m pip install --quiet --requirement tools/requirements.txt
	@touch $@

# Each line is either nothing or the one sentence that says what is missing.
RUST_NEEDED := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
.PHONY: toolchain
toolchain:
	$(if $(shell $(PYTHON) --version 2>&1 | grep ^Python),,$(error $(PYTHON) does not run: install Python 3.10 or newer, or name one with `make PYTHON=/path/to/python`))
	$(if $(shell $(PYTHON) -c 'import sys; sys.version_info >= (3, 10) and print(1)'),,$(error $(shell $(PYTHON) --version 2>&1) is too old: install Python 3.10 or newer, or name one with `make PYTHON=/path/to/python`))
	$(if $(shell $(PYTHON) -c 'import ensurepip, venv; print(1)' 2>/dev/null),,$(error $(PYTHON) cannot make virtual environments: install its venv module (on Debian and Ubuntu the package python3-venv)))
	$(if $(CARGO),,$(error cargo was not found: install Rust $(RUST_NEEDED) or newer from https://rustup.rs))
	$(if $(shell printf '%s\n' $(RUST_NEEDED) "$$($(CARGO) --version | cut -d' ' -f2)" | sort -CV && echo 1),,$(error $(shell $(CARGO) --version) is too old: run `rustup update`, Rust $(RUST_NEEDED) or newer is needed))
	$(if $(shell command -v cc),,$(error cc was not found: install a C compiler, which Rust links with (on Debian and Ubuntu the package build-essential)))
	@:
