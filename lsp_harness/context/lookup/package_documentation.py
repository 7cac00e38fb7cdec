"""Lines about the names of installed packages that new code uses.

They correct a model that knows another version of a package.

A name counts if an import leads to it, at any depth (`requests.sessions.Session.get`). Members of an object count if
the same text creates the object from an imported class (`session = Session()`). Names that a package does not have come
first.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.files.secrets import find_secrets
from lsp_harness.knowledge.doc_fragment import AbsentName, DocFragment
from lsp_harness.knowledge.installed_packages import InstalledPackages
from lsp_harness.knowledge.package_source import local_name
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode, encode

MAX_LINES = 3
MAX_LINE_CHARS = 300
MAX_LOOKUPS = 24
"""Most names to look up."""
DOTTED_NAME = re.compile(r"(?<![\w.$:'\"])[^\W\d][\w$]*(?:\s*(?:\.|::)\s*[^\W\d][\w$]*)*")
NAME_SEPARATOR = re.compile(r"\s*(?:\.|::)\s*")
CONSTRUCTOR_CALL = r"\b{}\s*(?::[^=\n]+)?=\s*(?:await\s+)?(?:new\s+)?([^\W\d][\w.]*)\s*\("
CONTEXT_MANAGER = r"\b(?:with|async\s+with)\s+([^\W\d][\w.]*)\s*\([^\n]*\)\s+as\s+{}\b"
REQUIRE_CALL = re.compile(r"\b(?:const|let|var)\s+(?:([\w$]+)|\{([^}]*)\})\s*=\s*require\(\s*[\"']([^\"']+)[\"']\s*\)")


@dataclass(frozen=True, slots=True)
class PackageName:
    """A name in a module of a package, with dots between its parts. The name is empty for the module itself."""

    module: str
    name: str


def describe_package_uses(
    installed: InstalledPackages,
    root: Path,
    file: Path,
    written: Iterable[tuple[Document, str]],
    max_lines: int = MAX_LINES,
) -> list[str]:
    """Return lines about the package names that new code uses, those about missing names first.

    Args:
        installed: The installed packages.
        root: The workspace folder.
        file: The file that the code is for.
        written: Pairs of a whole text and the new part of it.
        max_lines: The most lines to return.
    """
    missing: dict[str, None] = {}
    present: dict[str, None] = {}
    for item in look_up_names(installed, root, file, written):
        if (line := describe_name(item)) and not find_secrets(encode(line)):
            (missing if isinstance(item, AbsentName) else present)[line] = None
    return [*missing, *present][:max_lines]


def look_up_names(
    installed: InstalledPackages, root: Path, file: Path, written: Iterable[tuple[Document, str]]
) -> Iterator[DocFragment | AbsentName]:
    """Yield the documentation of the package names that parts of texts use, in the order of the text.

    The arguments are those of `describe_package_uses`.
    """
    names: set[PackageName] = set()
    for document, part in written:
        tree = parse(document)
        language = tree.language.id if tree else ""
        for name in _find_package_names(tree, part) if tree else ():
            if name in names or len(names) >= MAX_LOOKUPS:
                continue
            names.add(name)
            if item := _look_up(installed, root, language, file.parent, name):
                yield item


def describe_name(item: DocFragment | AbsentName) -> str:
    """Return one line about a name, or an empty text if there is nothing to say."""
    module = "" if item.module in (item.package, "") else f" in {item.module}"
    if isinstance(item, AbsentName):
        nearest = "; ".join(dict.fromkeys(name.usage for name in item.nearest))
        line = f"{item.release} has no {item.name}{module}" + (f"; it has: {nearest}" if nearest else "")
    elif item.kind == "module" or item.usage == item.name:
        return ""
    else:
        overloads = f" (the first of {item.overloads} signatures)" if item.overloads > 1 else ""
        line = f"{item.release} has{module}: {item.usage}{overloads}"
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…"


def _look_up(
    installed: InstalledPackages, root: Path, language: str, folder: Path, name: PackageName
) -> DocFragment | AbsentName | None:
    """Return what the package says about a name. If nothing is known, drop its last part and try again."""
    if documented := installed.find_documentation(root, language, name.module, name.name, importer_folder=folder):
        return documented
    if absent := installed.find_absent(root, language, name.module, name.name, importer_folder=folder):
        return absent
    outer = name.name.rpartition(".")[0]
    return _look_up(installed, root, language, folder, PackageName(name.module, outer)) if outer else None


def _find_package_names(tree: SyntaxTree, part: str) -> Iterator[PackageName]:
    """Yield the names from packages, such as `requests.get`, that a part of the text uses, in the order of the text."""
    imported = _read_imports(tree)
    text = decode(tree.data)
    for match in DOTTED_NAME.finditer(part):
        first, *rest = NAME_SEPARATOR.split(match[0])
        if first not in imported and tree.language.imports.library_root and rest:
            # a path may begin with the name of a crate
            imported[first] = PackageName(first, "")
        if first not in imported and rest and (class_parts := _find_class(first, text)):
            first, *inner = class_parts
            rest = [*inner, *rest]
        if base := imported.get(first):
            name = ".".join(filter(None, (base.name, *rest)))
            if name:
                yield PackageName(base.module, name)


def _find_class(name: str, text: str) -> Sequence[str]:
    """Return the parts of the class that creates the object `name`, if the text says so: `s = requests.Session()`."""
    for pattern in (CONSTRUCTOR_CALL, CONTEXT_MANAGER):
        if match := re.search(pattern.format(re.escape(name)), text):
            return match[1].split(".")
    return ()


def _read_imports(tree: SyntaxTree) -> dict[str, PackageName]:
    """Return the imported things by the name that the text uses, without imports from its own workspace."""
    language = tree.language
    imported: dict[str, PackageName] = {}
    for item in find_declarations(tree.language, tree.data, tree.root)[1]:
        name = local_name(language, item)
        module = item.module.removeprefix("::")
        is_own = module.startswith(".") or module.split("::")[0] in ("crate", "self", "super")
        if not name or item.name == "*" or is_own:
            continue
        if language.imports.form == "use-tree":
            crate, *path = module.split("::")
            imported[name] = PackageName(crate, ".".join([*path, *filter(None, [item.name])]))
        elif language.imports.binds_first_part and not item.name and not item.alias:
            imported[name] = PackageName(name, "")
        else:
            imported[name] = PackageName(module, item.name)
    if language.imports.has_module_imports:
        imported |= _read_require_calls(decode(tree.data))
    return imported


def _read_require_calls(text: str) -> dict[str, PackageName]:
    """Return what JavaScript imports by `require`, by the name that the text uses."""
    imported: dict[str, PackageName] = {}
    for whole, parts, module in REQUIRE_CALL.findall(text):
        if module.startswith("."):
            continue
        if whole:
            imported[whole] = PackageName(module, "")
        for part in filter(None, map(str.strip, parts.split(","))):
            name, _, alias = part.partition(":")
            imported[alias.strip() or name.strip()] = PackageName(module, name.strip())
    return imported
