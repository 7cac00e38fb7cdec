"""TypeScript with the elements of JSX, which has a grammar of its own."""

from dataclasses import replace

from lsp_harness.languages.scripting.typescript_language import SPEC as TYPESCRIPT

SPEC = replace(
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
