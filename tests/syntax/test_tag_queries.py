"""Tests of declarations in languages without queries in this repository. The tags of the language pack find them.

Ruby stands for these languages, because its grammar is always installed.
"""

from importlib.metadata import PackageNotFoundError, version
from textwrap import dedent

import pytest
from inline_snapshot import snapshot
from tree_sitter import Parser

from lsp_harness.languages import language_table
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.language_table import optional_languages, shipped_languages
from lsp_harness.syntax import grammars
from lsp_harness.syntax.grammars import detect_language_name, grammar, language_for, language_named
from lsp_harness.syntax.symbols import tag_queries
from lsp_harness.syntax.symbols.declarations import find_declarations, qualified_name
from lsp_harness.syntax.symbols.incremental_declarations import IncrementalDeclarations
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply

RUBY = LanguageSpec("ruby", "tree_sitter_ruby")
"""Ruby as if we had no queries for it."""
SHAPES = """
    module Shapes
      class Circle < Shape
        PI = 3
        def area(r)
          PI * r * r
        end
      end
    end

    def unit
      Circle.new
    end
"""


def parse_tree(language: LanguageSpec, text: str) -> SyntaxTree:
    document = Document.from_text(f"file:///a.{language.id}", dedent(text).lstrip())
    return SyntaxTree(language, document, Parser(grammar(language)).parse(document.data))


def list_declarations(tree: SyntaxTree) -> list[str]:
    """Return the kind, the name and the signature of each declaration."""
    result, imports = find_declarations(tree.language, tree.data, tree.root)
    assert imports == []
    for item in result:
        assert tree.data[item.name_start :].decode().startswith(item.name)
        assert item.start <= item.name_start < item.body_start <= item.end
    return [
        (
            f"{item.kind} {qualified_name(result, item)} | "
            f"{' '.join(tree.data[item.start : item.body_start].decode().split())}"
        )
        for item in result
    ]


def test_definitions_of_tag_queries_are_declared():
    assert tag_queries.declaration_source(RUBY) == "tags"
    assert list_declarations(parse_tree(RUBY, SHAPES)) == snapshot(
        [
            "module Shapes | module Shapes",
            "class Shapes.Circle | class Circle < Shape",
            "method Shapes.Circle.area | def area(r)",
            "method unit | def unit",
        ]
    )


def test_a_name_belongs_to_the_smallest_node_of_its_tags(monkeypatch: pytest.MonkeyPatch):
    """Some tags of a method name only its class, and others only the code behind its name."""
    result = """
        (class body: (body_statement (method name: (identifier) @name))) @definition.method
        (class name: (constant) @name) @definition.class
        (class body: (body_statement (assignment left: (constant) @name right: (_) @definition.constant)))
        (call method: (identifier) @name) @reference.call
        (module name: (constant) @name) @definition.unheard_of
    """
    monkeypatch.setattr("tree_sitter_language_pack.get_tags_query", lambda _: result)
    tree = parse_tree(LanguageSpec("said", "tree_sitter_ruby"), SHAPES)
    outcome, _ = find_declarations(tree.language, tree.data, tree.root)
    assert [(item.kind, item.name, tree.data[item.start : item.end].decode()[:8]) for item in outcome] == [
        ("class", "Circle", "class Ci"),
        ("constant", "PI", "PI = 3"),
        ("method", "area", "def area"),
    ]


def test_a_part_of_a_text_has_its_enclosing_and_inner_declarations():
    tree = parse_tree(RUBY, SHAPES)
    at = tree.data.index(b"PI * r")
    result, _ = find_declarations(tree.language, tree.data, tree.root, (at, at + 2))
    assert [qualified_name(result, item) for item in result] == ["Shapes", "Shapes.Circle", "Shapes.Circle.area"]


@pytest.mark.parametrize("language", shipped_languages(), ids=lambda language: language.id)
def test_bundled_languages_use_no_tag_queries(language: LanguageSpec):
    assert tag_queries.load_tags_query(language) is None
    assert tag_queries.declaration_source(language) == ("queries" if language.queries else "lines")


@pytest.mark.parametrize("name", ["kotlin", "scala", "haskell"])
def test_tags_for_another_grammar_and_no_tags_at_all_are_lines(name: str):
    unfit = LanguageSpec(name, "tree_sitter_go")
    assert tag_queries.declaration_source(unfit) == "lines"
    assert list_declarations(parse_tree(unfit, "package a\nfunc f() {}\n")) == []


