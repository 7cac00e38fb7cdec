"""The languages we can parse: how a text is recognised as one, and where its grammar and queries are.

Every grammar here comes from a wheel that is installed with us, so nothing is ever downloaded. Other languages are
parsed only where the user has installed the wheel of their grammar, or put it in the cache of tree-sitter-language-pack.
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
    """A language by our own name. An empty `module` means the grammar is in the language pack's cache."""

    id: str
    module: str
    function: str = "language"
    lsp_ids: tuple[str, ...] = ()
    """LSP language ids that mean this language, besides `id`."""
    extensions: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()
    """Whole file names, in lower case."""
    comment: str = ""
    """What starts a comment that runs to the end of the line; empty where there is none."""
    block: BlockStyle = "none"
    stub: str = ""
    """What stands for the body of a function in an outline."""
    queries: tuple[str, ...] = ()
    """Folders of queries, read one after the other: a dialect adds to what it is a dialect of."""


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
"""Languages by the language pack's names for them whose grammars do not come with us but are used where they are installed
(`lsp-harness[languages]`, and kotlin, to whose grammar the pack's tags do not fit)."""

_BY_ID = {name: language for language in LANGUAGES for name in (language.id, *language.lsp_ids)}
_BY_EXTENSION = {extension: language for language in LANGUAGES for extension in language.extensions}
_BY_NAME = {name: language for language in LANGUAGES for name in language.file_names}


def language_for(language_id: str, path: str) -> Language | None:
    """The language of a text: what the client calls it, else what the path (or URI) looks like."""
    if known := _BY_ID.get(language_id.lower()):
        return known
    name = PurePosixPath(unquote(path).replace("\\", "/")).name.lower()
    known = _BY_NAME.get(name) or _BY_EXTENSION.get(name.rpartition(".")[2] if "." in name else "")
    return known or _language_from_pack(name)


def language_named(name: str) -> Language | None:
    """The language of that name, ours or the language pack's, if it can be parsed."""
    if known := _BY_ID.get(name):
        return known
    if name in OPTIONAL_LANGUAGES and _wheel_version(OPTIONAL_LANGUAGES[name].module):
        return OPTIONAL_LANGUAGES[name]
    import tree_sitter_language_pack as pack

    # `has_language` is true for grammars that would first have to be fetched; only what is on disk counts.
    return Language(name, "") if name in pack.downloaded_languages() else None


def detect_language_name(path: str) -> str:
    """What the language pack calls a file, whether it can be parsed or not; empty where it does not know."""
    # Imported late: most sessions never meet a file we do not know.
    import tree_sitter_language_pack as pack

    name = PurePosixPath(path).name.lower()
    # It takes a file that is called `go` for a Go file, and every .txt for a page of Vim's help.
    known = None if name in _BY_EXTENSION or name.endswith(".txt") else pack.detect_language(name)
    return known or ""


@cache
def grammar(language: Language) -> tree_sitter.Language:
    """The grammar, loaded when it is first needed and kept for the process."""
    if not language.module:
        import tree_sitter_language_pack

        return tree_sitter_language_pack.get_language(language.id)
    # A capsule; typed because an int, which getattr might as well give, means something else (and is deprecated).
    pointer: object = getattr(importlib.import_module(language.module), language.function)()
    return tree_sitter.Language(pointer)


@cache
def _language_from_pack(name: str) -> Language | None:
    found = detect_language_name(name)
    return language_named(found) if found else None


def optional_grammar_versions() -> dict[str, str]:
    """The version of each grammar that did not come with us but is installed, by module."""
    modules = sorted({one.module for one in OPTIONAL_LANGUAGES.values()})
    return {module: release for module in modules if (release := _wheel_version(module))}


@cache
def _wheel_version(module: str) -> str:
    """The version of a wheel; empty where it is not installed."""
    try:
        return metadata.version(module.replace("_", "-"))
    except metadata.PackageNotFoundError:
        return ""
