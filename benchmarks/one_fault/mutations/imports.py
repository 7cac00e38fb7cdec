"""Removal of an import that is used.

Only imports that a person could name again without the other files of the project are removed: modules of the standard
libraries, and names from a module from which the text imports other names.
"""

import re
import sys
from collections.abc import Iterator
from random import Random

from benchmarks.one_fault.case import Diagnostic
from benchmarks.one_fault.code import Code, Item
from benchmarks.one_fault.mutations.uses import find_grammar
from benchmarks.one_fault.registry import Candidate, register_mutation
from benchmarks.one_fault.wording import RUST_MODULE, RUST_PATH, RUST_TRAIT, TYPE, VARIABLE, Name, Wording
from lsp_harness.text.edit import Edit

NODE = {"fs", "path", "os", "util", "url", "http", "https", "crypto", "events", "assert", "stream", "zlib", "net"}
ELSEWHERE_TOO = frozenset({"typing", "collections.abc", "typing_extensions"})
"""Modules that have the same names as each other: which one was meant nobody can tell."""
SHARP = {
    "List": "System.Collections.Generic",
    "Dictionary": "System.Collections.Generic",
    "IEnumerable": "System.Collections.Generic",
    "IList": "System.Collections.Generic",
    "IDictionary": "System.Collections.Generic",
    "StringBuilder": "System.Text",
    "Encoding": "System.Text",
    "Regex": "System.Text.RegularExpressions",
    "Stream": "System.IO",
    "TextWriter": "System.IO",
    "StringWriter": "System.IO",
    "Path": "System.IO",
    "File": "System.IO",
    "Task": "System.Threading.Tasks",
    "CultureInfo": "System.Globalization",
    "Assembly": "System.Reflection",
    "MethodInfo": "System.Reflection",
    "BindingFlags": "System.Reflection",
    "ArrayList": "System.Collections",
    "IEnumerator": "System.Collections",
    "Type": "System",
    "Exception": "System",
    "ArgumentNullException": "System",
    "Marshal": "System.Runtime.InteropServices",
    "Process": "System.Diagnostics",
    "Thread": "System.Threading",
}
RUBY = {
    "json": "JSON",
    "set": "Set",
    "date": "Date",
    "yaml": "YAML",
    "pathname": "Pathname",
    "fileutils": "FileUtils",
    "uri": "URI",
    "stringio": "StringIO",
    "ostruct": "OpenStruct",
    "erb": "ERB",
    "tempfile": "Tempfile",
    "securerandom": "SecureRandom",
    "logger": "Logger",
    "forwardable": "Forwardable",
    "singleton": "Singleton",
    "open3": "Open3",
    "benchmark": "Benchmark",
    "socket": "Socket",
    "zlib": "Zlib",
    "optparse": "OptionParser",
    "shellwords": "Shellwords",
    "timeout": "Timeout",
    "monitor": "Monitor",
    "delegate": "SimpleDelegator",
    "time": "Time",
    "digest": "Digest",
    "rbconfig": "RbConfig",
    "io/console": "IO",
    "strscan": "StringScanner",
    "tsort": "TSort",
    "observer": "Observable",
    "bigdecimal": "BigDecimal",
    "net/http": "Net",
    "openssl": "OpenSSL",
    "weakref": "WeakRef",
    "tmpdir": "Dir",
    "etc": "Etc",
    "pstore": "PStore",
    "open-uri": "URI",
    "English": "English",
    "abbrev": "Abbrev",
    "pp": "PP",
    "rexml/document": "REXML",
    "racc/parser": "Racc",
}


def _remove_line(code: Code, item: Item) -> Edit | None:
    """Return the removal of a statement with its line, or None if the line has other code."""
    return Edit(*code.line_of(item.start), b"") if code.alone(item) else None


def _find_first_use(code: Code, name: str, edit: Edit, types: set[str]) -> Item | None:
    """Return the first place outside of the edit where a name is read."""
    for item in code.leaves:
        inside = edit.start <= item.start < edit.end
        if not inside and item.type in types and item.text == name and item.field not in ("field", "property"):
            return item
    return None


