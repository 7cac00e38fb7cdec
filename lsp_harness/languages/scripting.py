"""Languages whose programs run without a compile step, with queries and traits of their own."""

import builtins
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

BASH = LanguageSpec(
    id="bash",
    grammar_module="tree_sitter_bash",
    lsp_ids=("shellscript", "sh", "shell"),
    extensions=("sh", "bash", "bats", "ebuild"),
    file_names=(".bashrc", ".bash_profile", ".bash_aliases", ".profile", "pkgbuild"),
    queries=("bash",),
    comment="#",
    block="end",
    tokens=TokenTraits(
        interpolation=Interpolation(r"\$[({]"),
        operand=":",
        block_begin_words=frozenset(b"if for while until case select do then".split()),
        block_end_words=frozenset({b"fi", b"done", b"esac"}),
        block_closers={"if": "fi", "do": "done", "case": "esac"},
        header_ends=("; then :", "; do :\ndone", " in x; do :\ndone"),
    ),
    recovery=RecoveryTraits(
        signs_between=(b"then", b"do", b"in", b"="),
        words_behind_semicolon=(b"then", b"do"),
        inserts_braces=False,
        quotes="\"'`",
        has_multiline_strings=True,
        comment_pattern=r"(?<!\S)#",
    ),
    imports=ImportTraits(form="source-file"),
    declarations=DeclarationTraits(documentation=CommentStyle("# ", "", "# ")),
    lines=LineSyntax(comment_style="hash", has_block_words=True),
)
"""Bash and other shells."""

GLOBAL_NAMES = (
    "undefined NaN Infinity arguments globalThis window document self console process global require module exports"
    " navigator location performance crypto localStorage sessionStorage history __dirname __filename setTimeout"
    " setInterval clearTimeout clearInterval setImmediate queueMicrotask structuredClone fetch alert jest vi cy chrome"
    " browser screen"
)
"""Names that a browser, Node or a test runner defines."""

TEST_MODIFIERS = r"(?:\.(?:only|concurrent|sequential|each|serial|failing|fails)\b.*)?"

JAVASCRIPT = LanguageSpec(
    id="javascript",
    grammar_module="tree_sitter_javascript",
    has_sure_errors=True,
    lsp_ids=("javascriptreact", "js", "jsx"),
    extensions=("js", "mjs", "cjs", "jsx"),
    queries=("javascript", "jsx"),
    comment="//",
    block="braces",
    stub=";",
    tokens=TokenTraits(has_block_comments=True, has_backquoted_strings=True, has_jsx=True, interpolation_mark="`"),
    names=NameTraits(
        binders={"import_clause": {"": "import"}},
        visible_roles=frozenset({"import", "variable", "function", "class"}),
        types_are_values=True,
        non_access_operators=frozenset({"->"}),
        is_block_scoped=True,
        global_names=frozenset(GLOBAL_NAMES.split()),
        binding_keyword="const",
        loop_head="for (const {name} of",
        allows_underscore=True,
        self_name="this",
    ),
    imports=ImportTraits(has_require_calls=True, form="module-import"),
    tests=TestTraits(
        node="call_expression",
        head="function",
        test=rf"(?:test|it|specify){TEST_MODIFIERS}",
        group=rf"(?:describe|context|suite){TEST_MODIFIERS}",
        calls={"call_expression": "function", "member_expression": "property"},
        checks=r"(?i:assert|expect|should|check|verify|throws|fail|reject)|^t\.\w+$",
    ),
    recovery=RecoveryTraits(
        meant_by_equals=(b"=>", b":"),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        quotes="\"'`",
        long_quotes=(b"`",),
        wrappers=((b"", b""), (b"class X {\n", b"\n}"), (b"x = {\n", b"\n}"), (b"x(", b")")),
        requires_declarations=True,
    ),
    declarations=DeclarationTraits(documentation=STAR_COMMENT, public_word="export"),
    type_checker="typescript",
    packages=PackageTraits(Ecosystem.NPM, language="typescript", constructor_names=("constructor",)),
    lines=LineSyntax(indent_width=2),
)
"""JavaScript, with the elements of JSX."""

