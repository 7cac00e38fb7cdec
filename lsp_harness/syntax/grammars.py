"""The grammars of the languages: which text is parsed with which grammar, and whether a grammar is installed.

Nothing is ever downloaded. The grammars of Python and of shells are dependencies of this package, those of the other
shipped languages are the extra `languages`. Further languages are parsed only if the user has installed the wheel of
their grammar or has put the grammar into the cache of tree-sitter-language-pack.
"""

import importlib
from functools import cache
from importlib import metadata
from importlib.util import find_spec

import tree_sitter

from lsp_harness.extras import install_command
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.language_table import (
    base_name,
    find_language_of_file,
    language_table,
    optional_languages,
    shipped_languages,
)


def language_for(language_id: str, path: str) -> LanguageSpec | None:
    """Return the language of a text, or None if it cannot be parsed.

    Args:
        language_id: The LSP identifier that the client gave. It takes precedence.
        path: The path or URI of the text, whose file name decides if the identifier is unknown.
    """
    language = language_table().by_lsp_id.get(language_id.lower())
    if language and _is_shipped(language):
        return language
    language = find_language_of_file(path)
    return language if language and _is_shipped(language) else _language_from_pack(base_name(path))


def language_named(name: str) -> LanguageSpec | None:
    """Return the language with a name of ours or of tree-sitter-language-pack, or None if it cannot be parsed."""
    language = language_table().by_lsp_id.get(name)
    if language and (_is_shipped(language) or (language.is_optional and _wheel_version(language))):
        return language
    if not has_language_pack():
        return None
    import tree_sitter_language_pack as pack

    # `has_language` is not used: it is also true for grammars that would have to be downloaded first.
    return _pack_language(name) if name in pack.downloaded_languages() else None


def advise_grammar(language_id: str, path: str) -> str:
    """Return what a user can do for a text without a language of `language_for`: `; run: …`, or an empty string.

    Args:
        language_id: The LSP identifier that the client gave.
        path: The path or URI of the text.
    """
    language = language_table().by_lsp_id.get(language_id.lower()) or find_language_of_file(path)
    is_installable = language and (language.has_shipped_grammar or (language.is_optional and language.has_fitting_tags))
    return f"; run: {install_command('languages')}" if is_installable else ""


def detect_language_name(path: str) -> str:
    """Return the name of a file's language in tree-sitter-language-pack, or an empty string.

    The language may lack a grammar. Without tree-sitter-language-pack only the languages of our table have a name.
    """
    name = base_name(path)
    if not has_language_pack():
        language = find_language_of_file(name)
        return language.id if language else ""
    # The import is delayed because most sessions only see files of the shipped languages.
    import tree_sitter_language_pack as pack

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


def list_missing_grammars() -> list[str]:
    """Return the modules of the shipped languages whose grammar is not installed, sorted."""
    return sorted({language.grammar_module for language in shipped_languages() if not _is_shipped(language)})


@cache
def has_language_pack() -> bool:
    """Return whether tree-sitter-language-pack is installed."""
    return find_spec("tree_sitter_language_pack") is not None


def _is_shipped(language: LanguageSpec) -> bool:
    """Return whether a language is one of ours and its grammar is installed."""
    return language.has_shipped_grammar and _has_module(language.grammar_module)


@cache
def _has_module(name: str) -> bool:
    return find_spec(name) is not None


def language_pack_version() -> str:
    """Return the version of tree-sitter-language-pack, or an empty string if it is not installed."""
    return _distribution_version("tree-sitter-language-pack")


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
