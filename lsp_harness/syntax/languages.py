"""The languages that can be parsed: how they are recognised, and where their grammars and queries are.

The grammars in `LANGUAGES` are dependencies of this package, so nothing is ever downloaded. Other languages are parsed
only if the user has installed the wheel of their grammar or has put the grammar into the cache of
tree-sitter-language-pack.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import unquote

import tree_sitter

BlockStyle = Literal["indent", "braces", "end", "none"]


@dataclass(frozen=True, slots=True)
class Language:
    """A language with its file names, its grammar and its queries."""

    id: str
    module: str
    """The Python module of the grammar; empty if the grammar is in the cache of tree-sitter-language-pack."""
    function: str = "language"
    """The function of `module` that returns the grammar."""
    lsp_ids: tuple[str, ...] = ()
    """The LSP identifiers of this language, besides `id`."""
    extensions: tuple[str, ...] = ()
    """File name extensions in lower case, without the dot."""
    file_names: tuple[str, ...] = ()
    """Complete file names in lower case."""
    comment: str = ""
    """The prefix of a line comment; empty if the language has none."""
    block: BlockStyle = "none"
    """How the language writes blocks: by indentation, in braces, with an end word, or not at all."""
    stub: str = ""
    """The text that replaces the body of a function in an outline."""
    queries: tuple[str, ...] = ()
    """Folders below `grammars/queries`. A dialect lists the folder of its parent language first, then its own."""


LANGUAGES = (
    Language(
        "python",
        "tree_sitter_python",
        extensions=("py", "pyi", "pyw"),
        file_names=("sconstruct", "sconscript", "wscript"),
        comment="#",
        block="indent",
        stub=" ...",
        queries=("python",),
    ),
    Language(
        "javascript",
        "tree_sitter_javascript",
        lsp_ids=("javascriptreact", "js", "jsx"),
        extensions=("js", "mjs", "cjs", "jsx"),
        comment="//",
        block="braces",
        stub=";",
        queries=("javascript", "jsx"),
    ),
    Language(
        "typescript",
        "tree_sitter_typescript",
        "language_typescript",
        lsp_ids=("ts",),
        extensions=("ts", "mts", "cts"),
        comment="//",
        block="braces",
        stub=";",
        queries=("javascript", "typescript"),
    ),
    Language(
        "tsx",
        "tree_sitter_typescript",
        "language_tsx",
        lsp_ids=("typescriptreact",),
        extensions=("tsx",),
        comment="//",
        block="braces",
        stub=";",
        queries=("javascript", "typescript", "jsx"),
    ),
    Language("go", "tree_sitter_go", extensions=("go",), comment="//", block="braces", queries=("go",)),
    Language("rust", "tree_sitter_rust", extensions=("rs",), comment="//", block="braces", stub=";", queries=("rust",)),
    Language(
        "java", "tree_sitter_java", extensions=("java",), comment="//", block="braces", stub=";", queries=("java",)
    ),
    Language("c", "tree_sitter_c", extensions=("c", "h"), comment="//", block="braces", stub=";", queries=("c",)),
    Language(
        "cpp",
        "tree_sitter_cpp",
        lsp_ids=("c++", "cuda-cpp"),
        extensions=("cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl", "cu", "cuh"),
        comment="//",
        block="braces",
        stub=";",
        queries=("c", "cpp"),
    ),
    Language(
        "csharp",
        "tree_sitter_c_sharp",
        lsp_ids=("c#", "cs"),
        extensions=("cs", "csx"),
        comment="//",
        block="braces",
        stub=";",
        queries=("csharp",),
    ),
    Language(
        "ruby",
        "tree_sitter_ruby",
        extensions=("rb", "rake", "gemspec", "ru"),
        file_names=("rakefile", "gemfile", "podfile", "vagrantfile", "brewfile"),
        comment="#",
        block="end",
        queries=("ruby",),
    ),
    Language(
        "php",
        "tree_sitter_php",
        "language_php",
        extensions=("php", "phtml"),
        comment="//",
        block="braces",
        stub=";",
        queries=("php",),
    ),
    Language(
        "bash",
        "tree_sitter_bash",
        lsp_ids=("shellscript", "sh", "shell"),
        extensions=("sh", "bash", "bats", "ebuild"),
        file_names=(".bashrc", ".bash_profile", ".bash_aliases", ".profile", "pkgbuild"),
        comment="#",
        block="end",
        queries=("bash",),
    ),
    Language(
        "lua",
        "tree_sitter_lua",
        extensions=("lua",),
        file_names=(".luacheckrc",),
        comment="--",
        block="end",
        queries=("lua",),
    ),
    Language(
        "json",
        "tree_sitter_json",
        lsp_ids=("jsonc", "jsonl"),
        extensions=("json", "jsonc", "geojson", "ipynb", "webmanifest"),
        file_names=(".prettierrc", ".eslintrc"),
        comment="//",
    ),
    Language(
        "yaml",
        "tree_sitter_yaml",
        lsp_ids=("dockercompose", "github-actions-workflow"),
        extensions=("yaml", "yml"),
        file_names=(".clang-format",),
        comment="#",
    ),
    Language(
        "toml",
        "tree_sitter_toml",
        extensions=("toml",),
        file_names=("cargo.lock", "poetry.lock", "uv.lock"),
        comment="#",
    ),
    Language("html", "tree_sitter_html", extensions=("html", "htm", "xhtml")),
    Language("css", "tree_sitter_css", extensions=("css",)),
    Language("markdown", "tree_sitter_markdown", extensions=("md", "markdown", "mdown")),
)

OPTIONAL_LANGUAGES: Mapping[str, Language] = {
    "elixir": Language("elixir", "tree_sitter_elixir", comment="#"),
    "kotlin": Language("kotlin", "tree_sitter_kotlin", comment="//"),
    "ocaml": Language("ocaml", "tree_sitter_ocaml", "language_ocaml"),
    "ocaml_interface": Language("ocaml_interface", "tree_sitter_ocaml", "language_ocaml_interface"),
    "scala": Language("scala", "tree_sitter_scala", comment="//"),
    "swift": Language("swift", "tree_sitter_swift", comment="//"),
}
"""Languages whose grammars are used if they are installed, by their name in tree-sitter-language-pack. The extra
`lsp-harness[languages]` installs all but Kotlin: the tag query of the language pack does not fit the grammar of
Kotlin."""

_BY_ID = {name: language for language in LANGUAGES for name in (language.id, *language.lsp_ids)}
_BY_EXTENSION = {extension: language for language in LANGUAGES for extension in language.extensions}
_BY_NAME = {name: language for language in LANGUAGES for name in language.file_names}


def language_for(language_id: str, path: str) -> Language | None:
    """Return the language of a text, or None if it cannot be parsed.

    Args:
        language_id: The LSP identifier that the client gave. It takes precedence.
        path: The path or URI of the text, whose file name decides if the identifier is unknown.
    """
    if language := _BY_ID.get(language_id.lower()):
        return language
    name = PurePosixPath(unquote(path).replace("\\", "/")).name.lower()
    language = _BY_NAME.get(name) or _BY_EXTENSION.get(name.rpartition(".")[2] if "." in name else "")
    return language or _language_from_pack(name)


def language_named(name: str) -> Language | None:
    """Return the language with a name of ours or of tree-sitter-language-pack, or None if it cannot be parsed."""
    if language := _BY_ID.get(name):
        return language
    if name in OPTIONAL_LANGUAGES and _wheel_version(OPTIONAL_LANGUAGES[name].module):
        return OPTIONAL_LANGUAGES[name]
    import tree_sitter_language_pack as pack

    # `has_language` is not used: it is also true for grammars that would have to be downloaded first.
    return Language(name, "") if name in pack.downloaded_languages() else None


def detect_language_name(path: str) -> str:
    """Return the name of a file's language in tree-sitter-language-pack, or an empty string.

    The language may lack a grammar.
    """
    # The import is delayed because most sessions only see files of the languages above.
    import tree_sitter_language_pack as pack

    name = PurePosixPath(path).name.lower()
    # The language pack takes a file with the name `go` for a Go file, and every .txt file for a help page of Vim.
    language_name = None if name in _BY_EXTENSION or name.endswith(".txt") else pack.detect_language(name)
    return language_name or ""


@cache
def grammar(language: Language) -> tree_sitter.Language:
    """Return the grammar of a language. It is loaded at its first use and kept for the lifetime of the process."""
    if not language.module:
        import tree_sitter_language_pack

        return tree_sitter_language_pack.get_language(language.id)
    # The value is a capsule. Its type is declared as `object`, because with an `int` another, deprecated overload would
    # be chosen.
    pointer: object = getattr(importlib.import_module(language.module), language.function)()
    return tree_sitter.Language(pointer)


@cache
def _language_from_pack(name: str) -> Language | None:
    pack_name = detect_language_name(name)
    return language_named(pack_name) if pack_name else None


def optional_grammar_versions() -> dict[str, str]:
    """Return the installed versions of the optional grammars, by module."""
    modules = sorted({language.module for language in OPTIONAL_LANGUAGES.values()})
    return {module: version for module in modules if (version := _wheel_version(module))}


@cache
def _wheel_version(module: str) -> str:
    """Return the version of the wheel of a module, or an empty string if it is not installed."""
    try:
        return metadata.version(module.replace("_", "-"))
    except metadata.PackageNotFoundError:
        return ""