def test_an_open_text_is_followed():
    tree = parse_tree(RUBY, SHAPES)
    following = IncrementalDeclarations(tree)
    before = tree.document
    at = before.data.index(b"area")
    for start, end, text in (
        (at, at + 4, "size"),
        (len(before.data), len(before.data), "\ndef last\nend\n"),
        (0, 0, "#\n"),
    ):
        edit = Edit(start, end, text.encode())
        after = Document.from_text(before.uri, apply(before.data, [edit]))
        following.record_edit(before, edit, after)
        tree = SyntaxTree(RUBY, after, Parser(grammar(RUBY)).parse(after.data))
        assert list(following.list_declarations(tree)) == find_declarations(RUBY, tree.data, tree.root)[0]
        before = after
    assert [declaration.name for declaration in following.list_declarations(tree)][-1] == "last"


def test_a_grammar_is_available_only_if_its_wheel_is_installed(monkeypatch: pytest.MonkeyPatch):
    scala = LanguageSpec("scala", "tree_sitter_go", is_optional=True)
    languages = [
        *language_table.language_table().by_id.values(),
        scala,
        LanguageSpec("kotlin", "tree_sitter_x", is_optional=True),
    ]
    monkeypatch.setattr(language_table, "load_table", lambda: language_table.LanguageTable(languages))
    grammars._language_from_pack.cache_clear()
    try:
        assert language_for("", "src/A.scala") == language_named("scala") == scala
        assert language_for("", "src/A.kt") is language_named("kotlin") is None
        assert grammars.optional_grammar_versions()["tree_sitter_go"] == version("tree-sitter-go")
        assert "tree_sitter_x" not in grammars.optional_grammar_versions()
    finally:
        grammars._language_from_pack.cache_clear()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/A.kt", "kotlin"),
        ("q.sql", "sql"),
        ("Makefile", "make"),
        ("go", ""),
        ("a.txt", ""),
        ("a/b.xyz", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_file_is_named_without_a_grammar(path: str, name: str):
    assert detect_language_name(path) == name


def require_grammar(name: str) -> LanguageSpec:
    try:
        version(f"tree-sitter-{name}")
    except PackageNotFoundError:
        pytest.skip(f"tree-sitter-{name} is not installed (pip install 'lsp-harness[languages]')")
    return optional_languages()[name]


def test_declarations_of_scala_are_found():
    source = """
        trait Shape { def area: Double }
        class Circle(r: Double) extends Shape {
          def area: Double = {
            3 * r * r
          }
        }
        object Circle {
          def unit(): Circle = new Circle(1)
        }
    """
    assert list_declarations(parse_tree(require_grammar("scala"), source)) == snapshot(
        [
            "interface Shape | trait Shape",
            "class Circle | class Circle(r: Double) extends Shape",
            "method Circle.area | def area: Double =",
            "module Circle | object Circle",
            "method Circle.unit | def unit(): Circle =",
        ]
    )


def test_declarations_of_swift_are_found():
    source = """
        protocol Shape { func area() -> Double }
        class Circle: Shape {
            var radius: Double = 1
            init(radius: Double) {
                self.radius = radius
            }
            func area() -> Double {
                return 3 * radius * radius
            }
        }
        func unit() -> Circle {
            return Circle(radius: 1)
        }
    """
    assert list_declarations(parse_tree(require_grammar("swift"), source)) == snapshot(
        [
            "interface Shape | protocol Shape",
            "method Shape.area | func area() -> Double",
            "class Circle | class Circle: Shape",
            "property Circle.radius | var radius: Double = 1",
            "method Circle.init | init(radius: Double)",
            "method Circle.area | func area() -> Double",
            "function unit | func unit() -> Circle",
        ]
    )


def test_declarations_of_elixir_are_found():
    source = """
        defmodule Shapes.Circle do
          def area(r) do
            3 * r * r
          end
          def zero, do: 0
          defp hidden(x) when x > 0 do
            x
          end
        end
    """
    assert list_declarations(parse_tree(require_grammar("elixir"), source)) == snapshot(
        [
            "module Shapes.Circle | defmodule Shapes.Circle",
            "function Shapes.Circle.area | def area(r)",
            "function Shapes.Circle.zero | def zero, do: 0",
            "function Shapes.Circle.hidden | defp hidden(x) when x > 0",
        ]
    )


def test_declarations_of_ocaml_are_found():
    source = """
        module Shapes = struct
          type circle = { radius : float }
          let area c =
            3.0 *. c.radius
        end
        type color = Red | Green
        let rec fact n = if n = 0 then 1 else n * fact (n - 1)
    """
    assert list_declarations(parse_tree(require_grammar("ocaml"), source)) == snapshot(
        [
            "module Shapes | Shapes =",
            "type Shapes.circle | circle =",
            "field Shapes.circle.radius | radius : float",
            "function Shapes.area | area c =",
            "type color | color =",
            "member color.Red | Red",
            "member color.Green | Green",
            "function fact | fact n =",
        ]
    )