def _make_candidate(code: Code, edit: Edit, use: Item, wording: Wording, imported: str) -> Candidate:
    start = use.start - (edit.end - edit.start if use.start >= edit.end else 0) + len(edit.new)
    length = use.end - use.start
    diagnostic = Diagnostic(start, start + length, wording.message, wording.source, wording.code, wording.severity)
    return Candidate(edit, "parses", diagnostic, facts={"name": use.text, "import": imported})


@register_mutation("missing_import", "python")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    found = [item for item in code.items if item.type in ("import_statement", "import_from_statement")]
    for item in rng.sample(found, len(found)):
        if item.parent is not code.root or "\n" in item.text:
            continue
        facts = {"import": item.text}
        if item.type == "import_statement":
            modules = [child.text for child in item.named() if child.field == "name"]
            if len(modules) == 1 and _is_known(modules[0].partition(" ")[0]) and (edit := _remove_line(code, item)):
                yield Candidate(edit, "ruff", expected=("F821",), facts=facts)
            continue
        module, names = item.child("module_name"), [child for child in item.children if child.field == "name"]
        if module is None or not names or module.text in ELSEWHERE_TOO or module.text == "__future__":
            continue
        if len(names) > 1:
            # the module is still named by what else comes from it
            one = rng.choice(names)
            start, end = (
                (one.start, names[names.index(one) + 1].start) if one is not names[-1] else (names[-2].end, one.end)
            )
            yield Candidate(Edit(start, end, b""), "ruff", expected=("F821",), facts=facts | {"name": one.text})
        elif _is_known(module.text) and (edit := _remove_line(code, item)):
            yield Candidate(edit, "ruff", expected=("F821",), facts=facts)


