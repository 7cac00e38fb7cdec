"""A text is recognised by its language id, else by its name, and nothing is ever fetched."""

import socket
import sys
import types

import pytest

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.language_table import find_language, shipped_languages
from lsp_harness.syntax import grammars
from lsp_harness.syntax.grammars import grammar, language_for
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document


@pytest.fixture
def _no_network(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise AssertionError("something wants to be downloaded")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    ("language_id", "path", "expected"),
    [
        ("python", "a.js", "python"),
        ("Python", "", "python"),
        ("javascriptreact", "a", "javascript"),
        ("typescriptreact", "a", "tsx"),
        ("shellscript", "a", "bash"),
        ("jsonc", "a", "json"),
        ("plaintext", "file:///x/a%20b.RS", "rust"),
        ("", "src/a.h", "c"),
        ("", "a.hpp", "cpp"),
        ("", "C:\\work\\A.cs", "csharp"),
        ("", "Rakefile", "ruby"),
        ("", ".bashrc", "bash"),
        ("", "notes.md", "markdown"),
        ("", "py", None),
        ("", "", None),
        ("", "LICENSE", None),
    ],
)
@pytest.mark.usefixtures("_no_network")
def test_the_language_id_wins_over_the_file_name(language_id: str, path: str, expected: str | None):
    result = language_for(language_id, path)
    assert (result.id if result else None) == expected


@pytest.mark.parametrize("language", shipped_languages(), ids=lambda language: language.id)
@pytest.mark.usefixtures("_no_network")
def test_every_grammar_is_installed_and_loaded_once(language: LanguageSpec):
    assert grammar(language) is grammar(language)
    assert parse(Document.from_text("file:///x", "", language=language.id)) is not None


@pytest.mark.usefixtures("_no_network")
def test_a_grammar_of_the_language_pack_is_not_downloaded():
    grammars._language_from_pack.cache_clear()
    assert language_for("kotlin", "Main.kt") is None
    assert parse(Document.from_text("file:///Main.kt", "fun main() {}", language="kotlin")) is None


def test_a_language_already_in_the_packs_cache_is_used(monkeypatch: pytest.MonkeyPatch):
    pack = types.SimpleNamespace(
        detect_language=lambda _: "kotlin",
        downloaded_languages=lambda: ["kotlin"],
        get_language=lambda _: grammar(find_language("python")),
    )
    monkeypatch.setitem(sys.modules, "tree_sitter_language_pack", pack)
    grammars._language_from_pack.cache_clear()
    grammar.cache_clear()
    try:
        tree = parse(Document.from_text("file:///Main.kt", "x = 1"))
        assert tree is not None
        assert tree.language.id == "kotlin"
        assert tree.root.type == "module"
    finally:
        grammars._language_from_pack.cache_clear()
        grammar.cache_clear()


def test_binary_or_too_large_texts_are_not_parsed():
    assert parse(Document.from_text("file:///a.py", b"x\0y")) is None
    assert parse(Document.from_text("file:///a.py", b"#" * (MAX_TEXT_BYTES + 1))) is None
    assert parse(Document.from_text("file:///a.py", b"#" * MAX_TEXT_BYTES)) is not None
