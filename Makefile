# Everything a newcomer or CI runs. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: help demo test check setup fmt snapshots clean
help: ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml
	@echo "[1/3] virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@echo "[2/3] lsp-harness and what it needs (the first time compiles llama.cpp: about 5 minutes on 2 cores)"
	@$(BIN)/python -m pip install --progress-bar on --quiet -e . --group dev
	@touch $@

setup: $(STAMP) ## virtual environment, package and default model
	@echo "[3/3] the default model (0.5B, 469 MiB, once per machine)"
	@$(BIN)/lsp-harness model pull

demo: setup ## watch it complete a line and repair a diagnostic, with the real model
	@$(BIN)/lsp-harness demo

check: $(STAMP) ## lint, types, layers and tidiness
	@$(BIN)/ruff format --check -q .
	@$(BIN)/ruff check -q .
	@$(BIN)/lint-imports
	@$(BIN)/pyright
	@$(BIN)/python -m pytest -q tests/test_tidy.py

test: setup ## all tests
	@$(BIN)/python -m pytest -q

fmt: $(STAMP) ## format and fix what can be fixed
	@$(BIN)/ruff format -q .
	@$(BIN)/ruff check -q --fix .

snapshots: $(STAMP) ## rewrite inline snapshots and golden files
	@$(BIN)/python -m pytest -q --inline-snapshot=fix --golden-update

clean: ## remove what setup made in this folder
	rm -rf $(VENV) build dist