LUA = LanguageSpec(
    id="lua",
    grammar_module="tree_sitter_lua",
    extensions=("lua",),
    file_names=(".luacheckrc",),
    queries=("lua",),
    comment="--",
    block="end",
    tokens=TokenTraits(
        block_begin_words=frozenset(b"function if for while do repeat".split()),
        block_end_words=frozenset({b"end", b"until"}),
        block_closers={"function": "end", "if": "end", "do": "end", "repeat": "until x"},
        opens_blocks_in_expressions=True,
        header_ends=(" then", " do\nend", ", x do\nend"),
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b"=", b"then", b"do", b"in", b"."), inserts_braces=False, comment_pattern="--"
    ),
    imports=ImportTraits(form="require-module"),
    declarations=DeclarationTraits(documentation=CommentStyle("--- ", "", "--- ")),
    lines=LineSyntax(has_block_words=True),
)
"""Lua."""

PHP = LanguageSpec(
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
"""PHP."""

PYTHON = LanguageSpec(
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
"""Python."""

RUBY = LanguageSpec(
    id="ruby",
    grammar_module="tree_sitter_ruby",
    extensions=("rb", "rake", "gemspec", "ru"),
    file_names=("rakefile", "gemfile", "podfile", "vagrantfile", "brewfile"),
    queries=("ruby",),
    comment="#",
    block="end",
    tokens=TokenTraits(
        interpolation=Interpolation(r"#\{"),
        block_begin_words=frozenset(b"def class module if unless while until for case begin do".split()),
        block_end_words=frozenset({b"end"}),
        block_closers=dict.fromkeys(
            ["def", "class", "module", "begin", "do", "if", "unless", "case", "while", "until"], "end"
        ),
        has_optional_loop_do=True,
    ),
    names=NameTraits(
        binders={"assignment": {"left": "variable"}},
        # Functions do not see the variables of the file.
        visible_roles=frozenset({"function", "class"}),
        types_are_values=True,
        non_access_operators=frozenset({"->"}),
        has_block_functions=True,
        has_bare_members=True,
        has_function_namespace=True,
        assignments_declare=True,
        allows_underscore=True,
        member_sigil="@",
        has_common_members=True,
    ),
    imports=ImportTraits(
        has_require_calls=True, form="require-file", imports_everything=True, shares_declarations=True, has_prelude=True
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"=>", b"->", b"."),
        meant_by_equals=(b"=>",),
        else_if=b"elsif",
        inserts_semicolons=True,
        has_block_parameters=True,
        inserts_braces=False,
        has_multiline_strings=True,
        comment_pattern=r"#(?!\{)",
        wrappers=((b"", b""), (b"x(", b")"), (b"x {", b"}")),
        arrow_matches_patterns=True,
    ),
    declarations=DeclarationTraits(
        documentation=CommentStyle("# ", "", "# "), has_implicit_members=True, calls_need_brackets=False
    ),
    lines=LineSyntax(comment_style="hash", has_block_words=True, indent_width=2),
)
"""Ruby."""

TYPESCRIPT = replace(
    JAVASCRIPT,
    id="typescript",
    grammar_module="tree_sitter_typescript",
    grammar_function="language_typescript",
    has_sure_errors=True,
    lsp_ids=("ts",),
    extensions=("ts", "mts", "cts"),
    queries=("javascript", "typescript"),
    tokens=replace(JAVASCRIPT.tokens, has_jsx=False),
    names=replace(JAVASCRIPT.names, types_are_values=False),
    recovery=replace(JAVASCRIPT.recovery, signs_between=(b",", b":", b"=", b"=>", b".", b";"), has_type_arguments=True),
    declarations=replace(JAVASCRIPT.declarations, types_follow_colon=True),
    parent="javascript",
    sibling="tsx",
    compiler_command="npx tsc --noEmit 2>&1",
    packages=replace(JAVASCRIPT.packages, language=""),
)
"""TypeScript, which extends JavaScript by types."""

TSX = replace(
    TYPESCRIPT,
    id="tsx",
    grammar_function="language_tsx",
    lsp_ids=("typescriptreact",),
    extensions=("tsx",),
    queries=("javascript", "typescript", "jsx"),
    tokens=replace(TYPESCRIPT.tokens, has_jsx=True),
    parent="typescript",
    dialect_of="typescript",
    sibling="typescript",
    packages=replace(TYPESCRIPT.packages, language="typescript"),
)
"""TypeScript with the elements of JSX, which has a grammar of its own."""

LANGUAGES = (BASH, JAVASCRIPT, LUA, PHP, PYTHON, RUBY, TSX, TYPESCRIPT)
