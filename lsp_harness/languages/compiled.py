"""Languages whose programs are compiled before they run, with queries and traits of their own."""

from dataclasses import replace

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.traits import (
    STAR_COMMENT,
    CommentStyle,
    DeclarationTraits,
    Ecosystem,
    ImportTraits,
    Interpolation,
    NameTraits,
    PackageTraits,
    RecoveryTraits,
    TestTraits,
    TokenTraits,
)
from lsp_harness.text.code_lines import LineSyntax

C = LanguageSpec(
    id="c",
    grammar_module="tree_sitter_c",
    extensions=("c", "h"),
    queries=("c",),
    comment="//",
    block="braces",
    stub=";",
    compiler_command="make 2>&1",
    tokens=TokenTraits(has_block_comments=True, has_character_literals=True),
    names=NameTraits(
        body_required=frozenset({"struct_specifier", "union_specifier", "enum_specifier"}),
        # `struct point` does not declare a type `point`.
        visible_roles=frozenset({"variable", "function"}),
        must_declare_above=True,
        is_block_scoped=True,
        has_bare_members=True,
        reports_first_use_only=True,
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"."),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        has_own_line_braces=True,
        allows_outer_statements=False,
        requires_declarations=True,
    ),
    imports=ImportTraits(
        form="include", imports_everything=True, shares_declarations=True, has_whole_module_imports=True
    ),
    declarations=DeclarationTraits(documentation=STAR_COMMENT, types_come_first=True, has_headers=True),
    sibling="cpp",
)
"""C."""

CPP = replace(
    C,
    id="cpp",
    grammar_module="tree_sitter_cpp",
    lsp_ids=("c++", "cuda-cpp"),
    extensions=("cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp", "inl", "cu", "cuh"),
    queries=("c", "cpp"),
    names=replace(
        C.names,
        body_required=C.names.body_required | {"class_specifier"},
        visible_roles=frozenset({"variable", "function", "class"}),
    ),
    recovery=replace(C.recovery, has_type_arguments=True),
    imports=replace(C.imports, library_namespace="std"),
    declarations=replace(C.declarations, has_implicit_members=True, members_outside_types=True),
    parent="c",
    sibling="c",
)
"""C++, which includes C."""

CSHARP = LanguageSpec(
    id="csharp",
    compiler_command="dotnet build 2>&1",
    grammar_module="tree_sitter_c_sharp",
    lsp_ids=("c#", "cs"),
    extensions=("cs", "csx"),
    queries=("csharp",),
    comment="//",
    block="braces",
    stub=";",
    tokens=TokenTraits(
        has_block_comments=True,
        has_character_literals=True,
        has_triple_quotes=True,
        interpolation=Interpolation(r"\{", prefix=r"\$\Z", doubles_braces=True),
    ),
    names=NameTraits(
        binders={"using_directive": {"name": "import"}},
        # A compiler may report a name as unknown although a `using` directive names it.
        visible_roles=frozenset({"class"}),
        types_are_values=True,
        non_access_operators=frozenset({"->"}),
        is_block_scoped=True,
        has_bare_members=True,
        type_fields=("type", "returns"),
        common_receivers={"base": "super"},
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"=>", b"."),
        meant_by_equals=(b"=>",),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        has_type_arguments=True,
        has_own_line_braces=True,
        wrappers=((b"", b""), (b"class X {\n", b"\n}"), (b"enum X {\n", b"\n}")),
        requires_declarations=True,
    ),
    imports=ImportTraits(
        form="using-namespace",
        imports_everything=True,
        hides_imports=True,
        names_namespaces=True,
        shares_folder=True,
        shares_namespace=True,
        shares_declarations=True,
        has_whole_module_imports=True,
        has_extension_members=True,
        imports_capitalized_names=True,
    ),
    declarations=DeclarationTraits(
        documentation=CommentStyle("/// ", "", "/// "),
        types_come_first=True,
        has_implicit_members=True,
        decorator_start=r"\[",
        decorated_phrase="with the attribute",
    ),
)
"""C#."""

