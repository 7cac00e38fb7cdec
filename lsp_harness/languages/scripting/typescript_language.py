"""TypeScript, which extends JavaScript by types."""

from dataclasses import replace

from lsp_harness.languages.scripting.javascript_language import SPEC as JAVASCRIPT

SPEC = replace(
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
