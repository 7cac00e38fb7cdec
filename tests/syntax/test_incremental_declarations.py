"""Tests of the declarations of a text during edits."""

import random
from collections.abc import Iterator

import pytest

from lsp_harness.languages.language_table import shipped_languages
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.symbols import incremental_declarations
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.symbols.incremental_declarations import IncrementalDeclarations
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from tests.syntax.markup import parse_tree
from tests.syntax.random_edits import EditRun, list_sources

EDITS = 100


@pytest.mark.parametrize(("name", "source"), list(list_sources()))
def test_declarations_after_random_edits_are_those_of_the_whole_text(name: str, source: str):
    run = EditRun(name, source, seed=1)
    for _ in range(EDITS):
        edit = run.step()
        if run.asked():
            result, anew = run.both()
            assert result == anew, edit
            if not run.tree.root.has_error:
                assert result == find_all_declarations(run.tree)


def test_every_language_with_queries_is_edited():
    edited = {language_for("", name) for name, _ in list_sources()}
    assert edited == {shipped_language for shipped_language in shipped_languages() if shipped_language.queries}


METHOD = "\n    def method_{n}(self):\n        return {n}\n"
CLASS = "class Many(Base):\n    FIELD = 1\n" + "".join(METHOD.format(n=n) for n in range(300)) + "\n\nLAST = 1\n"


def type_text(tree: SyntaxTree, declarations: IncrementalDeclarations, at: int, text: str) -> Iterator[SyntaxTree]:
    for byte in text.encode():
        before, edit = tree.document, Edit(at, at, bytes((byte,)))
        after = before.apply_edit(edit, before.version + 1)
        edited = tree.update(before, edit, after)
        assert edited is not None
        tree = edited
        declarations.record_edit(before, edit, after)
        yield tree
        at += 1


def find_all_declarations(tree: SyntaxTree) -> list[incremental_declarations.Declaration]:
    return find_declarations(tree.language, tree.data, tree.root)[0]


@pytest.fixture
def never_whole(monkeypatch: pytest.MonkeyPatch):
    """Fail if the declarations of the whole text are read from now on."""

    def start() -> None:
        monkeypatch.setattr(
            incremental_declarations, "find_symbol_rows", lambda *_: pytest.fail("all of the text was asked about")
        )

    return start


@pytest.mark.parametrize(
    "text", ["\n        x = f(a, [1, ", "\n\n    @property\n    def more(self):\n        pass", "\n\nx = 1"]
)
def test_unfinished_code_is_followed_without_asking_about_all_of_the_text(text: str, never_whole):
    tree = parse_tree("a.py", CLASS)
    result = IncrementalDeclarations(tree)
    never_whole()
    for now in type_text(tree, result, CLASS.index("return 150") + len("return 150"), text):
        assert list(result.list_declarations(now)) == find_all_declarations(now)


def test_a_quote_that_turns_half_of_the_text_over_is_followed(monkeypatch: pytest.MonkeyPatch):
    text = CLASS + 'TEXT = """a text"""\n'
    tree, result = parse_tree("a.py", text), list[str]()
    outcome, everything = IncrementalDeclarations(tree), incremental_declarations.find_symbol_rows
    monkeypatch.setattr(incremental_declarations, "MAX_PARTIAL_BYTES", 100)
    monkeypatch.setattr(
        incremental_declarations, "find_symbol_rows", lambda *given: result.append("") or everything(*given)
    )
    now = tree
    for now in type_text(tree, outcome, text.index("def method_3("), '"""'):
        assert list(outcome.list_declarations(now)) == find_all_declarations(now)
    assert [declaration.name for declaration in outcome.list_declarations(now)] == [
        "Many",
        "FIELD",
        "method_0",
        "method_1",
        "method_2",
    ]
    assert len(result) == 1


def test_a_list_of_declarations_does_not_change_with_later_edits():
    tree = parse_tree("a.py", CLASS)
    result = IncrementalDeclarations(tree)
    before = result.list_declarations(tree)
    *_, now = type_text(tree, result, 0, "import os\n\n")
    after = result.list_declarations(now)
    assert [item.start for item in before[:2]] == [0, CLASS.index("FIELD")]
    assert [item.start for item in after[:2]] == [11, CLASS.index("FIELD") + 11]
    assert len(before) == len(after) == 303


def test_an_edit_of_another_text_is_handled():
    tree = parse_tree("a.py", "def one(): ...\n")
    result = IncrementalDeclarations(tree)
    other = Document.from_text("file:///a.py", "def two(): ...\n")
    edit = Edit(0, 0, b"\n")
    after = other.apply_edit(edit, 1)
    result.record_edit(other, edit, after)
    edited = tree.update(other, edit, after)
    assert edited is not None
    assert [(declaration.name, declaration.line) for declaration in result.list_declarations(edited)] == [("two", 1)]


def test_many_edits_between_two_questions_are_one_change():
    now = parse_tree("a.py", CLASS)
    result, rng = IncrementalDeclarations(now), random.Random(1)
    for _ in range(20):
        *_, now = type_text(now, result, rng.randrange(len(now.data)), "def x")
        assert list(result.list_declarations(now)) == find_all_declarations(now)
