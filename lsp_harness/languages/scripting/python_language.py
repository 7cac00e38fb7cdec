"""Python."""

import builtins

from lsp_harness.languages.declaration_traits import DeclarationTraits
from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.name_traits import NameTraits
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.token_traits import Interpolation, TokenTraits

SPEC = LanguageSpec(
    id="python",
    grammar_module="tree_sitter_python",
    extensions=("py", "pyi", "pyw"),
    file_names=("sconstruct", "sconscript", "wscript"),
    queries=("python",),
    comment="#",
    block="indent",
    stub=" ...",
    empty_block="pass",
    compiles_in_process=True,
    tokens=TokenTraits(
        has_triple_quotes=True,
        interpolation=Interpolation(r"\{", prefix=r"(?i)\b(?:f|rf|fr)$", doubles_braces=True),
    ),
    names=NameTraits(
        binders={"assignment": {"left": "variable"}},
        import_statements_bind=True,
        non_access_operators=frozenset({"->"}),
        global_names=frozenset(dir(builtins)),
        calls_need_bindings=True,
        assignments_declare=True,
        allows_underscore=True,
        parameters_are_keywords=True,
    ),
    imports=ImportTraits(wildcard=b"import *", follows_docstring=True, blank_lines_below=2),
    declarations=DeclarationTraits(words=(b"def ", b"class ", b"import "), has_line_scanner=True),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"->", b".", b"in", b"=="),
        else_if=b"elif",
        inserts_braces=False,
        long_quotes=(b'"""', b"'''"),
        comment_pattern="#",
        has_bare_tuples=True,
        checks_assignment_places=False,
    ),
)