def _is_known(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


@register_mutation("missing_import", "javascript", "typescript")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    for item in code.root.children:
        match = re.fullmatch(
            r"(?:const|var|let) (\w+) = require\(['\"](?:node:)?([\w/]+)['\"]\);?"
            r"|import (?:\* as )?(\w+) from ['\"](?:node:)?([\w/]+)['\"];?",
            item.text,
        )
        module = match and (match[2] or match[4])
        edit = _remove_line(code, item)
        if match and module in NODE and edit:
            name = match[1] or match[3]
            if use := _find_first_use(code, name, edit, {"identifier"}):
                yield _make_candidate(code, edit, use, VARIABLE[code.language.id](Name(name, name), rng), item.text)
    yield from _remove_one_of_several(code, rng)


def _remove_one_of_several(code: Code, rng: Random) -> Iterator[Candidate]:
    """Yield candidates that remove one of several imported names of a module."""
    lists = [item for item in code.items if item.type in ("named_imports", "object_pattern") and "\n" not in item.text]
    for item in rng.sample(lists, len(lists)):
        statement = item.ancestor("import_statement", "lexical_declaration")
        names = [child for child in item.named() if child.text.isidentifier()]
        top = statement and statement.parent is code.root
        if not statement or not top or len(names) < 2 or len(names) != len(item.named()):
            continue
        if statement.type != "import_statement" and "require(" not in statement.text:
            continue
        at = rng.randrange(len(names))
        last = at == len(names) - 1
        edit = Edit(names[at - 1].end, names[at].end, b"") if last else Edit(names[at].start, names[at + 1].start, b"")
        use = _find_first_use(code, names[at].text, edit, {"identifier", "type_identifier"})
        if use and code.words[use.text] > 1:
            wording = VARIABLE[code.language.id](Name(use.text, use.text), rng)
            yield _make_candidate(code, edit, use, wording, statement.text)


@register_mutation("missing_import", "go")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    specs = [item for item in code.items if item.type == "import_spec" and not item.child("name")]
    for item in rng.sample(specs, len(specs)):
        path = item.text.strip('"')
        statement = item.parent if item.parent and item.parent.type == "import_declaration" else item
        edit = _remove_line(code, statement)
        name = path.rpartition("/")[2]
        if (
            edit
            and "." not in path
            and (use := _find_first_use(code, name, edit, {"identifier", "package_identifier"}))
        ):
            yield _make_candidate(code, edit, use, VARIABLE["go"](Name(name, name), rng), path)


@register_mutation("missing_import", "rust")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    uses = [item for item in code.root.children if item.type == "use_declaration"]
    for item in rng.sample(uses, len(uses)):
        match = re.fullmatch(r"use (?:std|core|alloc)::[\w:]+::([A-Z]\w+);", item.text)
        module = re.fullmatch(r"use std::(?:\w+::)?([a-z]+);", item.text)
        edit = _remove_line(code, item)
        use = _find_first_use(code, module[1], edit, {"identifier"}) if module and edit else None
        if module and edit and use and use.field == "path":
            yield _make_candidate(code, edit, use, RUST_MODULE(Name(module[1], module[1]), rng), item.text)
        if match and edit and (use := _find_first_use(code, match[1], edit, {"type_identifier", "identifier"})):
            path = use.parent is not None and use.parent.type == "scoped_identifier"
            trait = use.field == "trait" or (use.parent is not None and use.parent.type == "trait_bounds")
            say = RUST_PATH if path else RUST_TRAIT if trait else TYPE["rust"]
            yield _make_candidate(code, edit, use, say(Name(match[1], match[1]), rng), item.text)


@register_mutation("missing_import", "java")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    found = [item for item in code.root.children if item.type == "import_declaration"]
    for item in rng.sample(found, len(found)):
        match = re.fullmatch(r"import (java\.(?:util|io|net|nio|time|lang|math|text)[\w.]*)\.([A-Z]\w*);", item.text)
        edit = _remove_line(code, item)
        if match and edit and (use := _find_first_use(code, match[2], edit, {"type_identifier"})):
            yield _make_candidate(code, edit, use, TYPE["java"](Name(match[2], match[2]), rng), item.text)


@register_mutation("missing_import", "csharp")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    for item in rng.sample(code.items, len(code.items)):
        match = re.fullmatch(r"using ([\w.]+);", item.text) if item.type == "using_directive" else None
        edit = _remove_line(code, item)
        if match is None or edit is None:
            continue
        for use in code.leaves:
            typed = use.type == "identifier" and SHARP.get(use.text) == match[1]
            if typed and use.parent and use.parent.type in (*find_grammar(code).types, "generic_name"):
                generic = use.parent.type == "generic_name" and use.parent.text.count(",") + 1
                shown = f"{use.text}<{',' * (generic - 1)}>" if generic else use.text
                yield _make_candidate(code, edit, use, TYPE["csharp"](Name(shown, use.text), rng), item.text)
                break


@register_mutation("missing_import", "php")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    """Yield removed imports of Java; types without a known package are left out."""
    found = [item for item in code.items if item.type == "namespace_use_declaration"]
    space = next((item.child("name") for item in code.items if item.type == "namespace_definition"), None)
    for item in rng.sample(found, len(found)):
        match = re.fullmatch(r"use ((?:[\w]+\\)*)([A-Z]\w+);", item.text)
        edit = _remove_line(code, item)
        siblings = match and match[1] and re.findall(rf"use {re.escape(match[1])}\w+;", code.data.decode())
        if match is None or edit is None or (siblings is not None and match[1] and len(siblings) < 2):
            continue
        if use := _find_first_use(code, match[2], edit, {"name"}):
            around = f"{space.text}\\" if space else ""
            yield _make_candidate(code, edit, use, TYPE["php"](Name(match[2], match[2], around), rng), item.text)


@register_mutation("missing_import", "ruby")
def _(code: Code, rng: Random) -> Iterator[Candidate]:
    calls = [item for item in code.root.children if item.type == "call"]
    for item in rng.sample(calls, len(calls)):
        match = re.fullmatch(r"require ['\"]([\w/]+)['\"]", item.text)
        edit = _remove_line(code, item)
        if match and edit and match[1] in RUBY:
            name = RUBY[match[1]]
            if use := _find_first_use(code, name, edit, {"constant"}):
                yield _make_candidate(code, edit, use, TYPE["ruby"](Name(name, name), rng), item.text)
