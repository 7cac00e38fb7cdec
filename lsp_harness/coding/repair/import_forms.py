"""The form of an import in each language, and the edit that adds it to a file."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from lsp_harness.context.lookup.import_list import SORT_KEYS
from lsp_harness.knowledge import python_stdlib
from lsp_harness.knowledge.stdlib_tables import load_standard
from lsp_harness.languages.language_table import shipped_languages
from lsp_harness.languages.traits import ImportForm
from lsp_harness.syntax.symbols.import_block import ImportStatement, find_import_statements, insert_import
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, encode

IMPORT_LISTS: Mapping[ImportForm, re.Pattern[str]] = {
    "from-import": re.compile(
        r"\Afrom\s+(?P<module>[\w.]+)\s+import\s*(?P<open>\()?(?P<names>[^()*]+)\)?\Z", re.DOTALL
    ),
    "module-import": re.compile(
        r"\A(?:import\s+(?:[\w$]+\s*,\s*)?(?P<open>\{)(?P<names>[^{}]*)\}\s*from\s*[\"'](?P<module>[^\"']+)[\"'];?"
        r"|(?:const|let|var)\s*(?P<open2>\{)(?P<names2>[^{}]*)\}"
        r"\s*=\s*require\([\"'](?P<module2>[^\"']+)[\"']\);?)\Z"
    ),
    "use-tree": re.compile(r"\Ause\s+(?P<module>[\w:]+)::(?P<open>\{)(?P<names>[^{}]*)\};\Z"),
}
"""Statements with a list of names of one module."""


@dataclass(frozen=True, slots=True)
class NewImport:
    """An import that binds an unknown name.

    Attributes:
        module: The name of the module.
        name: The name that is imported from the module. Empty if the module itself is imported.
        alias: The name that the import binds instead. Empty if there is none.
    """

    module: str
    name: str = ""
    alias: str = ""


def make_import_edit(tree: SyntaxTree, new_import: NewImport) -> Edit | None:
    """Return the edit that adds an import, or None if the language has no import.

    The name goes into the list of an existing statement for the module. Otherwise it gets a statement of its own.
    """
    traits, statements = tree.language.imports, find_import_statements(tree)
    if new_import.name and traits.form in IMPORT_LISTS and (edit := _extend_list(tree, statements, new_import)):
        return edit
    if traits.has_import_blocks:
        return _go_edit(tree, statements, new_import)
    form = STATEMENT_FORMS.get(traits.form)
    text = form(statements, new_import) if form else ""
    if not text:
        return None
    rank = GROUP_RANKS.get(traits.form, _same_group)
    ranked_statements = [replace(statement, rank=rank(statement.module, statement.text)) for statement in statements]
    module = (
        ".".join(filter(None, (new_import.module, new_import.name)))
        if traits.imports_single_names
        else new_import.module
    )
    return insert_import(tree, ImportStatement(Span(0, 0), text, module, rank(module, text)), ranked_statements)


def _extend_list(tree: SyntaxTree, statements: Iterable[ImportStatement], new_import: NewImport) -> Edit | None:
    for statement in statements:
        match = IMPORT_LISTS[tree.language.imports.form].match(statement.text)
        groups = match.groupdict() if match else {}
        module = groups.get("module") or groups.get("module2")
        if not match or module != new_import.module or statement.text.startswith("import type"):
            continue
        part = "names" if groups.get("names") is not None else "names2"
        if "#" in groups[part] or "//" in groups[part]:
            continue
        return _insert_name(statement, match, part, bool(groups.get("open") or groups.get("open2")), new_import)
    return None


def _insert_name(
    statement: ImportStatement, match: re.Match[str], part: str, has_brackets: bool, new_import: NewImport
) -> Edit:
    """Return the edit that inserts the name into a list of names, and keeps the order of the list."""
    name_list = match[part]
    joint = ": " if part == "names2" else " as "
    spelling = f"{new_import.name}{joint}{new_import.alias}" if new_import.alias else new_import.name
    list_start = statement.span.start + len(encode(statement.text[: match.start(part)]))
    items = [(match.start(), match.end(), match[0]) for match in re.finditer(r"[^\s,][^,]*?(?=\s*(?:,|\Z))", name_list)]
    names = [item[2].split()[0].split(":")[0] for item in items]
    key = next((order for order in SORT_KEYS if [*map(order, names)] == sorted(map(order, names))), None)
    index = next((n for n, name in enumerate(names) if key and key(name) > key(new_import.name)), len(names))
    is_multiline = has_brackets and "\n" in name_list
    if not items:
        return Edit(
            list_start, list_start + len(encode(name_list)), encode(f" {spelling} " if has_brackets else spelling)
        )
    if index < len(items):
        start = items[index][0]
        indent = name_list[name_list.rfind("\n", 0, start) + 1 : start]
        has_own_line = is_multiline and not indent.strip()
        offset = list_start + len(encode(name_list[:start]))
        return Edit(offset, offset, encode(f"{spelling},\n{indent}" if has_own_line else f"{spelling}, "))
    start, end, _ = items[-1]
    indent = name_list[name_list.rfind("\n", 0, start) + 1 : start]
    offset = list_start + len(encode(name_list[:end]))
    return Edit(
        offset, offset, encode(f",\n{indent}{spelling}" if is_multiline and not indent.strip() else f", {spelling}")
    )


def _go_edit(tree: SyntaxTree, statements: Sequence[ImportStatement], new_import: NewImport) -> Edit:
    """Return the edit that adds an import to the sorted group of its kind. A single import becomes a block."""
    spec = f'{new_import.alias} "{new_import.module}"' if new_import.alias else f'"{new_import.module}"'
    newline = tree.document.newline
    block = next((statement for statement in statements if "(" in statement.text), None)
    if block is None:
        if not statements:
            return insert_import(tree, ImportStatement(Span(0, 0), f"import {spec}", new_import.module), [])
        lone_spec = statements[0].text.removeprefix("import").strip()
        specs = sorted([lone_spec, spec], key=lambda spec: spec.split('"')[1])
        lines = "".join(f"\t{line}{newline}" for line in specs)
        return Edit(*statements[0].span, encode(f"import ({newline}{lines})"))
    specs = [
        (match.start(), match.end(), match[1])
        for match in re.finditer(r"(?m)^[ \t]*(?:[\w.]+[ \t]+)?\"([^\"]+)\"[^\n]*\n?", block.text)
    ]
    group = [item for item in specs if _go_rank(item[2]) == _go_rank(new_import.module)] or specs
    next_spec = next((item for item in group if item[2] > new_import.module), None)
    insertion = next_spec[0] if next_spec else group[-1][1] if group else block.text.rfind(")")
    offset = block.span.start + len(encode(block.text[:insertion]))
    return Edit(offset, offset, encode(f"\t{spec}{newline}"))


def _go_rank(module: str) -> int:
    return int("." in module.split("/")[0])


def _python_statement(statements: Sequence[ImportStatement], new_import: NewImport) -> str:
    alias = f" as {new_import.alias}" if new_import.alias else ""
    if new_import.name:
        return f"from {new_import.module} import {new_import.name}{alias}"
    return f"import {new_import.module}{alias}"


def _script_statement(statements: Sequence[ImportStatement], new_import: NewImport) -> str:
    """Return an import in the style of the file: `import` or `require`, its quotes, and `node:` if it uses that."""
    require_statements = [statement for statement in statements if "require(" in statement.text]
    last_text = statements[-1].text if statements else ""
    quote = "'" if last_text.count("'") > last_text.count('"') else '"'
    if not statements:
        quote = '"'
    end = "" if statements and not any(statement.text.endswith(";") for statement in statements) else ";"
    may_be_builtin = not new_import.module.startswith((".", "@", "/", "node:", "react"))
    is_builtin = new_import.module.split("/")[0] in _builtin_modules()
    module = new_import.module
    if may_be_builtin and is_builtin and any(statement.module.startswith("node:") for statement in statements):
        module = f"node:{module}"
    name = (
        f"{{ {new_import.name} }}"
        if new_import.name
        else new_import.alias or new_import.module.split("/")[-1].replace("-", "_")
    )
    if len(require_statements) * 2 > len(statements):
        keyword = require_statements[-1].text.split()[0]
        return f"{keyword} {name} = require({quote}{module}{quote}){end}"
    has_star = not new_import.name and any(
        re.match(r"import\s+\*\s+as", statement.text)
        for statement in statements
        if not statement.module.startswith(".")
    )
    return f"import {'* as ' if has_star else ''}{name} from {quote}{module}{quote}{end}"


@cache
def _builtin_modules() -> frozenset[str]:
    """Return the modules that come with the run-time system of languages with module imports."""
    languages = [language for language in shipped_languages() if language.imports.has_module_imports]
    modules = {module.partition("/")[0] for language in languages for module in load_standard(language.id).modules}
    return frozenset(modules - {"react"})


def _rust_statement(statements: Sequence[ImportStatement], new_import: NewImport) -> str:
    name = f"::{new_import.name}" if new_import.name else ""
    alias = f" as {new_import.alias}" if new_import.alias else ""
    return f"use {new_import.module}{name}{alias};"


def _ruby_statement(statements: Sequence[ImportStatement], new_import: NewImport) -> str:
    quote = '"' if any('"' in statement.text for statement in statements) else "'"
    return f"require {quote}{new_import.module}{quote}"


def _include_statement(statements: Sequence[ImportStatement], new_import: NewImport) -> str:
    return f"#include {new_import.module}" if new_import.module.startswith('"') else f"#include <{new_import.module}>"


STATEMENT_FORMS: Mapping[ImportForm, Callable[[Sequence[ImportStatement], NewImport], str]] = {
    "from-import": _python_statement,
    "module-import": _script_statement,
    "type-import": lambda statements, new_import: (
        f"import {new_import.module}{f'.{new_import.name}' if new_import.name else ''};"
    ),
    "using-namespace": lambda statements, new_import: f"using {new_import.module};",
    "use-tree": _rust_statement,
    "use-name": lambda statements, new_import: (
        f"use {new_import.module}{f' as {new_import.alias}' if new_import.alias else ''};"
    ),
    "require-file": _ruby_statement,
    "include": _include_statement,
}
"""Functions that return the text of an import statement, given the statements of the file."""


def _same_group(module: str, text: str) -> int:
    return 0


def _python_rank(module: str, text: str) -> int:
    if module.startswith("__future__"):
        return 0
    return 3 if module.startswith(".") else 1 if module.split(".")[0] in python_stdlib.MODULES else 2


GROUP_RANKS: Mapping[ImportForm, Callable[[str, str], int]] = {
    "from-import": _python_rank,
    "module-import": lambda module, text: (
        2 if module[:1] in "./" else 0 if module.removeprefix("node:").split("/")[0] in _builtin_modules() else 1
    ),
    "type-import": lambda module, text: 1 if text.startswith("import static") else 0,
    "using-namespace": lambda module, text: 1 if "=" in text or text.startswith("using static") else 0,
    "use-tree": lambda module, text: (
        0 if re.match(r"(?:std|core|alloc)\b", module) else 2 if re.match(r"(?:crate|self|super)\b", module) else 1
    ),
    "use-name": lambda module, text: 1 if re.match(r"use (?:function|const) ", text) else 0,
    "require-file": lambda module, text: 1 if text.startswith("require_relative") else 0,
    "include": (lambda module, text: 1 if '"' in text else 0),
}
"""Functions that return the rank of a statement's group from its module and text. The standard library comes first."""
