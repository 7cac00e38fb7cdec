"""Result of a case: `right`, `equivalent`, `none`, or `wrong` if another edit was proposed as passed.

`equivalent` texts differ from the true one only in white space between tokens, in the style of quotes, or in the
place and grouping of imports, or, in types of TypeScript, in `,` for `;`.
"""

import ast
import re
from typing import Literal

from benchmarks.one_fault.case import Case
from benchmarks.one_fault.code import Code, Item

Result = Literal["right", "equivalent", "none", "wrong"]
RESULTS: tuple[Result, ...] = ("right", "equivalent", "none", "wrong")
IMPORTS = frozenset(
    {
        "import_statement",
        "import_from_statement",
        "import_declaration",
        "use_declaration",
        "using_directive",
        "namespace_use_declaration",
    }
)
TYPE_BODIES = frozenset({"object_type", "interface_body"})
"""Nodes of TypeScript in which `,` and `;` mean the same."""
REQUIRE = re.compile(r"require(_relative)?\s*\(?\s*['\"]")


def score(case: Case, proposed: str | None) -> Result:
    """Return the result of a proposed text, which is None if no edit was proposed."""
    if proposed is None:
        return "none"
    if _trim_lines(proposed) == _trim_lines(case.truth):
        return "right"
    return (
        "equivalent"
        if _normalize_text(case.language, proposed) == _normalize_text(case.language, case.truth)
        else "wrong"
    )


def _trim_lines(text: str) -> list[str]:
    """Return the lines without white space at their ends, and without empty lines at the end."""
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _normalize_text(language: str, text: str) -> object:
    """Return a form that is the same for equivalent texts."""
    code = Code(language, text.encode())
    if code.broken:
        # of a broken text nothing can be said but itself
        return text
    return _normalize_python(code, text) if language == "python" else _normalize_tokens(code)


def _normalize_python(code: Code, text: str) -> object:
    tree = ast.parse(text)
    imports: list[tuple[object, ...]] = []

    class Without(ast.NodeTransformer):
        def visit_Import(self, node: ast.Import) -> None:
            imports.extend(("import", alias.name, alias.asname) for alias in node.names)

        def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
            imports.extend((node.level, node.module, alias.name, alias.asname) for alias in node.names)

    rest = ast.dump(Without().visit(tree))
    comments = [leaf.text for leaf in code.leaves if leaf.type == "comment"]
    return rest, sorted(imports, key=str), comments


def _normalize_tokens(code: Code) -> object:
    imports, rest = list[tuple[str, ...]](), list[str]()
    waiting = [code.root]
    while waiting:
        item = waiting.pop()
        if _is_import(item):
            imports += _list_imports(item)
        elif item.children and not _is_plain_string(item):
            waiting += reversed(item.children)
        elif item.type in (",", ";") and item.parent and item.parent.type in TYPE_BODIES:
            rest.append(";")
        elif item.end > item.start:
            rest.append(_remove_quotes(item.text) if _is_plain_string(item) else item.text.strip())
    return [token for token in rest if token], sorted(imports)


def _is_plain_string(item: Item) -> bool:
    return (
        "string" in item.type
        and item.text[:1] in "'\""
        and not any("interpolation" in one.type for one in item.children)
    )


def _remove_quotes(text: str) -> str:
    inner = text[1:-1]
    return f'"{inner}"' if text[:1] == text[-1:] and not {"'", '"', "\\"} & set(inner) else text


def _is_import(item: Item) -> bool:
    if item.type in IMPORTS:
        return True
    top = item.parent is not None and item.parent.parent is None
    return (
        top
        and item.type in ("lexical_declaration", "variable_declaration", "call", "expression_statement")
        and bool(REQUIRE.search(item.text))
    )


def _list_imports(item: Item) -> list[tuple[str, ...]]:
    """Return each imported name with its source: `{ a, b }` are two."""
    listed = [
        one for one in item.walk() if one.type in ("named_imports", "object_pattern", "import_spec_list", "use_list")
    ]
    around = item.text
    if not listed:
        specs = [one.text for one in item.walk() if one.type == "import_spec"]
        return [(_remove_spaces(one),) for one in specs or [around]]
    names = [_remove_spaces(one.text) for one in listed[0].named()]
    frame = _remove_spaces(around.replace(listed[0].text, "{}"))
    return [(frame, name) for name in names]


def _remove_spaces(text: str) -> str:
    return re.sub(r"[\s;]+", "", text).replace('"', "'")
