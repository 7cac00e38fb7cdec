"""The description of one language: how it is recognised, where its grammar is, and the traits that other code asks for.

No code outside of this package compares the id of a language. It asks for a trait instead, so that a new language is
one new row.
"""

from dataclasses import dataclass, field
from typing import Literal

from lsp_harness.languages.traits import (
    DeclarationTraits,
    ImportTraits,
    NameTraits,
    PackageTraits,
    RecoveryTraits,
    TestTraits,
    TokenTraits,
)
from lsp_harness.text.code_lines import LineSyntax

BlockStyle = Literal["indent", "braces", "end", "none"]


@dataclass(frozen=True, slots=True, eq=False)
class LanguageSpec:
    """One language. Specs are compared by identity: there is one object for each language of a process."""

    id: str
    """The name of the language here, in the index and in tree-sitter-language-pack."""
    grammar_module: str = ""
    """The Python module of the grammar. If it is empty, only the cache of tree-sitter-language-pack may have one."""
    grammar_function: str = "language"
    """The function of `grammar_module` that returns the grammar."""
    is_optional: bool = False
    """Whether the grammar is used only if the user has installed its wheel."""
    has_fitting_tags: bool = True
    """Whether the tag query of tree-sitter-language-pack fits an optional grammar, so that the extra installs it."""
    lsp_ids: tuple[str, ...] = ()
    """The LSP identifiers of this language, besides `id`, in lower case."""
    extensions: tuple[str, ...] = ()
    """File name extensions in lower case, without the dot."""
    file_names: tuple[str, ...] = ()
    """Complete file names in lower case."""
    queries: tuple[str, ...] = ()
    """Folders below `grammars/queries`. A dialect lists the folder of its parent language first, then its own."""
    comment: str = ""
    """The prefix of a line comment; empty if the language has none."""
    block: BlockStyle = "none"
    """How the language writes blocks: by indentation, in braces, with an end word, or not at all."""
    stub: str = ""
    """The text that replaces the body of a function in an outline."""
    empty_block: str = ""
    """The statement that fills a block that would otherwise be empty; empty if a block may be empty."""
    parent: str = ""
    """The id of the language whose names of the standard library this one includes."""
    dialect_of: str = ""
    """The id of the language that this one is a dialect of; declarations of both are described together."""
    sibling: str = ""
    """The id of a language whose declarations this one may use."""
    linter: str = ""
    """The linter that the server runs for this language; empty if there is none."""
    compiler_command: str = ""
    """The usual command that compiles a project, whose output a user can pipe; empty if there is none."""
    type_checker: str = ""
    """The type checker that looks at suggestions in this language; empty if there is none."""
    has_sure_errors: bool = False
    """Whether an error of the parser is an error of the text. Macros and templates look wrong to other grammars."""
    compiles_in_process: bool = False
    """Whether the interpreter that runs the server compiles this language, so that it reports faults of a text."""
    crash_pattern: bytes = b""
    """A regular expression for texts that crash the parser of the language; empty if none are known."""
    tokens: TokenTraits = field(default_factory=TokenTraits)
    lines: LineSyntax = field(default_factory=LineSyntax)
    names: NameTraits = field(default_factory=NameTraits)
    imports: ImportTraits = field(default_factory=ImportTraits)
    declarations: DeclarationTraits = field(default_factory=DeclarationTraits)
    packages: PackageTraits = field(default_factory=PackageTraits)
    recovery: RecoveryTraits = field(default_factory=RecoveryTraits)
    tests: TestTraits = field(default_factory=TestTraits)

    @property
    def has_shipped_grammar(self) -> bool:
        """Return whether the grammar of the language is a dependency of this package or of its extra `languages`."""
        return bool(self.grammar_module) and not self.is_optional
