"""Traits of a language, by subject: tokens, names, imports, declarations, packages, recovery from errors, and tests.

Each trait has a default that changes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal


@dataclass(frozen=True, slots=True)
class Interpolation:
    """How a string contains expressions."""

    opener: str
    """A regular expression for the text that begins an expression inside a string."""
    prefix: str = ""
    """A regular expression for the text before a string that may contain expressions; empty if every string may."""
    doubles_braces: bool = False
    """Whether two braces stand for a brace of the string."""


@dataclass(frozen=True, slots=True)
class TokenTraits:
    """The tokens of a language. The defaults fit a language with braces and C-like strings."""

    has_block_comments: bool = False
    """Whether `/*` and `*/` enclose a comment."""
    has_character_literals: bool = False
    """Whether an apostrophe encloses one character or marks a lifetime, so that an unclosed one opens no string."""
    has_triple_quotes: bool = False
    """Whether three quotes enclose a string of several lines."""
    has_backquoted_strings: bool = False
    """Whether backquotes enclose a string."""
    interpolation: Interpolation | None = None
    """How strings contain expressions. None stands for `${` in backquoted strings only."""
    interpolation_mark: str = ""
    """The letter before the quotes, or the quotes, that make a plain string contain expressions."""
    has_jsx: bool = False
    """Whether an expression may be an element of JSX."""
    operand: str = "x"
    """The shortest expression, which completes an unfinished one."""
    named_keywords: frozenset[bytes] = frozenset()
    """Keywords that the grammar defines as named nodes."""
    block_begin_words: frozenset[bytes] = frozenset()
    """Words that begin a block which an end word closes."""
    block_end_words: frozenset[bytes] = frozenset()
    """Words that end a block."""
    block_closers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Words that open a block, and the text that closes it. Of a loop with `do` only the `do` counts."""
    has_optional_loop_do: bool = False
    """Whether the `do` of a loop may be left out, so that `while x do` opens one block and not two."""
    opens_blocks_in_expressions: bool = False
    """Whether a word of `block_closers` always opens a block. Otherwise `x if y` opens none."""
    header_ends: tuple[str, ...] = ("", "\nend")
    """The text that completes the header of a condition, then those that complete the header of a loop."""
    has_bare_for_header: bool = False
    """Whether the clauses of a `for` statement stand without round brackets."""


Binding = Literal["variable", "parameter", "function", "class", "import"]
Binders = Mapping[str, Mapping[str, Binding]]


