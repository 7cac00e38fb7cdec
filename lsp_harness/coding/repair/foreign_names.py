"""Names from outside a file: exports of the imported modules, parameters of the called functions, and the index."""

import asyncio
import re
from collections.abc import Collection

from lsp_harness.coding.repair.name_place import NamePlace
from lsp_harness.coding.repair.repair import RepairRequest
from lsp_harness.coding.repair.spelling_cost import find_similar
from lsp_harness.index.query.name_lookup import LengthRange
from lsp_harness.knowledge import python_stdlib
from lsp_harness.knowledge.stdlib_tables import load_standard
from lsp_harness.languages.traits import ImportTraits
from lsp_harness.syntax.names.calls import Call, Parameter, find_calls_around, find_parameters, parse_parameters
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.scope import find_imports
from lsp_harness.syntax.symbols.declarations import Import, find_declarations
from lsp_harness.text.position import encode

INDEX_COST = 0.4
"""Added cost of a name that another file of the workspace declares."""
MEMBER_KINDS = ("method", "field", "property", "member", "function", "constant", "variable")
PARAMETER_NAME = re.compile(r"[(,*]?\s*([^\W\d]\w*)\s*(?=[:=,)])")
CLASS_MESSAGE = re.compile(
    r"(?:class|type|for|of) [\"'`]+(?:type\[)?([\w.\[\]]+?)\]?\*?[\"'`]|^[\"'`]([\w.]+)[\"'`] object has no"
)
"""A message that an attribute does not belong to a class. The groups are the name of the class."""


def find_exported_names(request: RepairRequest, place: NamePlace, name: str) -> Collection[str]:
    """Return the names that the module of a receiver or of an import statement exports."""
    if place.occurrence.role == "import":
        return _find_importable_names(request, place, name)
    module = _module_of(place, place.occurrence.receiver)
    if module:
        return _find_module_exports(request, place, module, name)
    return _find_class_members(request, place) if place.language.imports.reads_interpreter_library else ()


def _find_class_members(request: RepairRequest, place: NamePlace) -> Collection[str]:
    """Return the members of the class that the message names, if this file imports it from Python's library."""
    for class_name in (group for groups in CLASS_MESSAGE.findall(request.finding.message) for group in groups if group):
        base_name = class_name.split("[")[0].rpartition(".")[2]
        for module in python_stdlib.find_exporting_modules(base_name):
            if _module_of(place, base_name) or re.search(rf"\b{re.escape(module)}\b", place.tree.document.text):
                return python_stdlib.find_class_members(module, base_name)
    return ()


def _find_importable_names(request: RepairRequest, place: NamePlace, name: str) -> Collection[str]:
    """Return the names that the import statement may import: modules, and exports of its module."""
    span = _line_span(place)
    _, imports = find_declarations(place.tree.language, place.tree.data, place.tree.root, span)
    line_imports = [item for item in imports if span[0] <= item.start < span[1]]
    own_import = next((item for item in line_imports if item.name == name), None)
    # The statement probably should import a name that the file uses and does not bind.
    unbound_names = {other for other, _ in find_similar(name, _find_all_names(place)) if _is_unbound(place, other)}
    if own_import:
        return unbound_names | set(_find_module_exports(request, place, own_import.module, name))
    modules = (
        python_stdlib.MODULES | set(python_stdlib.SUBMODULES)
        if place.language.imports.reads_interpreter_library
        else load_standard(place.language.id).modules
    )
    parts = {part for module in modules for part in re.split(r"[./]|::", module)}
    return unbound_names | parts


def _find_module_exports(request: RepairRequest, place: NamePlace, module: str, name: str) -> Collection[str]:
    if place.language.imports.reads_interpreter_library and python_stdlib.is_module(module):
        return python_stdlib.find_members(module)
    if exports := load_standard(place.language.id).find_exports(module):
        return exports
    if request.installed and request.root and module[:1] not in (".", "/"):
        folder = request.file.parent if request.file else None
        absent = request.installed.find_absent(request.root, place.language.id, module, name, importer_folder=folder)
        return [hit.name.rpartition(".")[2] for hit in absent.nearest] if absent else ()
    return ()


def _module_of(place: NamePlace, receiver: str) -> str:
    """Return the module that a receiver denotes, or an empty text if it denotes none."""
    if not re.fullmatch(r"[\w.:\\]+", receiver):
        return ""
    first, *rest = re.split(r"\.|::", receiver)
    imports = place.language.imports
    if imports.library_root and first == imports.library_root:
        return receiver
    for item in _find_imports_of(place, first):
        if (module := _bound_module(item, first, imports)) is not None:
            return imports.separator.join(filter(None, (module, *rest)))
    return ""


