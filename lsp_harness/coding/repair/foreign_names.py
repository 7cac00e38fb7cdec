"""Names that a file does not show: what the modules that it imports export, the parameters of what it calls, and the index."""

import asyncio
import re
from collections.abc import Collection

from lsp_harness.coding.repair.expected_name import Wanted
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.coding.repair.spelling_cost import similar
from lsp_harness.index.query.name_lookup import LengthRange
from lsp_harness.knowledge.standard import python_stdlib
from lsp_harness.knowledge.standard.stdlib_tables import load_standard
from lsp_harness.syntax.names.calls import Call, Parameter, find_calls_around, find_parameters, parse_parameters
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.scope import find_imports
from lsp_harness.syntax.symbols.declarations import Import, find_declarations
from lsp_harness.text.position import encode

INDEXED = 0.4
"""What is added for a name that another file of the workspace has."""
SHARING = frozenset({"go", "java", "csharp", "php", "ruby", "c", "cpp"})
"""Languages in which a file may use what another one declares without naming it in an import."""
MEMBERS = ("method", "field", "property", "member", "function", "constant", "variable")
PARAMETER = re.compile(r"[(,*]?\s*([^\W\d]\w*)\s*(?=[:=,)])")
CLASS = re.compile(
    r"(?:class|type|for|of) [\"'`]+(?:type\[)?([\w.\[\]]+?)\]?\*?[\"'`]|^[\"'`]([\w.]+)[\"'`] object has no"
)
"""The class that a message says an attribute is not of."""
SCRIPTS = frozenset({"javascript", "typescript", "tsx"})


def exported_names(request: RepairRequest, wanted: Wanted, name: str) -> Collection[str]:
    """The names that may stand in the place of a member or an imported name, by the module it is of."""
    if wanted.here.role == "import":
        return _importable(request, wanted, name)
    module = _module_of(wanted, wanted.here.receiver)
    if module:
        return _exports(request, wanted, module, name)
    return _of_class(request, wanted) if wanted.language == "python" else ()


def _of_class(request: RepairRequest, wanted: Wanted) -> Collection[str]:
    """The members of a class of Python's library that the message names, where this file imports that class."""
    for said in (one for pair in CLASS.findall(request.finding.message) for one in pair if one):
        named = said.split("[")[0].rpartition(".")[2]
        for module in python_stdlib.find_exporting_modules(named):
            if _module_of(wanted, named) or re.search(rf"\b{re.escape(module)}\b", wanted.tree.document.text):
                return python_stdlib.find_class_members(module, named)
    return ()


def _importable(request: RepairRequest, wanted: Wanted, name: str) -> Collection[str]:
    """What the statement may import: a name of its module, or a module."""
    span = _line(wanted)
    _, brought = find_declarations(wanted.tree.language, wanted.tree.data, wanted.tree.root, span)
    inside = [one for one in brought if span[0] <= one.start < span[1]]
    named = next((one for one in inside if one.name == name), None)
    # a name that the file uses and binds nowhere else is likely the one that should be imported
    unbound = {other for other, _ in similar(name, _used(wanted)) if _is_unbound(wanted, other)}
    if named:
        return unbound | set(_exports(request, wanted, named.module, name))
    modules = (
        python_stdlib.MODULES | set(python_stdlib.SUBMODULES)
        if wanted.language == "python"
        else load_standard(wanted.language).modules
    )
    parts = {part for module in modules for part in re.split(r"[./]|::", module)}
    return unbound | parts


def _exports(request: RepairRequest, wanted: Wanted, module: str, name: str) -> Collection[str]:
    if wanted.language == "python" and python_stdlib.is_module(module):
        return python_stdlib.find_members(module)
    if known := load_standard(wanted.language).find_exports(module):
        return known
    if request.installed and request.root and module[:1] not in (".", "/"):
        near = request.file.parent if request.file else None
        absent = request.installed.find_absent(request.root, wanted.language, module, name, importer_folder=near)
        return [one.name.rpartition(".")[2] for one in absent.nearest] if absent else ()
    return ()


def _module_of(wanted: Wanted, receiver: str) -> str:
    """The module that a name before a dot stands for; empty where it stands for none."""
    if not re.fullmatch(r"[\w.:\\]+", receiver):
        return ""
    first, *rest = re.split(r"\.|::", receiver)
    if wanted.language == "rust" and first == "std":
        return receiver
    for one in _imports(wanted, first):
        if (module := _brought(one, first, wanted.language)) is not None:
            return ("::" if wanted.language == "rust" else ".").join(filter(None, (module, *rest)))
    return ""