@dataclass(frozen=True, slots=True)
class NameTraits:
    """The rules of names in a language."""

    binders: Binders = field(default_factory=dict[str, Mapping[str, Binding]])
    """For types of nodes whose bindings differ from other languages, the fields that bind names and their kinds."""
    body_required: frozenset[str] = frozenset()
    """Types of nodes that bind their name only if they have a body."""
    import_statements_bind: bool = False
    """Whether a node `import_statement` binds names directly, without nodes for each name."""
    visible_roles: frozenset[Binding] = frozenset()
    """Roles of bindings that make a name visible in the whole file. If it is empty, nothing is known."""
    must_declare_above: bool = False
    """Whether a name is visible only below its declaration."""
    types_are_values: bool = False
    """Whether the name of a type is also a value."""
    non_access_operators: frozenset[str] = frozenset()
    """Tokens that precede a member in other languages, but not in this one."""
    paths_bind_last_part: bool = False
    """Whether an import of a path binds the last part of the path."""
    has_block_functions: bool = False
    """Whether a block may have parameters and is a scope of its own."""
    is_block_scoped: bool = False
    """Whether blocks have their own variables."""
    has_bare_members: bool = False
    """Whether a method sees the members of its class without a receiver."""
    type_fields: tuple[str, ...] = ()
    """Fields of nodes that contain a type in this grammar only."""
    global_names: frozenset[str] | None = None
    """Names that are bound without a declaration. None means that a bare name may come from another file."""
    binding_keyword: str = ""
    """The keyword that binds a local variable; empty if there is none."""
    loop_head: str = ""
    """The start of a loop over values that binds `{name}`."""
    function_keyword: str = ""
    """The keyword before the name of a function, in a language whose functions may stand inside of others."""
    calls_need_bindings: bool = False
    """Whether every called or capitalized name is declared or imported in its file."""
    common_receivers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Receivers such as `base`, with the name that most languages use for them."""
    has_function_namespace: bool = False
    """Whether a variable does not hide a function with the same name."""
    assignments_declare: bool = False
    """Whether an assignment declares its variable."""
    allows_underscore: bool = False
    """Whether tools do not report an unused name that starts with an underscore."""
    parameters_are_keywords: bool = False
    """Whether callers may use the names of parameters, so that they cannot be renamed."""
    prefers_underscore: bool = False
    """Whether the compiler proposes an underscore for an unused variable rather than its removal."""
    self_name: str = ""
    """The receiver that a method needs for the members of its class; empty if it needs none."""
    sigil: str = ""
    """The sign before the name of every variable."""
    member_sigil: str = ""
    """The sign before the name of every variable of an object."""
    declaring_sign: str = ""
    """The sign that declares a variable, in a language in which `=` only assigns."""
    has_common_members: bool = False
    """Whether most members that the language defines exist on every object."""
    reports_first_use_only: bool = False
    """Whether compilers report only the first use of an unknown name in a function."""
    blank_name: str = ""
    """The name that takes a value that nothing uses, in a language that forbids unused variables."""


ImportForm = Literal[
    "none",
    "from-import",
    "module-import",
    "import-block",
    "use-tree",
    "type-import",
    "using-namespace",
    "include",
    "require-file",
    "use-name",
    "require-module",
    "source-file",
]
"""The form of import statements. It selects the code that writes, completes and resolves them.

