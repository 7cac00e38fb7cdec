"""The grammars of the languages: which text is parsed with which grammar, and whether a grammar is installed.

The grammars of the shipped languages are dependencies of this package, so nothing is ever downloaded. Other languages
are parsed only if the user has installed the wheel of their grammar or has put the grammar into the cache of
tree-sitter-language-pack.
"""

import importlib
from functools import cache
from importlib import metadata

import tree_sitter

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.language_table import (
    base_name,
    find_language_of_file,
    language_table,
    optional_languages,
)


def language_for(language_id: str, path: str) -> LanguageSpec | None:
    """Return the language of a text, or None if it cannot be parsed.

    Args:
        language_id: The LSP identifier that the client gave. It takes precedence.
        path: The path or URI of the text, whose file name decides if the identifier is unknown.
    """
    language = language_table().by_lsp_id.get(language_id.lower())
    if language and language.has_shipped_grammar:
        return language
    language = find_language_of_file(path)
    return language if language and language.has_shipped_grammar else _language_from_pack(base_name(path))


def language_named(name: str) -> LanguageSpec | None:
    """Return the language with a name of ours or of tree-sitter-language-pack, or None if it cannot be parsed."""
    language = language_table().by_lsp_id.get(name)
    if language and (language.has_shipped_grammar or (language.is_optional and _wheel_version(language))):
        return language
    import tree_sitter_language_pack as pack

    # `has_language` is not used: it is also true for grammars that would have to be downloaded first.
    return _pack_language(name) if name in pack.downloaded_languages() else None


def detect_language_name(path: str) -> str:
    """Return the name of a file's language in tree-sitter-language-pack, or an empty string.

    The language may lack a grammar.
    """
    # The import is delayed because most sessions only see files of the shipped languages.
    import tree_sitter_language_pack as pack

    name = base_name(path)
    # The language pack takes a file with the name `go` for a Go file, and every .txt file for a help page of Vim.
    is_extension = name in language_table().by_extension
    language_name = None if is_extension or name.endswith(".txt") else pack.detect_language(name)
    return language_name or ""


@cache
def grammar(language: LanguageSpec) -> tree_sitter.Language:
    """Return the grammar of a language. It is loaded at its first use and kept for the lifetime of the process."""
    if not language.grammar_module:
        import tree_sitter_language_pack

        return tree_sitter_language_pack.get_language(language.id)
    # The value is a capsule. Its type is declared as `object`, because with an `int` another, deprecated overload would
    # be chosen.
    pointer: object = getattr(importlib.import_module(language.grammar_module), language.grammar_function)()
    return tree_sitter.Language(pointer)


@cache
def _language_from_pack(name: str) -> LanguageSpec | None:
    pack_name = detect_language_name(name)
    return language_named(pack_name) if pack_name else None


@cache
def _pack_language(name: str) -> LanguageSpec:
    """Return the one language object for a grammar in the cache of tree-sitter-language-pack."""
    return LanguageSpec(name)


def optional_grammar_versions() -> dict[str, str]:
    """Return the installed versions of the optional grammars, by module."""
    languages = sorted(optional_languages().values(), key=lambda language: language.grammar_module)
    return {language.grammar_module: version for language in languages if (version := _wheel_version(language))}


def _wheel_version(language: LanguageSpec) -> str:
    """Return the version of the wheel of a grammar, or an empty string if it is not installed."""
    return _distribution_version(language.grammar_module.replace("_", "-"))


@cache
def _distribution_version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
