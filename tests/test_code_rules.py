"""Rules about the code: sizes, names, first words of docstrings, and the only places of SQL."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.places import list_imports, read_modules
from tests.test_tidy import MODULES, PROJECT, ROOT, make_relative_name
from tools import glossary

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
SHARED_CLASS_NAMES = frozenset({"HarnessError", "HookDecision", "Turn", "UnknownEvent"})
"""Names that the SDK gives to what its user sees of a class of the harness."""
HARNESS_MODULES = [
    "lsp_harness.harness.edits.diagnosis",
    "lsp_harness.harness.edits.proposals",
    "lsp_harness.harness.edits.turns",
    "lsp_harness.harness.events",
    "lsp_harness.harness.harness",
    "lsp_harness.harness.index_service",
    "lsp_harness.harness.indexes.embedding_index",
    "lsp_harness.harness.indexes.folder_index",
    "lsp_harness.harness.prompt_preview",
    "lsp_harness.harness.services",
    "lsp_harness.harness.symbol_verbs",
    "lsp_harness.harness.task_locator",
    "lsp_harness.harness.verification.edit_permission",
    "lsp_harness.harness.verification.verdict_document",
    "lsp_harness.harness.verification.verifier",
]
"""The modules of the harness that other packages may import: the façade, its parts, and what these give."""
OTHER_FILES = [path for folder in ("benchmarks", "tools", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
PYTHON_FILES = [*MODULES, *(path for path in OTHER_FILES if "node_modules" not in path.parts)]

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def find_definitions(tree: ast.AST) -> Iterator[Documented]:
    for node in ast.walk(tree):
        if isinstance(node, Documented):
            yield node


def count_parameters(function: Function) -> int:
    arguments = function.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def is_test(node: Documented) -> bool:
    return node.name.startswith("test_")


@pytest.fixture(scope="module")
def trees() -> dict[Path, ast.Module]:
    return {file: parse(file) for file in PYTHON_FILES}


def test_each_docstring_begins_with_its_subject(trees: dict[Path, ast.Module]):
    nodes = [(file, node) for file, tree in trees.items() for node in (tree, *find_definitions(tree))]
    texts = [
        (f"{make_relative_name(file)}: {getattr(node, 'name', 'module')}", ast.get_docstring(node))
        for file, node in nodes
    ]
    assert [name for name, text in texts if text and RIDDLE_OPENINGS.match(text)] == []


def test_functions_have_few_parameters(trees: dict[Path, ast.Module]):
    nodes = [
        (f"{make_relative_name(file)}: {node.name}", node)
        for file, tree in trees.items()
        for node in find_definitions(tree)
    ]
    functions = [(name, node) for name, node in nodes if isinstance(node, Function) and not is_test(node)]
    assert [name for name, node in functions if count_parameters(node) > MAX_PARAMETERS] == []


def test_sql_is_written_in_two_packages_only(trees: dict[Path, ast.Module]):
    statements = [
        make_relative_name(module)
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
                places[node.name].append(make_relative_name(module))
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


def test_each_term_of_the_glossary_has_a_sentence():
    terms = [term for package in glossary.PACKAGES for term in glossary.find_terms(package)]
    assert [term.name for term in terms if not term.sentence[:1].isupper()] == []


MODULES_OF_PROJECTS = frozenset({"pytest", "line_evidence", "variant_runs", "namespace_launcher"})
"""Modules that the worker of tests imports: it runs in the Python of a project, beside three files of this package."""


def find_imports(tree: ast.AST) -> Iterator[str]:
    """Yield the first name of each module that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


OWN_NAME = "lsp-harness"
"""The extra `all` of this package names its other extras."""


def read_requirements(*lists: list[str]) -> dict[str, Requirement]:
    """Return name → requirement of lists in `pyproject.toml`."""
    requirements = [Requirement(text) for texts in lists for text in texts]
    return {
        str(canonicalize_name(requirement.name)): requirement
        for requirement in requirements
        if requirement.name != OWN_NAME
    }


def is_for_this_system(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate()


def test_imported_and_declared_packages_are_the_same(trees: dict[Path, ast.Module]):
    project = PROJECT["project"]
    allowed = read_requirements(project["dependencies"], *project["optional-dependencies"].values())
    names = {name for module in MODULES for name in find_imports(trees[module])}
    foreign = names - sys.stdlib_module_names - MODULES_OF_PROJECTS - {"lsp_harness"}
    distributions = packages_distributions()
    found = {name: {str(canonicalize_name(part)) for part in distributions.get(name, ())} for name in foreign}
    assert sorted(name for name, parts in found.items() if not parts & allowed.keys()) == []
    used = set[str]().union(*found.values())
    # grammars are loaded by their names, and packages for another system are not there
    unused = {name for name, wish in allowed.items() if name not in used and is_for_this_system(wish)}
    assert sorted(name for name in unused if not name.startswith("tree-sitter-")) == []


def test_the_versions_for_development_fit_the_declared_ones():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[\w.+!]+|# Python 3\.\d+: .*", line)] == []
    versions = dict(line.split("==") for line in lines if "==" in line)
    groups = [*PROJECT["project"]["optional-dependencies"].values(), *PROJECT["dependency-groups"].values()]
    wanted = read_requirements(PROJECT["project"]["dependencies"], *groups)
    here = {name: wish for name, wish in wanted.items() if is_for_this_system(wish)}
    unfit = [name for name, wish in here.items() if name not in versions or versions[name] not in wish.specifier]
    assert unfit == [], "run `make lock`"


def test_the_supported_versions_of_python_are_consistent():
    project = PROJECT["project"]
    classifiers = re.findall(r"Python :: 3\.(\d+)", "\n".join(project["classifiers"]))
    first, last = int(classifiers[0]), int(classifiers[-1])
    assert project["requires-python"] == f">=3.{first},<3.{last + 1}"
    assert f"(3, {first}) <= sys.version_info < (3, {last + 1})" in (ROOT / ".ci" / "setup.sh").read_text()
    assert PROJECT["tool"]["pyright"]["pythonVersion"] == f"3.{first}"


def test_few_modules_of_the_harness_are_imported_from_outside(trees: dict[Path, ast.Module]):
    modules, inside = read_modules(ROOT), "lsp_harness.harness"
    outside = {name: file for name, file in modules.items() if not name.startswith(inside)}
    imported = {target for name, file in outside.items() for target in list_imports(name, trees[file], modules)}
    assert sorted(name for name in imported if name.startswith(inside)) == HARNESS_MODULES
