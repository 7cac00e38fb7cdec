# Everything a newcomer or CI runs. `make help` lists the targets.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.ready
# one that passes now depends on time, load or order, and must be mended
AGAIN := --last-failed --last-failed-no-failures=none --maxfail=5
SAY_AGAIN := echo "what failed runs once more, alone:"
# one core has time for these while pyright needs the other
CHECK_TESTS := tests/test_tidy.py tests/test_code_rules.py tests/test_platforms.py tests/package
# only modules that import one of these, or name what asyncio has on some systems, can be wrong on another system
DIFFERING := '^ *(import|from) (ctypes|fcntl|grp|mmap|msvcrt|multiprocessing|os|pty|pwd|resource|select|selectors|signal|socket|subprocess|sys|termios|tty|_winapi)\b|unix_|signal_handler|tzset'
ALL_TESTS := --ignore=tests/editors $(CHECK_TESTS:%=--ignore=%)

.PHONY: help demo unit test e2e check types rules setup agents fmt docs snapshots clean xterm lock packages release
help: ## list the targets
	@awk -F':.*## ' '/^[a-z0-9]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt
	@PYTHON=$(PYTHON) .ci/setup.sh

setup: $(STAMP) ## virtual environment, package and default model
	@$(BIN)/lsp-harness setup --yes

demo: setup ## watch it complete lines and repair a diagnostic, with the real model
	@$(BIN)/lsp-harness demo

check: $(STAMP) ## lint, types, layers and tidiness, and the wheel in an environment of its own; needs no model
	@$(BIN)/ruff format --check -q .
	@$(BIN)/ruff check -q .
	@$(MAKE) -s -j2 --output-sync types rules

types: $(STAMP)
	@$(BIN)/pyright
	@for system in Windows Darwin; do \
	  $(BIN)/pyright --pythonplatform $$system $$(grep -lrE $(DIFFERING) lsp_harness --include='*.py') || exit 1; done

rules: $(STAMP)
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m pytest -q $(CHECK_TESTS)

unit: $(STAMP) ## the tests that need no process, no server and no model: the quick ones
	@$(BIN)/python -m pytest -q -n auto --dist worksteal --unit $(ALL_TESTS)

test: setup ## all tests but those of `make check` and those in real editors; what fails runs once more, alone
	@$(BIN)/python -m pytest -q -n auto --dist worksteal $(ALL_TESTS) || \
	  { $(SAY_AGAIN) && $(BIN)/python -m pytest -q $(AGAIN) $(ALL_TESTS); }

e2e: setup ## the tests in real editors and a browser: VS Code, Neovim, Emacs, the inspector (installs them first)
	@.ci/editors.sh
	@CI=1 timeout 600 $(BIN)/python -m pytest -q -n auto --dist loadfile tests/editors || \
	  { $(SAY_AGAIN) && CI=1 timeout 600 $(BIN)/python -m pytest -q $(AGAIN) tests/editors; }
	@cd editors/vscode && timeout 120 npm test --silent
	@cd tests/editors/vscode && PYTHON=$(CURDIR)/$(BIN)/python timeout 900 npm test --silent
	@PYTHON=$(CURDIR)/$(BIN)/python timeout 600 node --test --test-reporter=tap tests/editors/inspector/*.test.mjs

agents: ## the agents of other makers (claude, codex, gemini, opencode; 1.3 GB), for the tests that start them
	@.ci/agents.sh

fmt: $(STAMP) ## format, and fix what can be fixed
	@$(BIN)/ruff format -q .
	@$(BIN)/ruff check -q --fix .

docs: $(STAMP) ## rewrite the generated pages, and the commands and settings in the VS Code extension
	@$(BIN)/python -m tools.settings_page > docs/config.md
	@$(BIN)/python -m tools.checks_page > docs/checks.md
	@$(BIN)/python -m tools.tools_page > docs/tools.md
	@$(BIN)/python -m tools.commands_page > docs/commands.md
	@$(BIN)/python -m tools.man_page > docs/lsp-harness.1
	@$(BIN)/python -m tools.events_page > docs/events.md
	@$(BIN)/python -m tools.sessions_page docs/sessions.md
	@$(BIN)/python -m tools.permissions_page docs/permissions.md
	@$(BIN)/python -m tools.glossary > docs/glossary.md
	@$(BIN)/python -m tools.vscode_settings editors/vscode/package.json
	@$(BIN)/python -m tools.command_files .

lock: $(STAMP) ## write the versions of all installed packages into constraints.txt
	@$(BIN)/python -m tools.lock > constraints.new && mv constraints.new constraints.txt
	@touch $(STAMP)

packages: $(STAMP) ## the files of a release, from this checkout, into dist/: wheel, sdist, vsix, Neovim plugin
	@$(BIN)/python -m tools.release_files dist

release: $(STAMP) ## VERSION=x.y.z: changelog, these files, and a tag; with DRY_RUN=1 in a temporary clone
	@$(BIN)/python -m tools.release "$(VERSION)" $(if $(DRY_RUN),--dry-run)

xterm: ## the terminal of the inspector, from npm
	@.ci/xterm.sh

snapshots: $(STAMP) ## rewrite golden files
	@$(BIN)/python -m pytest -q --golden-update

clean: ## remove what setup made in this folder
	rm -rf .venv build dist
