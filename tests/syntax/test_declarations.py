"""Tests of the declarations and imports of a file. `declarations/<language>.txt` hold sources and expected results."""

from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.languages.language_table import shipped_languages
from lsp_harness.languages.traits import DeclarationTraits
from lsp_harness.syntax.symbols.declarations import find_declarations, qualified_name
from lsp_harness.text.position import decode
from tests.syntax.markup import parse_tree, read_fixture, read_golden

FILES = sorted((Path(__file__).parent / "declarations").glob("*.txt"))
EXPECTED = "-- declarations --\n"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_source_has_the_expected_declarations(file: Path, golden_update: bool):
    result, tree = read_fixture(file, EXPECTED)
    assert not tree.root.has_error
    declarations, imports = find_declarations(tree.language, tree.data, tree.root)
    outcome = ""
    for declaration in declarations:
        first, last = (tree.document.line_of(at) + 1 for at in (declaration.start, declaration.end))
        head = " ".join(decode(tree.data[declaration.start : declaration.body_start]).split())
        bases = f" < {', '.join(declaration.bases)}" * bool(declaration.bases)
        outcome += (
            f"{declaration.kind:<14} {first:>2}-{last:<2} {qualified_name(declarations, declaration)}{bases} | {head}\n"
        )
        assert decode(tree.data[declaration.name_start :]).startswith(declaration.name)
    for it in imports:
        outcome += f"import {it.module} {it.name or '-'} {it.alias or '-'}\n"
    assert result + EXPECTED + outcome == read_golden(file, result + EXPECTED + outcome, update=golden_update)


def test_every_language_with_queries_has_one():
    assert {file.stem for file in FILES} == {
        shipped_language.id for shipped_language in shipped_languages() if shipped_language.queries
    }


DEEP = """\
import os
if os.name == "nt":
    try:
        import a.b as c, d
    except ImportError:
        if c:
            for n in d:
                class Inner(Base, other.Base):
                    FIELD = 1

                    @property
                    @other
                    def deep(self):
                        with c:
                            while d:
                                async def deepest(x=lambda: 1):
                                    from e import (
                                        f,
                                        g as h,
                                    )
                                    if f: import i; from .j import k
                                    # def no(): and class No: and import no
                                    text = '''
                                    def said(): import no
                                    '''
                                    class Last: pass
                                return deepest
"""


def test_deep_declarations_are_found_as_if_all_of_the_tree_were_walked():
    tree = parse_tree("deep.py", DEEP)
    result = find_declarations(tree.language, tree.data, tree.root)
    assert [qualified_name(result[0], item) for item in result[0]] == [
        "Inner",
        "Inner.FIELD",
        "Inner.deep",
        "Inner.deep.deepest",
        "Inner.deep.deepest.Last",
    ]
    assert [(it.module, it.name) for it in result[1]] == [
        ("os", ""),
        ("a.b", ""),
        ("d", ""),
        ("e", "f"),
        ("e", "g"),
        ("i", ""),
        (".j", "k"),
    ]
    without_words = replace(tree.language, declarations=DeclarationTraits())
    assert find_declarations(without_words, tree.data, tree.root) == result
