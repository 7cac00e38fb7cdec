"""Rules about the code: sizes, names, first words of docstrings, and the only places of SQL."""

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import glossary
from tests.test_tidy import MODULES, ROOT, relative

MAX_PARAMETERS = 7
MAX_SUBJECT_COLUMNS = 72
CHECKED_COMMITS = 60
"""The newest commits whose subjects are checked. Older ones were made before the rule."""
RIDDLE_OPENINGS = re.compile(r"(What|Those|The same|Whoever|Whatever|Of|Whether|Whose)\b")
"""Openings of a docstring that does not name its subject."""
SQL_STATEMENT = re.compile(
    r"\s*(SELECT|INSERT INTO|INSERT OR|UPDATE \w+ SET|DELETE FROM|CREATE (TABLE|INDEX|VIRTUAL)|WITH \w+)\b"
)
SQL_PACKAGES = {"index", "store"}
SHARED_CLASS_NAMES = frozenset(
    {
        "Answer",
        "ArtifactPart",
        "CheckResult",
        "Conversation",
        "Decision",
        "Embedder",
        "Engine",
        "EventFeed",
        "Generation",
        "HarnessError",
        "HookDecision",
        "Hooks",
        "InvalidRequest",
        "MessageReader",
        "Model",
        "Options",
        "PermissionGate",
        "Prompt",
        "Reply",
        "Report",
        "RequestRefused",
        "Row",
        "Rule",
        "RuleSet",
        "Server",
        "SessionConnection",
        "TaskResult",
        "TerminalOutput",
        "TextEdit",
        "Turn",
        "UnknownEvent",
        "Verification",
    }
)
"""Names that several public classes of the package have. This must shrink: whoever renames one deletes its row."""
PYTHON_FILES = [*MODULES, *sorted(path for path in (ROOT / "tests").rglob("*.py") if "node_modules" not in path.parts)]

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def definitions(tree: ast.AST) -> Iterator[Documented]:
    for node in ast.walk(tree):
        if isinstance(node, Documented):
            yield node


def parameter_count(function: Function) -> int:
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def is_test(node: Documented) -> bool:
    return node.name.startswith("test_")


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    return {file: parse(file) for file in PYTHON_FILES}


def test_no_docstring_begins_without_its_subject(trees: dict[Path, ast.Module]):
    nodes = [(file, node) for file, tree in trees.items() for node in (tree, *definitions(tree))]
    texts = [(f"{relative(file)}: {getattr(node, 'name', 'module')}", ast.get_docstring(node)) for file, node in nodes]
    assert [name for name, text in texts if text and RIDDLE_OPENINGS.match(text)] == []


def test_functions_have_few_parameters(trees: dict[Path, ast.Module]):
    nodes = [(f"{relative(file)}: {node.name}", node) for file, tree in trees.items() for node in definitions(tree)]
    functions = [(name, node) for name, node in nodes if isinstance(node, Function) and not is_test(node)]
    assert [name for name, node in functions if parameter_count(node) > MAX_PARAMETERS] == []


def test_sql_is_written_in_two_packages_only(trees: dict[Path, ast.Module]):
    statements = [
        relative(module)
        for module in MODULES
        if module.relative_to(ROOT / "lsp_harness").parts[0] not in SQL_PACKAGES
        for node in ast.walk(trees[module])
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL_STATEMENT.match(node.value)
    ]
    assert statements == []


def test_a_public_class_name_exists_once_in_the_package(trees: dict[Path, ast.Module]):
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module in MODULES:
        for node in trees[module].body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(relative(module))
    shared = {name: files for name, files in places.items() if len(files) > 1}
    assert {name: files for name, files in shared.items() if name not in SHARED_CLASS_NAMES} == {}
    assert shared.keys() == SHARED_CLASS_NAMES


def test_the_subjects_of_new_commits_are_short():
    command = ["git", "log", f"-{CHECKED_COMMITS}", "--format=%s"]
    log = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [subject for subject in log.stdout.splitlines() if len(subject) > MAX_SUBJECT_COLUMNS] == []


def test_the_glossary_is_generated_from_the_docstrings():
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert glossary.render() == page, "run `make docs`"


def test_each_term_of_the_glossary_has_a_sentence_that_names_it():
    terms = [term for package in glossary.PACKAGES for term in glossary.find_terms(package)]
    assert [term.name for term in terms if not term.sentence[:1].isupper()] == []
