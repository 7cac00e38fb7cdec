"""Python."""

import builtins

from lsp_harness.languages.declaration_traits import CommentStyle, DeclarationTraits
from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.name_traits import NameTraits
from lsp_harness.languages.package_traits import Ecosystem, PackageTraits
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.token_traits import Interpolation, TokenTraits
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(
    id="python",
    grammar_module="tree_sitter_python",
    has_sure_errors=True,
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
        interpolation_mark="f",
    ),
    names=NameTraits(
        binders={"assignment": {"left": "variable"}},
        import_statements_bind=True,
        non_access_operators=frozenset({"->"}),
        global_names=frozenset(dir(builtins)),
        loop_head="for {name} in",
        function_keyword="def",
        calls_need_bindings=True,
        assignments_declare=True,
        allows_underscore=True,
        parameters_are_keywords=True,
        self_name="self",
    ),
    imports=ImportTraits(
        wildcard=b"import *",
        follows_docstring=True,
        blank_lines_below=2,
        form="from-import",
        names_may_be_modules=True,
        binds_first_part=True,
        reads_interpreter_library=True,
    ),
    declarations=DeclarationTraits(
        words=(b"def ", b"class ", b"import "),
        has_line_scanner=True,
        documentation=CommentStyle('"""', '"""', is_inside=True),
        types_follow_colon=True,
        test_framework="pytest",
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"->", b".", b"in", b"=="),
        else_if=b"elif",
        inserts_braces=False,
        long_quotes=(b'"""', b"'''"),
        comment_pattern="#",
        has_bare_tuples=True,
        checks_assignment_places=False,
    ),
    packages=PackageTraits(Ecosystem.PYPI, constructor_names=("__init__", "__new__"), call_method="__call__"),
    lines=LineSyntax(comment_style="hash"),
    linter="ruff",
    type_checker="ty",
)
