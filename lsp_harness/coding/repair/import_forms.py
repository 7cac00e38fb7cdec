"""How an import is written in each language, and into which statement of a file it goes."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lsp_harness.context.lookup.import_list import SORT_KEYS
from lsp_harness.knowledge.standard import python_stdlib
from lsp_harness.knowledge.standard.stdlib_tables import load_standard
from lsp_harness.syntax.symbols.import_block import ImportStatement, find_import_statements, insert_import
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, encode

SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
LISTS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(r"\Afrom\s+(?P<module>[\w.]+)\s+import\s*(?P<open>\()?(?P<names>[^()*]+)\)?\Z", re.DOTALL),
    **dict.fromkeys(
        SCRIPTS,
        re.compile(
            r"\A(?:import\s+(?:[\w$]+\s*,\s*)?(?P<open>\{)(?P<names>[^{}]*)\}\s*from\s*[\"'](?P<module>[^\"']+)[\"'];?"
            r"|(?:const|let|var)\s*(?P<open2>\{)(?P<names2>[^{}]*)\}\s*=\s*require\([\"'](?P<module2>[^\"']+)[\"']\);?)\Z"
        ),
    ),
    "rust": re.compile(r"\Ause\s+(?P<module>[\w:]+)::(?P<open>\{)(?P<names>[^{}]*)\};\Z"),
}
"""Statements that list names of one module."""


@dataclass(frozen=True, slots=True)
class Brought:
    """An import that would make a name known: `name` of `module`, or the module itself, by another name where `alias` is given."""

    module: str
    name: str = ""
    alias: str = ""


def import_edit(tree: SyntaxTree, brought: Brought) -> Edit | None:
    """The edit that adds an import: to the list of a statement of its module, else a statement of its own."""
    language, found = tree.language.id, find_import_statements(tree)
    if brought.name and language in LISTS and (edit := _listed(tree, found, brought)):
        return edit
    if language == "go":
        return _go(tree, found, brought)
    form = FORMS.get(language)
    text = form(found, brought) if form else ""
    if not text:
        return None
    rank = RANKS.get(language, _same)
    ranked = [replace(one, rank=rank(one.module, one.text)) for one in found]
    module = ".".join(filter(None, (brought.module, brought.name))) if language in ("java", "rust") else brought.module
    return insert_import(tree, ImportStatement(Span(0, 0), text, module, rank(module, text)), ranked)


def _listed(tree: SyntaxTree, found: Iterable[ImportStatement], brought: Brought) -> Edit | None:
    for one in found:
        match = LISTS[tree.language.id].match(one.text)
        groups = match.groupdict() if match else {}
        module = groups.get("module") or groups.get("module2")
        if not match or module != brought.module or one.text.startswith("import type"):
            continue
        part = "names" if groups.get("names") is not None else "names2"
        if "#" in groups[part] or "//" in groups[part]:
            continue
        return _into(one, match, part, bool(groups.get("open") or groups.get("open2")), brought)
    return None


def _into(one: ImportStatement, match: re.Match[str], part: str, brackets: bool, brought: Brought) -> Edit:
    """The new name between those that are there, in their order."""
    written = match[part]
    joint = ": " if part == "names2" else " as "
    added = f"{brought.name}{joint}{brought.alias}" if brought.alias else brought.name
    begin = one.span.start + len(encode(one.text[: match.start(part)]))
    items = [(found.start(), found.end(), found[0]) for found in re.finditer(r"[^\s,][^,]*?(?=\s*(?:,|\Z))", written)]
    names = [item[2].split()[0].split(":")[0] for item in items]
    key = next((order for order in SORT_KEYS if [*map(order, names)] == sorted(map(order, names))), None)
    place = next((n for n, name in enumerate(names) if key and key(name) > key(brought.name)), len(names))
    lines = brackets and "\n" in written
    if not items:
        return Edit(begin, begin + len(encode(written)), encode(f" {added} " if brackets else added))
    if place < len(items):
        start = items[place][0]
        indent = written[written.rfind("\n", 0, start) + 1 : start]
        alone = lines and not indent.strip()
        at = begin + len(encode(written[:start]))
        return Edit(at, at, encode(f"{added},\n{indent}" if alone else f"{added}, "))
    start, end, _ = items[-1]
    indent = written[written.rfind("\n", 0, start) + 1 : start]
    at = begin + len(encode(written[:end]))
    return Edit(at, at, encode(f",\n{indent}{added}" if lines and not indent.strip() else f", {added}"))


def _go(tree: SyntaxTree, found: Sequence[ImportStatement], brought: Brought) -> Edit:
    """Into the group of the block that has its like, sorted; a lone import becomes a block."""
    spec = f'{brought.alias} "{brought.module}"' if brought.alias else f'"{brought.module}"'
    newline = tree.document.newline
    block = next((one for one in found if "(" in one.text), None)
    if block is None:
        if not found:
            return insert_import(tree, ImportStatement(Span(0, 0), f"import {spec}", brought.module), [])
        own = found[0].text.removeprefix("import").strip()
        specs = sorted([own, spec], key=lambda one: one.split('"')[1])
        lines = "".join(f"\t{one}{newline}" for one in specs)
        return Edit(*found[0].span, encode(f"import ({newline}{lines})"))
    specs = [
        (found.start(), found.end(), found[1])
        for found in re.finditer(r"(?m)^[ \t]*(?:[\w.]+[ \t]+)?\"([^\"]+)\"[^\n]*\n?", block.text)
    ]
    mine = [one for one in specs if _go_rank(one[2]) == _go_rank(brought.module)] or specs
    following = next((one for one in mine if one[2] > brought.module), None)
    at = following[0] if following else mine[-1][1] if mine else block.text.rfind(")")
    offset = block.span.start + len(encode(block.text[:at]))
    return Edit(offset, offset, encode(f"\t{spec}{newline}"))


def _go_rank(module: str) -> int:
    return int("." in module.split("/")[0])


def _python(found: Sequence[ImportStatement], brought: Brought) -> str:
    if brought.name:
        return f"from {brought.module} import {brought.name}" + (f" as {brought.alias}" if brought.alias else "")
    return f"import {brought.module}" + (f" as {brought.alias}" if brought.alias else "")


def _script(found: Sequence[ImportStatement], brought: Brought) -> str:
    """As the file itself imports: by `import` or `require`, with its quotes, and with `node:` where it has that."""
    required = [one for one in found if "require(" in one.text]
    other = found[-1].text if found else ""
    quote = "'" if other.count("'") > other.count('"') else '"'
    if not found:
        quote = '"'
    end = "" if found and not any(one.text.endswith(";") for one in found) else ";"
    builtin = not brought.module.startswith((".", "@", "/", "node:", "react"))
    known = brought.module.split("/")[0] in _BUILTIN
    module = brought.module
    if builtin and known and any(one.module.startswith("node:") for one in found):
        module = f"node:{module}"
    name = f"{{ {brought.name} }}" if brought.name else brought.alias or brought.module.split("/")[-1].replace("-", "_")
    if len(required) * 2 > len(found):
        word = required[-1].text.split()[0]
        return f"{word} {name} = require({quote}{module}{quote}){end}"
    star = not brought.name and any(
        re.match(r"import\s+\*\s+as", one.text) for one in found if not one.module.startswith(".")
    )
    return f"import {'* as ' if star else ''}{name} from {quote}{module}{quote}{end}"


_BUILTIN = frozenset(one.partition("/")[0] for one in load_standard("javascript").modules if one != "react")


def _ruby(found: Sequence[ImportStatement], brought: Brought) -> str:
    quote = '"' if any('"' in one.text for one in found) else "'"
    return f"require {quote}{brought.module}{quote}"


def _include(found: Sequence[ImportStatement], brought: Brought) -> str:
    return f"#include {brought.module}" if brought.module.startswith('"') else f"#include <{brought.module}>"


FORMS: Mapping[str, Callable[[Sequence[ImportStatement], Brought], str]] = {
    "python": _python,
    **dict.fromkeys(SCRIPTS, _script),
    "java": lambda found, brought: f"import {brought.module}{f'.{brought.name}' if brought.name else ''};",
    "csharp": lambda found, brought: f"using {brought.module};",
    "rust": lambda found, brought: (
        f"use {brought.module}{f'::{brought.name}' if brought.name else ''}{f' as {brought.alias}' if brought.alias else ''};"
    ),
    "php": lambda found, brought: f"use {brought.module}{f' as {brought.alias}' if brought.alias else ''};",
    "ruby": _ruby,
    "c": _include,
    "cpp": _include,
}


def _same(module: str, text: str) -> int:
    return 0


def _python_rank(module: str, text: str) -> int:
    if module.startswith("__future__"):
        return 0
    return 3 if module.startswith(".") else 1 if module.split(".")[0] in python_stdlib.MODULES else 2


RANKS: Mapping[str, Callable[[str, str], int]] = {
    "python": _python_rank,
    **dict.fromkeys(
        SCRIPTS,
        lambda module, text: (
            2 if module[:1] in "./" else 0 if module.removeprefix("node:").split("/")[0] in _BUILTIN else 1
        ),
    ),
    "java": lambda module, text: 1 if text.startswith("import static") else 0,
    "csharp": lambda module, text: 1 if "=" in text or text.startswith("using static") else 0,
    "rust": lambda module, text: (
        0 if re.match(r"(?:std|core|alloc)\b", module) else 2 if re.match(r"(?:crate|self|super)\b", module) else 1
    ),
    "php": lambda module, text: 1 if re.match(r"use (?:function|const) ", text) else 0,
    "ruby": lambda module, text: 1 if text.startswith("require_relative") else 0,
    **dict.fromkeys(("c", "cpp"), lambda module, text: 1 if '"' in text else 0),
}
"""The group that a statement belongs to: what comes with the language first."""