GO = LanguageSpec(
    id="go",
    grammar_module="tree_sitter_go",
    has_sure_errors=True,
    extensions=("go",),
    queries=("go",),
    comment="//",
    block="braces",
    tokens=TokenTraits(
        has_block_comments=True, has_character_literals=True, has_backquoted_strings=True, has_bare_for_header=True
    ),
    names=NameTraits(
        visible_roles=frozenset({"import", "variable", "function", "class"}),
        is_block_scoped=True,
        blank_name="_",
        declaring_sign=":=",
    ),
    imports=ImportTraits(
        has_import_blocks=True,
        packages_name_themselves=True,
        form="import-block",
        shares_folder=True,
        shares_declarations=True,
    ),
    declarations=DeclarationTraits(
        has_groups=True,
        documentation=CommentStyle("// ", "", "// "),
        doc_comments=("//",),
        any_comment_documents=True,
        types_follow_name=True,
        members_outside_types=True,
        extending_phrase="embedding",
    ),
    tests=TestTraits(
        node="function_declaration",
        head="name",
        test=r"Test\w*",
        calls={"call_expression": "function"},
        checks=r"\.(?:Error|Fatal|Fail)\w*$|(?i:assert|require|check|expect|verify)",
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b":=", b"."),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        quotes="\"'`",
        long_quotes=(b"`",),
        wrappers=((b"", b""), (b"type X struct {\n", b"\n}"), (b"switch {\n", b"\n}"), (b"x(", b")")),
        allows_outer_statements=False,
        requires_declarations=True,
        has_statements_in_headers=True,
    ),
    packages=PackageTraits(Ecosystem.GO_MODULES, constructor_prefix="New"),
    lines=LineSyntax(indents_with_tabs=True),
    compiler_command="go build ./... 2>&1",
    type_checker="gopls",
)
"""Go."""

JAVA = LanguageSpec(
    id="java",
    grammar_module="tree_sitter_java",
    extensions=("java",),
    queries=("java",),
    comment="//",
    block="braces",
    stub=";",
    tokens=TokenTraits(has_block_comments=True, has_character_literals=True, has_triple_quotes=True),
    names=NameTraits(
        binders={"import_declaration": {"": "import"}},
        # A compiler may report a name as unknown although an import statement names it.
        visible_roles=frozenset({"class"}),
        types_are_values=True,
        non_access_operators=frozenset({"->"}),
        paths_bind_last_part=True,
        is_block_scoped=True,
        has_bare_members=True,
        has_function_namespace=True,
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"->", b"."),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        has_type_arguments=True,
        long_quotes=(b'"""',),
        wrappers=((b"class X {\n", b"\n}"), (b"class X { { \n", b"\n}}"), (b"enum X {\n", b"\n}")),
        allows_outer_statements=False,
        requires_declarations=True,
    ),
    imports=ImportTraits(
        form="type-import",
        last_part_is_name=True,
        hides_imports=True,
        shares_folder=True,
        shares_declarations=True,
        has_whole_module_imports=True,
        imports_single_names=True,
        imports_types_only=True,
    ),
    declarations=DeclarationTraits(
        documentation=STAR_COMMENT, types_come_first=True, has_implicit_members=True, decorated_phrase="annotated with"
    ),
)
"""Java."""

RUST = LanguageSpec(
    id="rust",
    grammar_module="tree_sitter_rust",
    has_sure_errors=True,
    extensions=("rs",),
    queries=("rust",),
    comment="//",
    block="braces",
    stub=";",
    compiler_command="cargo check 2>&1",
    type_checker="rust-analyzer",
    tokens=TokenTraits(has_block_comments=True, has_character_literals=True, named_keywords=frozenset({b"mut"})),
    names=NameTraits(
        visible_roles=frozenset({"import", "variable", "function", "class"}),
        non_access_operators=frozenset({"->"}),
        paths_bind_last_part=True,
        is_block_scoped=True,
        global_names=frozenset({"self", "crate", "super"}),
        binding_keyword="let",
        loop_head="for {name} in",
        allows_underscore=True,
        prefers_underscore=True,
    ),
    imports=ImportTraits(
        keys_include_names=True,
        form="use-tree",
        separator="::",
        fills_lines=True,
        names_may_be_modules=True,
        library_root="std",
        brings_methods=True,
        imports_single_names=True,
        has_prelude=True,
    ),
    tests=TestTraits(
        node="function_item",
        head="name",
        test=r"\w+",
        attribute=r"\btest\b",
        other_attribute="should_panic",
        calls={"macro_invocation": "macro", "call_expression": "function"},
        checks=r"assert|panic|unreachable|ensure|check|verify|\.(?:unwrap|expect)(?:_err)?$",
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"->", b"=>", b"."),
        meant_by_equals=(b"=>",),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        has_type_arguments=True,
        has_multiline_strings=True,
        has_lifetimes=True,
        wrappers=((b"", b""), (b"struct X {\n", b"\n}"), (b"match x {\n", b"\n}"), (b"x!(", b")")),
        allows_outer_statements=False,
        requires_declarations=True,
        blocks_are_values=True,
        incomplete_call=rb"\b(?:Ok|Err|Some)\(\)",
    ),
    declarations=DeclarationTraits(
        documentation=CommentStyle("/// ", "", "/// "),
        doc_comments=("///",),
        module_doc_comment="//!",
        has_attribute_lines=True,
        public_word="pub",
        types_follow_colon=True,
        members_outside_types=True,
        decorator_start=r"#\[",
        decorated_phrase="with the attribute",
    ),
    packages=PackageTraits(Ecosystem.CRATES, constructor_names=("new",)),
    lines=LineSyntax(has_lifetimes=True),
)
"""Rust."""

LANGUAGES = (C, CPP, CSHARP, GO, JAVA, RUST)
