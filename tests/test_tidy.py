"""Rules about the repository, as tests."""

import ast
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types

from lsp_harness.server.commands.command_registry import command_names, editor_commands
from lsp_harness.server.features import feature_table
from lsp_harness.server.features.feature_table import FEATURES
from lsp_harness.wire.version import VERSION
from tools import checks_page, command_files, settings_page, vscode_settings

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "lsp_harness"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MODULES = sorted(PACKAGE.rglob("*.py"))
TOP = {
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE",
    "NOTICE",
    "CHANGELOG.md",
    "changelog.d",
    "Makefile",
    "Containerfile",
    "constraints.txt",
    "lsp_harness",
    "benchmarks",
    "tools",
    "editors",
    "tests",
    "grammars",
    "docs",
    "examples",
}
MAX_MODULE_LINES = 500


def list_tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def make_relative_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_each_module_has_a_docstring_and_few_lines():
    sources = {make_relative_name(module): module.read_text(encoding="utf-8") for module in MODULES}
    assert [name for name, source in sources.items() if not ast.get_docstring(ast.parse(source))] == []
    assert [name for name, source in sources.items() if len(source.splitlines()) > MAX_MODULE_LINES] == []


PUBLIC_INTERFACE = PACKAGE / "sdk" / "__init__.py"
"""The only package whose names other programs import from the package itself."""


def test_each_init_file_is_one_docstring():
    files = [module for module in MODULES if module.name == "__init__.py" and module != PUBLIC_INTERFACE]
    bodies = {make_relative_name(file): ast.parse(file.read_text(encoding="utf-8")).body for file in files}
    assert [name for name, body in bodies.items() if len(body) != 1 or not isinstance(body[0], ast.Expr)] == []


def test_the_top_level_has_only_the_agreed_entries():
    top = {path.relative_to(ROOT).parts[0] for path in list_tracked_files()}
    assert {name for name in top if not name.startswith(".")} == TOP


def test_no_large_file_and_no_weights_are_tracked():
    assert [
        make_relative_name(p) for p in list_tracked_files() if p.suffix == ".gguf" or p.stat().st_size > 600_000
    ] == []


def test_no_page_is_empty():
    pages = [p for p in list_tracked_files() if p.suffix == ".md" and p.parent.name != "changelog.d"]
    assert [make_relative_name(p) for p in pages if len(p.read_text().splitlines()) < 5] == []


def test_no_machine_path_is_written_down():
    home = re.compile(r"/(?:home|root|Users)/[a-z]")
    texts = [
        p
        for p in list_tracked_files()
        if p.suffix in {".py", ".md", ".toml", ".lua", ".txt", ".json", ""} and p != Path(__file__)
    ]
    assert [make_relative_name(p) for p in texts if home.search(p.read_text(errors="ignore"))] == []


def test_every_feature_is_a_method_of_the_protocol_or_documented():
    extensions = (ROOT / "docs" / "lsp-extensions.md").read_text()
    methods = [feature.method for feature in FEATURES]
    assert [each for each in methods if each not in types.METHOD_TO_TYPES and each not in extensions] == []
    assert len(methods) == len({*methods})


def test_every_module_of_features_is_in_their_table():
    modules = {path.stem for path in (PACKAGE / "server" / "features").glob("*.py")}
    known = {module.__name__.rpartition(".")[2] for module in feature_table.MODULES}
    assert modules - {"__init__", "feature_binding", "feature_table"} == known


def test_the_lists_of_commands_are_generated():
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in command_files.GENERATORS}
    rendered = {name: command_files.GENERATORS[name](text, editor_commands()) for name, text in texts.items()}
    assert [name for name, text in texts.items() if rendered[name] != text] == [], "run `make docs`"


def test_the_settings_page_is_generated():
    assert (ROOT / "docs" / "config.md").read_text() == settings_page.render(), "run `make docs`"