def _find_imports_of(place: NamePlace, name: str) -> list[Import]:
    """Return the imports at the top of the file, and those on the line where the name is bound."""
    tree, document = place.tree, place.tree.document
    spans = find_imports(tree)
    byte_ranges = [(spans[0].start, spans[-1].end)] if spans else []
    binding = next((occurrence for occurrence in find_occurrences(tree, name) if occurrence.is_binding), None)
    byte_ranges += [document.line_span(document.line_of(binding.span.start))] if binding else []
    return [
        item
        for byte_range in byte_ranges
        for item in find_declarations(tree.language, tree.data, tree.root, byte_range)[1]
    ]


def _bound_module(item: Import, first: str, traits: ImportTraits) -> str | None:
    """Return the module that an import binds to the name `first`, or None if it binds another name."""
    bound_name = item.alias or item.name or re.split(r"[./]|::", item.module)[-1]
    if traits.binds_first_part and not item.alias and not item.name:
        # `import os.path` binds `os`
        bound_name = item.module.split(".")[0]
        return bound_name if bound_name == first else None
    if bound_name != first:
        return None
    if not item.name:
        return item.module
    return f"{item.module}{traits.separator}{item.name}" if traits.names_may_be_modules else None


def find_wildcard_names(place: NamePlace) -> Collection[str]:
    """Return the names of the standard library that the file imports with whole modules (`import java.util.*;`)."""
    table = load_standard(place.language.id)
    if not place.language.imports.has_whole_module_imports:
        return ()
    text = place.tree.document.text
    imported_names: set[str] = set()
    for module, names in table.modules.items():
        escaped = re.escape(module)
        import_forms = rf"^\s*(?:using\s+{escaped}\s*;|import\s+{escaped}\.\*|#\s*include\s*<{escaped}>)"
        if re.search(import_forms, text, re.MULTILINE):
            imported_names |= names
    return imported_names


async def find_parameter_names(request: RepairRequest, place: NamePlace) -> Collection[str]:
    """Return the parameter names of the function that is called around the place.

    The function may be declared in this file, in the index or in an installed package.
    """
    for call in find_calls_around(place.tree, place.occurrence.span):
        if signatures := find_parameters(place.tree, call.name):
            return {parameter.name for signature in signatures for parameter in signature}
        if names := {
            parameter.name for signature in await find_indexed_parameters(request, call.name) for parameter in signature
        }:
            return names
        return await asyncio.to_thread(_find_documented_parameters, request, place, call)
    return ()


def _find_documented_parameters(request: RepairRequest, place: NamePlace, call: Call) -> Collection[str]:
    """Return the parameter names of a function of an installed package, read from its signature."""
    full_name = f"{call.receiver}.{call.name}" if call.receiver else call.name
    module = _module_of(place, full_name)
    if request.installed is None or request.root is None or not module:
        return ()
    folder = request.file.parent if request.file else None
    documentation = request.installed.find_documentation(
        request.root, place.language.id, *module.rpartition(".")[::2], importer_folder=folder
    )
    signature = (documentation.constructor or documentation.signature) if documentation else ""
    return set(PARAMETER_NAME.findall(signature.partition("(")[2]))


async def find_indexed_parameters(request: RepairRequest, name: str) -> list[tuple[Parameter, ...]]:
    """Return the parameter lists of the functions with this name that other files declare."""
    if request.index is None or not name:
        return []
    language = request.tree.language
    texts = await request.index.function_texts(request.tree.document.uri, name, language.id)
    return [signature for text in texts for signature in parse_parameters(language, encode(text), name)]


async def find_indexed_names(request: RepairRequest, place: NamePlace, name: str) -> dict[str, float]:
    """Return the similar names that other files of the workspace declare and that fit the place, with their costs."""
    role, language = place.occurrence.role, place.language
    if request.index is None or place.has_sigil or role in ("key", "import"):
        return {}
    if role != "member" and not language.imports.shares_declarations:
        return {}
    lengths = LengthRange((language.id, language.sibling or language.id), len(name) - 2, len(name) + 2)
    declared_names = await request.index.names_by_length(request.tree.document.uri, lengths)
    fitting_names = {item.name for item in declared_names if item.kind in MEMBER_KINDS or role != "member"}
    return {other: cost + INDEX_COST for other, cost in find_similar(name, fitting_names)}


def _find_all_names(place: NamePlace) -> set[str]:
    return set(re.findall(r"[^\W\d]\w*", place.tree.document.text))


def _is_unbound(place: NamePlace, name: str) -> bool:
    occurrences = [*find_occurrences(place.tree, name)]
    return any(occurrence.role in ("value", "type") for occurrence in occurrences) and not any(
        occurrence.is_binding for occurrence in occurrences
    )


def _line_span(place: NamePlace) -> tuple[int, int]:
    document = place.tree.document
    return document.line_span(document.line_of(place.offset))