`from-import` is `from a.b import c`, `module-import` is `import {c} from "./a"`, `import-block` is `import ("a/b")`,
`use-tree` is `use a::{b, c};`, `type-import` is `import a.b.C;`, `using-namespace` is `using A.B;`, `include` is
`#include <a.h>`, `require-file` is `require "a"`, `use-name` is `use A\\B;`, `require-module` is `require("a.b")`, and
`source-file` is `source a`.
"""


@dataclass(frozen=True, slots=True)
class ImportTraits:
    """The import statements of a language."""

    form: ImportForm = "none"
    """The form of the import statements."""
    separator: str = "."
    """The text between the parts of a path of modules."""
    wildcard: bytes = b""
    """The text of an import that makes all names of a module visible; empty if none is searched for."""
    has_import_blocks: bool = False
    """Whether one statement imports several packages, each on a line of its own."""
    packages_name_themselves: bool = False
    """Whether an import without an alias binds the last part of the path of a package."""
    has_require_calls: bool = False
    """Whether a call of `require` imports a file."""
    keys_include_names: bool = False
    """Whether imports are sorted by the imported name, not only by its module."""
    blank_lines_below: int = 1
    """How many blank lines separate the import statements from a definition below them."""
    follows_docstring: bool = False
    """Whether import statements stand below the docstring of the file."""
    fills_lines: bool = False
    """Whether a list of imported names fills its lines. Otherwise the file shows whether each name has its own line."""
    names_may_be_modules: bool = False
    """Whether an imported name may be a module."""
    binds_first_part: bool = False
    """Whether an import of a path without a name binds the first part of the path."""
    last_part_is_name: bool = False
    """Whether the last part of an imported path is a name in the module before it."""
    imports_everything: bool = False
    """Whether an import without a name makes everything at the top of the module visible."""
    hides_imports: bool = False
    """Whether a file does not hand on what it imports."""
    names_namespaces: bool = False
    """Whether an import names a namespace, which several files may declare."""
    shares_folder: bool = False
    """Whether the files of one folder see each other without an import."""
    shares_namespace: bool = False
    """Whether the files of one namespace see each other without an import."""
    shares_declarations: bool = False
    """Whether a file may use a declaration of another file without importing its name."""
    has_whole_module_imports: bool = False
    """Whether one import makes all names of a module of the standard library visible."""
    reads_interpreter_library: bool = False
    """Whether the interpreter that runs the server tells the names of the standard library, rather than a table."""
    library_root: str = ""
    """The first part of paths into the standard library, which need no import."""
    library_namespace: str = ""
    """The receiver whose members are visible only after an import."""
    has_extension_members: bool = False
    """Whether an import may add members to a type."""
    brings_methods: bool = False
    """Whether an import may be needed although nothing has its name: that of a trait makes its methods visible."""
    imports_single_names: bool = False
    """Whether an import statement names one thing of a module."""
    imports_types_only: bool = False
    """Whether an imported name is a type and no value."""
    imports_capitalized_names: bool = False
    """Whether a name with a lower-case first letter is imported only if it is called."""
    has_prelude: bool = False
    """Whether the types of the language itself need no import."""
    imports_own_types: bool = False
    """Whether a namespace must import the types of the language itself."""

    @property
    def has_module_imports(self) -> bool:
        """Return whether files import and export names as ECMAScript modules do."""
        return self.form == "module-import"


@dataclass(frozen=True, slots=True)
class CommentStyle:
    """The text around the documentation of a function."""

    before: str
    """The text before the first line."""
    after: str
    """The text after the last line."""
    between: str = ""
    """The text before each further line."""
    is_inside: bool = False
    """Whether the documentation stands inside the body of the function, rather than above it."""


STAR_COMMENT = CommentStyle("/**\n * ", "\n */", " * ")
"""The comment with stars that many languages use."""


@dataclass(frozen=True, slots=True)
class DeclarationTraits:
    """The declarations of a language."""

    words: tuple[bytes, ...] = ()
    """Words before the name of each declaration or import. If they are given, the deep parts of a tree are searched for
    them as text, as a walk over the whole tree takes a third of the time of parsing."""
    has_line_scanner: bool = False
    """Whether the declarations of a well-formed text are read line by line without the parser."""
    has_groups: bool = False
    """Whether one statement declares several constants or imports, each on a line of its own."""
    documentation: CommentStyle | None = None
    """How the documentation of a function is written. None if it is not known."""
    doc_comments: tuple[str, ...] = ()
    """Prefixes of line comments that are documentation."""
    module_doc_comment: str = ""
    """The prefix of the lines that document a file."""
    any_comment_documents: bool = False
    """Whether any block comment above a declaration is its documentation."""
    has_attribute_lines: bool = False
    """Whether lines with an attribute `#[…]` may stand above a declaration or an import."""
    public_word: str = ""
    """The word that makes a declaration visible to other files. If it is empty, an underscore hides a name."""
    types_come_first: bool = False
    """Whether the type stands before the name."""
    types_follow_colon: bool = False
    """Whether the type stands after the name and a colon."""
    types_follow_name: bool = False
    """Whether the type stands right behind the name."""
    has_implicit_members: bool = False
    """Whether the functions of a type see its members without a receiver. A struct without functions does not count."""
    members_outside_types: bool = False
    """Whether the members of a type may be declared outside of the type."""
    has_headers: bool = False
    """Whether header files declare what other files define."""
    calls_need_brackets: bool = True
    """Whether every call has brackets."""
    decorator_start: str = "@"
    """A regular expression for the start of a decorator."""
    decorated_phrase: str = "decorated with"
    """The words before the name of a decorator in the description of a declaration."""
    extending_phrase: str = "extending"
    """The words before the name of a base in the description of a type."""
    test_framework: str = ""
    """The framework of the tests that the server writes; empty if it writes none."""


class Ecosystem(Enum):
    """A source of packages, with its own rules for their folders and their modules."""

    NONE = "none"
    """The ecosystem of a language whose packages are not known."""
    PYPI = "pypi"
    """Distributions in the folder `site-packages` of a Python environment."""
    NPM = "npm"
    """The ecosystem of packages in the folder `node_modules`."""
    GO_MODULES = "go modules"
    """Modules in the module cache of the Go tool."""
    CRATES = "crates"
    """Crates in the registry of Cargo."""


@dataclass(frozen=True, slots=True)
class PackageTraits:
    """How a language uses installed packages."""

    ecosystem: Ecosystem = Ecosystem.NONE
    """The source of the packages."""
    language: str = ""
    """The id of the language in which the packages are read; empty if it is the language itself."""
    constructor_names: tuple[str, ...] = ()
    """The names of the members of a type that create an object of it."""
    constructor_prefix: str = ""
    """The text before the name of a type in the name of the function that creates an object of it."""
    call_method: str = ""
    """The member that makes an object callable."""


@dataclass(frozen=True, slots=True)
class RecoveryTraits:
    """Properties of a language that guide the recovery of a broken text: likely errors and possible corrections."""

    signs_between: tuple[bytes, ...] = (b",", b":", b"=", b"=>", b".")
    """The signs and words that are tried between two operands."""
    joins_after_marks: bool = True
    """Whether `=`, `:` and `=>` are tried between an operator and an operand."""
    meant_by_equals: tuple[bytes, ...] = ()
    """Signs for which `=` is often written."""
    else_if: bytes = b""
    """The words that begin another condition of a conditional statement; empty if nothing is tried."""
    inserts_semicolons: bool = False
    """Whether a semicolon is tried at the end of a statement."""
    needs_semicolons: bool = False
    """Whether an inserted semicolon must end a statement."""
    has_block_parameters: bool = False
    """Whether parameters of a block stand between two `|` behind `do`."""
    words_behind_semicolon: tuple[bytes, ...] = ()
    """Words that a semicolon separates from the condition before them."""
    has_type_arguments: bool = False
    """Whether types have arguments in angle brackets."""
    inserts_braces: bool = True
    """Whether a missing brace before a block is tried."""
    has_own_line_braces: bool = False
    """Whether the brace before a block is often on its own line."""
    quotes: str = "\"'"
    """The quotes that enclose a string."""
    long_quotes: tuple[bytes, ...] = ()
    """The quotes that enclose a string with several lines."""
    has_multiline_strings: bool = False
    """Whether a plain string may continue on the next line."""
    comment_pattern: str = r"//|/\*"
    """A regular expression for the beginning of a comment."""
    has_lifetimes: bool = False
    """Whether an apostrophe before a word marks a lifetime."""
    wrappers: tuple[tuple[bytes, bytes], ...] = ((b"", b""),)
    """Texts before and after a block. A block is sound if it parses inside one of these pairs."""
    allows_outer_statements: bool = True
    """Whether statements may stand outside of functions."""
    requires_declarations: bool = False
    """Whether a name must be declared before an assignment."""
    has_bare_tuples: bool = False
    """Whether two values with a comma between them are a value without brackets."""
    checks_assignment_places: bool = True
    """Whether the place of an inserted `=` may be wrong although the text parses."""
    blocks_are_values: bool = False
    """Whether the last expression of a block is its value."""
    has_statements_in_headers: bool = False
    """Whether a header such as `if` may contain a statement before a semicolon."""
    arrow_matches_patterns: bool = False
    """Whether `=>` compares a value with a pattern."""
    arrow_reads_members: bool = False
    """Whether `->` reads a member and `=>` stands only in lists."""
    incomplete_call: bytes = b""
    """A regular expression for calls that need an argument, so that their brackets are probably misplaced."""


@dataclass(frozen=True, slots=True)
class TestTraits:
    """The tests of a language. By default none are known."""

    node: str = ""
    """The type of a node that may be a test: a function, or a call with a name and a function."""
    head: str = ""
    """The field of such a node whose text tells whether it is a test."""
    test: str = ""
    """A regular expression for the whole text of this field in a test."""
    group: str = ""
    """A regular expression for it in a group of tests; empty if tests have no groups."""
    attribute: str = ""
    """A regular expression for a part of the attributes before a test; empty if they do not matter."""
    other_attribute: str = ""
    """A regular expression for attributes of a test that checks nothing itself; empty if there are none."""
    calls: Mapping[str, str] = field(default_factory=dict[str, str])
    """Type of a node that calls something → the field that names what is called."""
    checks: str = ""
    """A regular expression for a part of the name of what is called to check something."""
