# The two commands: `make demo` and `make test`. Each sets up all that it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := Cargo.toml Cargo.lock $(shell find crates '(' -name '*.rs' -o -name '*.[ch]' ')' -not -path '*/target/*') $(shell find crates -name Cargo.toml)

# Changes when the compiler for BPF programs comes or goes.
CLANG_STAMP := $(VENV)/clang-$(if $(shell command -v clang),present,absent).stamp

# The target triple of the static program for hosts.
HOST_TARGET := $(shell rustc -vV 2>/dev/null | sed -n 's/^host: //p')

# An environment of its own: nothing else needs what makes the site.
SITE := target/site-venv

.PHONY: demo test lint wasm wheel host deb bench docs site setup fast lock clean

demo: setup
	$(BIN)/mptcplab run lisbon/A1 --duration 5s --repeat 2 --html

test: setup
	cargo test --workspace --release --locked
	$(BIN)/pytest -m "not machine" --numprocesses logical --maxprocesses 4 --dist loadfile
	$(BIN)/pytest -m machine

lint: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --release --locked -- -D warnings
	$(BIN)/ruff format --check python tests benches
	$(BIN)/ruff check python tests benches
	$(BIN)/mypy python tests

# Proof that the crates without I/O have none.
wasm:
	.ci/wasm

# A wheel, below target/wheels, tried out in an empty environment.
wheel: setup
	.ci/wheel

# The program for hosts as one static file, target/host/mptcplab-host, to be copied anywhere.
host:
	RUSTFLAGS='-C target-feature=+crt-static' cargo build --quiet --release --locked --package mptcplab-host --target $(HOST_TARGET) --target-dir target/static
	install -D -t target/host target/static/$(HOST_TARGET)/release/mptcplab-host

# A Debian package of agent and target, below target/deb.
deb: host
	packaging/deb/build target/host/mptcplab-host target/deb

# The pages that are made from the program itself.
docs: setup
	$(BIN)/python -m tests.docs.reference
	$(BIN)/python -m tests.trace.reference
	$(BIN)/python -m mptcplab.scenario.schema > docs/scenario.schema.json

# The documentation as a site, target/site/index.html, to be read from the disk or served.
site: setup $(SITE)/packages.stamp
	$(BIN)/python -m tests.docs.site target/site-pages
	$(SITE)/bin/zensical build --strict --clean --config-file target/site-pages/mkdocs.yml
	$(BIN)/python -m tests.docs.site.built target/site-pages/site
	@rm -rf target/site
	@mv target/site-pages/site target/site
	@echo "site: target/site/index.html"

$(SITE)/packages.stamp: requirements-site.lock
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/pip install --quiet --require-hashes -r requirements-site.lock
	@touch $@

# How exact and how fast the links are, and how long a network takes to come and go.
bench: setup
	$(BIN)/python -m benches

setup: $(VENV)/extension.stamp $(BIN)/mptcplab-host

# The simulator about a fifth faster, by a profile of what it does: some minutes, once.
fast: $(VENV)/packages.stamp $(BIN)/mptcplab-host
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) crates/python/fast
	@touch $(VENV)/extension.stamp

$(VENV)/packages.stamp: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit("mptcplab needs Python 3.11 or newer; set PYTHON=python3.11, say" if sys.version_info < (3, 11) else 0)'
	@command -v cargo >/dev/null || { echo "mptcplab needs a Rust toolchain (cargo)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	@touch $@

$(CLANG_STAMP): $(VENV)/packages.stamp
	@rm -f $(VENV)/clang-*.stamp
	@touch $@

$(VENV)/extension.stamp: $(VENV)/packages.stamp $(CLANG_STAMP) pyproject.toml $(SOURCES)
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked --quiet
	@touch $@

$(BIN)/mptcplab-host: $(VENV)/packages.stamp $(CLANG_STAMP) $(SOURCES)
	cargo build --quiet --release --locked --workspace --bin mptcplab-host --target-dir target
	install target/release/mptcplab-host $@

# Pins every package anew, for every platform.
lock:
	uv pip compile pyproject.toml --extra dev --universal --generate-hashes --no-emit-index-url --output-file requirements.lock
	uv pip compile --group site --python-version 3.11 --universal --generate-hashes --no-emit-index-url --output-file requirements-site.lock

clean:
	rm -rf target $(VENV) out
