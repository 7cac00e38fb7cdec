"""What a text that was written uses of installed packages, as these have it: lines for a model that knew it otherwise.

Names count that an import is behind, at any length (`requests.sessions.Session.get`), and members of what is made of an imported
class in the same text (`session = Session()`). Names that a package has not come first.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.files.secrets import spans
from lsp_harness.knowledge.doc_fragment import Absent, DocFragment
from lsp_harness.knowledge.installed_packages import Installed
from lsp_harness.knowledge.package_module import local
from lsp_harness.syntax.symbols.declarations import declared
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode, encode

MOST = 3
"""Names that are told of."""
MAX_LINE_CHARS = 300
"""Characters of a line."""
LOOKED_UP = 24
"""Names that are looked up for these."""
CHAIN = re.compile(r"(?<![\w.$:'\"])[^\W\d][\w$]*(?:\s*(?:\.|::)\s*[^\W\d][\w$]*)*")
JOINT = re.compile(r"\s*(?:\.|::)\s*")
MADE = r"\b{}\s*(?::[^=\n]+)?=\s*(?:await\s+)?(?:new\s+)?([^\W\d][\w.]*)\s*\("
OPENED = r"\b(?:with|async\s+with)\s+([^\W\d][\w.]*)\s*\([^\n]*\)\s+as\s+{}\b"
REQUIRED = re.compile(r"\b(?:const|let|var)\s+(?:([\w$]+)|\{([^}]*)\})\s*=\s*require\(\s*[\"']([^\"']+)[\"']\s*\)")
SCRIPTS = frozenset({"javascript", "typescript", "tsx"})


@dataclass(frozen=True, slots=True)
class Used:
    """`name` of a `module`, with dots between its parts; empty for the module itself."""

    module: str
    name: str


def describe_package_uses(
    installed: Installed, root: Path, file: Path, written: Iterable[tuple[Document, str]], most: int = MOST
) -> list[str]:
    """At most so many lines about what is used in parts of texts, each given as the whole text and the part of it."""
    absent: dict[str, None] = {}
    there: dict[str, None] = {}
    for one in look_up_names(installed, root, file, written):
        if (line := describe_name(one)) and not spans(encode(line)):
            (absent if isinstance(one, Absent) else there)[line] = None
    return [*absent, *there][:most]


def look_up_names(
    installed: Installed, root: Path, file: Path, written: Iterable[tuple[Document, str]]
) -> Iterator[DocFragment | Absent]:
    """What is known of the names that parts of texts use, in their order."""
    seen: set[Used] = set()
    for document, part in written:
        tree = parse(document)
        language = tree.language.id if tree else ""
        for one in _used(tree, part) if tree else ():
            if one in seen or len(seen) >= LOOKED_UP:
                continue
            seen.add(one)
            if found := _known(installed, root, language, file.parent, one):
                yield found


def describe_name(one: DocFragment | Absent) -> str:
    """One line about a name; empty where there is nothing to say of it."""
    inside = "" if one.module in (one.package, "") else f" in {one.module}"
    if isinstance(one, Absent):
        nearest = "; ".join(dict.fromkeys(near.called for near in one.nearest))
        line = f"{one.release} has no {one.name}{inside}" + (f"; it has: {nearest}" if nearest else "")
    elif one.kind == "module" or one.called == one.name:
        return ""
    else:
        several = f" (the first of {one.overloads} signatures)" if one.overloads > 1 else ""
        line = f"{one.release} has{inside}: {one.called}{several}"
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…"


def _known(installed: Installed, root: Path, language: str, near: Path, one: Used) -> DocFragment | Absent | None:
    """The name, or what there is in its place; of a longer one what its beginning means, where that is as far as it goes."""
    if found := installed.documented(root, language, one.module, one.name, near=near):
        return found
    if missing := installed.absent(root, language, one.module, one.name, near=near):
        return missing
    outer = one.name.rpartition(".")[0]
    return _known(installed, root, language, near, Used(one.module, outer)) if outer else None


def _used(tree: SyntaxTree, part: str) -> Iterator[Used]:
    """The names of packages in a part of a text, in their order."""
    bound = _bound(tree)
    text = decode(tree.data)
    for match in CHAIN.finditer(part):
        first, *rest = JOINT.split(match[0])
        if first not in bound and tree.language.id == "rust" and rest:
            # a path may begin with a crate
            bound[first] = Used(first, "")
        if first not in bound and rest and (made := _made_of(first, text)):
            first, *inner = made
            rest = [*inner, *rest]
        if one := bound.get(first):
            name = ".".join(filter(None, (one.name, *rest)))
            if name:
                yield Used(one.module, name)


def _made_of(name: str, text: str) -> Sequence[str]:
    """What a thing is made of, where that is written: `s = requests.Session()`."""
    for pattern in (MADE, OPENED):
        if found := re.search(pattern.format(re.escape(name)), text):
            return found[1].split(".")
    return ()


def _bound(tree: SyntaxTree) -> dict[str, Used]:
    """What a text calls the things it imports, those of its own workspace left out."""
    language = tree.language.id
    found: dict[str, Used] = {}
    for one in declared(tree.language, tree.data, tree.root)[1]:
        name = local(language, one)
        module = one.module.removeprefix("::")
        if not name or one.name == "*" or module.startswith(".") or module.split("::")[0] in ("crate", "self", "super"):
            continue
        if language == "rust":
            crate, *path = module.split("::")
            found[name] = Used(crate, ".".join([*path, *filter(None, [one.name])]))
        elif language == "python" and not one.name and not one.alias:
            found[name] = Used(name, "")
        else:
            found[name] = Used(module, one.name)
    if language in SCRIPTS:
        for whole, parts, module in REQUIRED.findall(decode(tree.data)):
            if not module.startswith("."):
                found |= {whole: Used(module, "")} if whole else {}
                for part in filter(None, map(str.strip, parts.split(","))):
                    name, _, alias = part.partition(":")
                    found[alias.strip() or name.strip()] = Used(module, name.strip())
    return found