def _imports(wanted: Wanted, name: str) -> list[Import]:
    """What is imported at the top of the file, and on the line where a name is bound."""
    tree, document = wanted.tree, wanted.tree.document
    spans = find_imports(tree)
    parts = [(spans[0].start, spans[-1].end)] if spans else []
    bound = next((one for one in find_occurrences(tree, name) if one.is_binding), None)
    parts += [document.line_span(document.line_of(bound.span.start))] if bound else []
    return [one for part in parts for one in find_declarations(tree.language, tree.data, tree.root, part)[1]]


def _brought(one: Import, first: str, language: str) -> str | None:
    """The module that an import binds to a name; None where it binds another one."""
    called = one.alias or one.name or re.split(r"[./]|::", one.module)[-1]
    if language == "python" and not one.alias and not one.name:
        # `import os.path` binds `os`
        called = one.module.split(".")[0]
        return called if called == first else None
    if called != first:
        return None
    if not one.name:
        return one.module
    separator = "::" if language == "rust" else "."
    return f"{one.module}{separator}{one.name}" if language in ("python", "rust") else None


def imported_names(wanted: Wanted) -> Collection[str]:
    """The names of the standard library that the file sees by importing all of a module: `using System.IO;`, `import java.util.*;`."""
    table = load_standard(wanted.language)
    if wanted.language not in ("java", "csharp", "c", "cpp"):
        return ()
    text = wanted.tree.document.text
    found: set[str] = set()
    for module, names in table.modules.items():
        if re.search(
            rf"^\s*(?:using\s+{re.escape(module)}\s*;|import\s+{re.escape(module)}\.\*|#\s*include\s*<{re.escape(module)}>)",
            text,
            re.MULTILINE,
        ):
            found |= names
    return found


async def parameter_names(request: RepairRequest, wanted: Wanted) -> Collection[str]:
    """The parameters of the function whose call the place is in: of this file, or of the index."""
    for call in find_calls_around(wanted.tree, wanted.here.span):
        if own := find_parameters(wanted.tree, call.name):
            return {one.name for listed in own for one in listed}
        if indexed := {one.name for listed in await indexed_parameters(request, call.name) for one in listed}:
            return indexed
        return await asyncio.to_thread(_documented, request, wanted, call)
    return ()


def _documented(request: RepairRequest, wanted: Wanted, call: Call) -> Collection[str]:
    """The parameters of a function of an installed package, by the signature that is written there."""
    written = f"{call.receiver}.{call.name}" if call.receiver else call.name
    module = _module_of(wanted, written)
    if request.installed is None or request.root is None or not module:
        return ()
    near = request.file.parent if request.file else None
    found = request.installed.find_documentation(
        request.root, wanted.language, *module.rpartition(".")[::2], importer_folder=near
    )
    signature = (found.constructor or found.signature) if found else ""
    return set(PARAMETER.findall(signature.partition("(")[2]))


async def indexed_parameters(request: RepairRequest, name: str) -> list[tuple[Parameter, ...]]:
    """The parameters of the functions of a name that other files declare."""
    if request.known is None or not name:
        return []
    language = request.tree.language
    texts = await request.known.function_texts(request.tree.document.uri, name, language.id)
    return [listed for text in texts for listed in parse_parameters(language, encode(text), name)]


async def indexed_names(request: RepairRequest, wanted: Wanted, name: str) -> dict[str, float]:
    """The nearest names that other files of the workspace declare and this place can have."""
    role, language = wanted.here.role, wanted.language
    if request.known is None or wanted.sigil or role in ("key", "import"):
        return {}
    if role != "member" and language not in SHARING:
        return {}
    alike = {"typescript": "tsx", "tsx": "typescript", "cpp": "c", "c": "cpp"}.get(language, language)
    lengths = LengthRange((language, alike), len(name) - 2, len(name) + 2)
    declared = await request.known.names_by_length(request.tree.document.uri, lengths)
    fitting = {item.name for item in declared if item.kind in MEMBERS or role != "member"}
    return {other: cost + INDEXED for other, cost in similar(name, fitting)}


def _used(wanted: Wanted) -> set[str]:
    return set(re.findall(r"[^\W\d]\w*", wanted.tree.document.text))


def _is_unbound(wanted: Wanted, name: str) -> bool:
    found = [*find_occurrences(wanted.tree, name)]
    return any(one.role in ("value", "type") for one in found) and not any(one.is_binding for one in found)


def _line(wanted: Wanted) -> tuple[int, int]:
    document = wanted.tree.document
    return document.line_span(document.line_of(wanted.at))
