"""PHP."""

from lsp_harness.languages.declaration_traits import STAR_COMMENT, DeclarationTraits
from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.name_traits import NameTraits
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.token_traits import TokenTraits

SPEC = LanguageSpec(
    id="php",
    grammar_module="tree_sitter_php",
    grammar_function="language_php",
    extensions=("php", "phtml"),
    queries=("php",),
    comment="//",
    block="braces",
    stub=";",
    tokens=TokenTraits(has_block_comments=True, operand="$x"),
    names=NameTraits(
        binders={
            "assignment_expression": {"left": "variable"},
            "foreach_statement": {"": "variable"},
            "pair": {"": "variable"},
        },
        # Functions do not see the variables of the file.
        visible_roles=frozenset({"function", "class"}),
        types_are_values=True,
        # The dot joins strings.
        non_access_operators=frozenset({"."}),
        paths_bind_last_part=True,
        type_fields=("type", "return_type"),
        common_receivers={"parent": "super", "static": "self"},
        has_function_namespace=True,
        assignments_declare=True,
        sigil="$",
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"=>", b"->"),
        meant_by_equals=(b"=>",),
        inserts_semicolons=True,
        needs_semicolons=True,
        has_own_line_braces=True,
        has_multiline_strings=True,
        comment_pattern=r"//|(?<!\S)#(?!\[)",
        wrappers=((b"<?php ", b""), (b"<?php class X {\n", b"\n}"), (b"<?php [\n", b"\n];")),
        arrow_reads_members=True,
    ),
    imports=ImportTraits(
        form="use-name", last_part_is_name=True, shares_namespace=True, shares_declarations=True, imports_own_types=True
    ),
    declarations=DeclarationTraits(
        documentation=STAR_COMMENT, types_come_first=True, decorator_start=r"#\[", decorated_phrase="with the attribute"
    ),
)