def test_the_page_of_the_checks_is_generated():
    assert (ROOT / "docs" / "checks.md").read_text() == checks_page.render(), "run `make docs`"


def test_the_settings_of_the_vscode_extension_are_generated():
    package = (ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8")
    assert vscode_settings.render(package) == package, "run `make docs`"
    # a link that is taken out takes its brackets with it
    assert "()" not in "".join(re.findall(r'"markdownDescription": "(.*)"', package))


def test_the_vscode_extension_has_no_command_of_the_servers_names():
    package = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))
    assert {command["command"] for command in package["contributes"]["commands"]}.isdisjoint(command_names())


def test_no_lock_file_names_a_host():
    locks = [path for path in list_tracked_files() if path.name == "package-lock.json"]
    assert locks
    assert [make_relative_name(lock) for lock in locks if '"resolved"' in lock.read_text(encoding="utf-8")] == []


def test_the_notice_names_the_packages_from_npm():
    wheel, extension = ((ROOT / name).read_text(encoding="utf-8") for name in ("NOTICE", "editors/vscode/NOTICE"))
    copied = json.loads((ROOT / ".ci" / "inspector" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    lock = json.loads((ROOT / "editors" / "vscode" / "package-lock.json").read_text(encoding="utf-8"))
    bundled = [path for path, package in lock["packages"].items() if path and not package.get("dev")]
    assert [name for name, version in copied.items() if f"{name} {version}" not in wheel] == []
    assert [name for path in bundled if (name := path.rpartition("node_modules/")[2]) not in extension] == []


def test_the_architecture_page_shows_the_layers_that_are_enforced():
    page = (ROOT / "docs" / "architecture.md").read_text()
    block = re.search(r"```layers\n(.*?)```", page, re.DOTALL)
    assert block
    shown = [line.split("  ")[0].strip() for line in block.group(1).splitlines() if line.strip()]
    [contract] = [c for c in PROJECT["tool"]["importlinter"]["contracts"] if c["type"] == "layers"]
    assert shown == contract["layers"]


def test_the_server_tells_the_version_of_the_distribution():
    assert PROJECT["project"]["version"] == VERSION


def test_the_changelog_has_a_section_for_this_version():
    assert f"## {VERSION}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_grammar_folder_has_a_language_that_uses_it():
    from lsp_harness.languages.language_table import shipped_languages

    folders = {path.name for path in (ROOT / "grammars" / "queries").iterdir()}
    used = {folder for language in shipped_languages() for folder in language.queries}
    assert folders <= used


LANGUAGE_WORDS = {
    "lsp_harness/acp/session_updates.py": {"bash"},
    "lsp_harness/agents/agent_gate.py": {"bash", "shell"},
    "lsp_harness/runtime/adapters/adapter_registry.py": {"shell"},
    "lsp_harness/runtime/adapters/opencode.py": {"bash"},
    "lsp_harness/runtime/adapters/terminal_adapter.py": {"bash"},
    "lsp_harness/server/commands/server_state.py": {"python"},
    "lsp_harness/verify/project_tests/node_scripts.py": {"tsx"},
    "lsp_harness/verify/project_tests/other_runners.py": {"go", "tsx"},
    "lsp_harness/cli/commands/completion_cli.py": {"bash"},
    "lsp_harness/cli/commands/gate_cli.py": {"bash"},
    "lsp_harness/cli/selftest/ability_checks.py": {"bash"},
    "lsp_harness/sessions/saved_tasks.py": {"shell"},
    "lsp_harness/events/event_schema.py": {"ts"},
    "lsp_harness/permission/gate_policy.py": {"bash"},
    "lsp_harness/permission/shell/command_parts.py": {"bash", "sh"},
    "lsp_harness/permission/shell/command_risk.py": {
        *("bash", "c++", "go", "java", "lua", "perl", "php", "python", "ruby", "swift"),
    },
    "lsp_harness/process/command_shell.py": {"bash"},
    "lsp_harness/permission/settings_judge.py": {"go"},
    "lsp_harness/permission/rules.py": {"bash"},
    "lsp_harness/permission/shell/command_wrappers.py": {"bash", "sh"},
    "lsp_harness/verify/preservation/allowed_changes.py": {"go"},
    "lsp_harness/verify/digest/digest.py": {"go"},
    "lsp_harness/verify/types/tsserver_conversation.py": {"jsx"},
    "lsp_harness/verify/types/checkers.py": {"python"},
    "lsp_harness/wire/event.py": {"ts"},
}
"""Words that are also ids of languages, with another meaning there: a module of Python, a field of the answer of the
status command, a keyword of Go, the tool `go`, the tool of conversations that runs commands, programs in commands, an
option of TypeScript, a setting of ty, a kind of tasks, and the field with the time of an event."""
FORMAT_IDS = {"json", "toml", "html", "markdown", "plaintext", "less", "r", "c"}
"""Ids that are ordinary words or formats. They count only where a language is compared."""


def find_compared_texts(tree: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """Yield the line and the text of each string that decides something: it is compared, matched, or in a container.

    The last value says whether it is compared with something that is named for a language.
    """
    for node in ast.walk(tree):
        parts: list[ast.expr | None] = []
        is_language = False
        match node:
            case ast.Compare(left, _, comparators):
                parts = [left, *comparators]
                parts += [part for items in comparators for part in getattr(items, "elts", ())]
                is_language = "language" in ast.unparse(node)
            case ast.MatchValue(value):
                parts = [value]
            case ast.Dict(keys):
                parts = list(keys)
            case ast.Set(elements) | ast.List(elements) | ast.Tuple(elements):
                parts = list(elements)
            case ast.Call(_, arguments, keywords):
                parts = [keyword.value for keyword in keywords if keyword.arg == "language"]
                is_language = bool(parts)
                if ast.unparse(node.func).endswith(("language", "load_standard")):
                    parts += arguments
                    is_language = True
            case _:
                continue
        for part in parts:
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.lineno, part.value, is_language


def find_language_literals(source: str) -> Iterator[tuple[int, str]]:
    """Yield the lines and the ids of languages by which a module decides something."""
    from lsp_harness.languages.language_table import language_table

    ids = language_table().by_lsp_id.keys()
    for line, text, is_language in find_compared_texts(ast.parse(source)):
        if text in ids and (is_language or text not in FORMAT_IDS):
            yield line, text


def test_only_the_package_of_languages_knows_their_ids():
    literals = [
        (make_relative_name(module), line, text)
        for module in MODULES
        if "languages" not in module.relative_to(PACKAGE).parts
        for line, text in find_language_literals(module.read_text(encoding="utf-8"))
        if text not in LANGUAGE_WORDS.get(make_relative_name(module), set[str]())
    ]
    assert literals == [], "ask for a trait of the language, and add it to lsp_harness/languages"


def test_each_exception_to_the_rule_about_languages_is_needed():
    files = {name: PACKAGE.parent / name for name in LANGUAGE_WORDS}
    used = {
        name: {text for _, text in find_language_literals(file.read_text(encoding="utf-8"))} if file.exists() else set()
        for name, file in files.items()
    }
    assert {name: words - used[name] for name, words in LANGUAGE_WORDS.items() if words - used[name]} == {}


@pytest.mark.parametrize(
    "source",
    [
        'if tree.language.id == "python": pass',
        'KINDS = {"rust": 1}',
        'WITH_BRACES = frozenset({"go", "java"})',
        'if language in ("c", "x"): pass',
        'match language:\n    case "ruby": pass',
        'Document.from_text(uri, text, language="json")',
    ],
)
def test_the_rule_finds_ids_of_languages(source: str):
    assert list(find_language_literals(source))


def test_the_rule_allows_ordinary_words():
    assert not list(find_language_literals('suffixes = {"json", "toml"}; rows = [("less", "more")]'))
