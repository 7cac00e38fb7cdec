"""The names that a text uses. `references/<language>.txt` hold a source and what is expected of it, line by line; `*`
is at what is a parameter or variable of the function around it."""

from itertools import groupby
from pathlib import Path

import pytest
from tree_sitter import Node

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.language_table import shipped_languages
from lsp_harness.syntax.symbols import name_uses
from lsp_harness.syntax.symbols.name_uses import MAX_LINE_BYTES, UNKNOWN_RECEIVER, find_references, split_chain
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.syntax.tree_query import matches
from tests.syntax.markup import parse_tree, read_fixture, read_golden

FILES = sorted((Path(__file__).parent / "references").glob("*.txt"))
EXPECTED = "-- references --\n"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_source_has_the_expected_references(file: Path, golden_update: bool):
    result, tree = read_fixture(file, EXPECTED)
    assert not tree.root.has_error
    outcome = ""
    for line, refer in groupby(find_references(tree), lambda name_use: tree.document.line_of(name_use.start) + 1):
        results = (
            f"{it.kind} {'.'.join((*it.receiver_chain, it.name))}{'*' * (it.local_scope_start >= 0)}" for it in refer
        )
        outcome += f"{line:>2} {', '.join(results)}\n"
    assert result + EXPECTED + outcome == read_golden(file, result + EXPECTED + outcome, update=golden_update)


def test_every_language_with_queries_has_one():
    assert {file.stem for file in FILES} == {
        shipped_language.id for shipped_language in shipped_languages() if shipped_language.queries
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_search_for_one_name_finds_the_same_places(file: Path):
    name, source = file.read_text("utf-8").split(EXPECTED)[0].removeprefix("-- ").split(" --\n", 1)
    tree = parse_tree(name, source)
    everything = find_references(tree)
    for word in {item.name for item in everything}:
        assert find_references(tree, word) == [item for item in everything if item.name == word]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("self", ("self",)),
        ("a.b(c, (d)).e", ("a", "b()", "e")),
        ("a\n    .b", ("a", "b")),
        ("(new Till(1))", ("Till()",)),
        ("new Map<string, A>()", ("Map()",)),
        ("$this->x", ("this", "x")),
        ("a?.b!", ("a", "b")),
        ("Vec::<T>::new()", ("Vec", "new()")),
        ("std::mem", ("std", "mem")),
        ("super()", ("super()",)),
        ("rows[0]", ("?",)),
        ("a + b", ("?",)),
        ("'text'", ("?",)),
        ("f('(')", ("?",)),
    ],
)
def test_the_chain_before_a_name_is_split(written: str, expected: tuple[str, ...]):
    assert split_chain(written) == expected


@pytest.mark.parametrize("written", ["a" + "?.b" * 10_000 + " +", "a!()!." * 10_000 + "+", "a" * 100_000 + " +"])
def test_an_invalid_chain_is_read_once(written: str):
    # otherwise this would take longer than there is time
    assert split_chain(written) == ("?",)


def test_a_name_is_searched_with_one_query_for_the_text(monkeypatch: pytest.MonkeyPatch):
    looked = list[tuple[int, int] | None]()

    def matched(language: LanguageSpec, query: str, node: Node, within: tuple[int, int] | None = None):
        looked.append(within)
        return matches(language, query, node, within)

    monkeypatch.setattr(name_uses, "matches", matched)
    source = "valid = id\nidle(é_id, idé, id2)\n"
    tree = parse_tree("a.py", source)
    assert [reference.start for reference in find_references(tree, "id")] == [8]
    assert set(looked) == {(8, 10)}


def test_without_queries_only_the_text_near_a_word_of_a_long_line_is_read():
    bare = LanguageSpec("javascript", "tree_sitter_javascript")
    source = "a.b" * 30_000 + ".turn\n"
    result = parse_tree("a.js", source)
    # otherwise this would take minutes
    [turn] = find_references(SyntaxTree(bare, result.document, result.tree), "turn")
    assert len(turn.receiver_chain) <= MAX_LINE_BYTES


def test_a_variable_of_a_function_hides_the_outer_name():
    tree = parse_tree("a.py", "def f(turn):\n    turn()\n    x.turn()\n\nturn()\n\ndef g():\n    turn()\n")
    assert [
        (reference.kind, reference.start, reference.local_scope_start) for reference in find_references(tree, "turn")
    ] == [
        ("use", 6, 0),
        ("call", 17, 0),
        ("call", 30, -1),
        ("call", 38, -1),
        ("call", 59, -1),
    ]


def test_without_queries_references_are_found_by_their_form():
    bare = LanguageSpec("java", "tree_sitter_java")
    source = 'class A {\n  // turn(1)\n  int go() { return this.rate().turn(größe("turn(2)")) + turn; }\n}\n'
    result = parse_tree("A.java", source)
    tree = SyntaxTree(bare, result.document, result.tree)
    assert [(reference.kind, *reference.receiver_chain, reference.name) for reference in find_references(tree)] == [
        ("use", "A"),
        ("call", "go"),
        ("use", "this"),
        ("call", "this", "rate"),
        ("call", "this", "rate()", "turn"),
        ("call", "größe"),
        ("use", "turn"),
    ]
    assert [reference.start for reference in find_references(tree, "turn")] == [
        source.index("turn(gr"),
        source.encode().index(b"turn;"),
    ]


def test_a_chain_of_thousands_of_calls_is_cut_at_its_limit():
    tree = parse_tree("a.py", "x = a" + ".b()" * 2_000 + "\n")
    chains = [reference.receiver_chain for reference in find_references(tree, "b")]
    assert len(chains) == 2_000
    assert chains[0] == ("a",)
    assert chains[1] == ("a", "b()")
    assert chains[-1] == (UNKNOWN_RECEIVER,)


@pytest.mark.parametrize("name", ["a", "b", "f"])
def test_one_walk_finds_the_same_references_as_a_look_at_each_place(name: str, monkeypatch: pytest.MonkeyPatch):
    text = "def f(a, b=1):\n    a.b(a).b\n    return f(b, a.f)\n\n\nclass A(f):\n    b: a = f(b).a\n" * 5
    tree = parse_tree("a.py", text)
    for within in (None, (30, 200)):
        result = list[list[name_uses.Reference]]()
        for most in (0, 1_000):
            monkeypatch.setattr(name_uses, "MAX_PLACES", most)
            result.append(find_references(tree, name, within))
        assert result[0] == result[1] != []
