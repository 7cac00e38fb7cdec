"""Repairs that add a missing import: the name exists elsewhere with this spelling, and the file only does not import
it.

Imports of other files of the workspace come first, then the standard library. An import is proposed only if it agrees
with the use of the name: the member that is used of a module must exist in it.
"""

import asyncio
import re
from collections.abc import Iterator

from lsp_harness.coding.repair.import_forms import NewImport, make_import_edit
from lsp_harness.coding.repair.name_place import NamePlace, name_place_at
from lsp_harness.coding.repair.repair import Repair, RepairRequest
from lsp_harness.context.lookup.import_usage import find_imports
from lsp_harness.knowledge.standard import python_stdlib
from lsp_harness.knowledge.standard.stdlib_tables import load_standard
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.symbols.import_block import find_import_statements

KIND = "import"
WORKSPACE_COST, MODULE_COST, NAME_COST = 0.15, 0.1, 0.3
"""Cost of an import of other files, of a module whose member is used, and of a name of the standard library."""
NEXT_MODULE_COST = 0.1
"""Added cost of each further module that exports the same name."""
COMMON_NAME_COST = 0.4
"""Added cost of a name that is common for variables, which is therefore weak evidence of an import."""
IMPORTED_MODULE_COST = -0.15
"""Added cost of a module that the file already imports from."""
MAX_IMPORTS = 4
"""Maximum number of imports that are proposed."""
MEMBER_SUFFIX = re.compile(r"(?:\.|::|->)(\w+)")
CostedImports = Iterator[tuple[NewImport, float]]


async def find_missing_imports(request: RepairRequest) -> list[Repair]:
    """Return imports that bind the unknown name, the most likely first."""
    subject, tree = request.subject, request.tree
    place = name_place_at(tree, subject.span) if subject.name and subject.kind == "name" else None
    if place is None or place.occurrence.role in ("key", "import") or place.occurrence.is_binding or place.has_sigil:
        return []
    name = subject.name
    if place.occurrence.role == "member" and not _may_be_extension(place):
        return []
    if (
        any(occurrence.is_binding and occurrence.scope_kind == "file" for occurrence in find_occurrences(tree, name))
        and place.occurrence.role != "member"
    ):
        return []
    costs: dict[NewImport, float] = {}
    if request.index and place.occurrence.role != "member":
        workspace_imports = await find_imports(request.index, tree.document.uri, request.path, name, tree.language.id)
        for n, (module, imported_name, alias) in enumerate(workspace_imports):
            costs[NewImport(module, imported_name, alias)] = WORKSPACE_COST + NEXT_MODULE_COST * n
    # The first call reads the standard library of Python from its files.
    for new_import, cost in await asyncio.to_thread(lambda: [*_find_in_standard_library(request, place, name)]):
        costs[new_import] = min(cost, costs.get(new_import, cost))
    repairs: list[Repair] = []
    for new_import, cost in sorted(costs.items(), key=lambda item: item[1])[:MAX_IMPORTS]:
        if edit := make_import_edit(tree, new_import):
            repairs.append(Repair(KIND, (edit,), cost))
    return repairs


def load_library(language: LanguageSpec) -> None:
    """Read the exports of a language's standard library. Only the first call for a language takes time."""
    load_standard(language.id)
    if language.imports.reads_interpreter_library:
        python_stdlib.load_exports()


def _may_be_extension(place: NamePlace) -> bool:
    """Return whether an import may add the member: an extension method of C#, or a name of `std` in C++."""
    imports = place.language.imports
    is_in_library = bool(imports.library_namespace) and place.occurrence.receiver == imports.library_namespace
    return imports.has_extension_members or is_in_library


def _find_in_standard_library(request: RepairRequest, place: NamePlace, name: str) -> CostedImports:
    traits = place.language.imports
    if traits.reads_interpreter_library:
        yield from _find_python_imports(request, place, name)
    elif traits.has_import_blocks:
        yield from _find_go_packages(place, name)
    elif traits.has_module_imports:
        yield from _find_script_imports(place, name)
    else:
        yield from _find_exporting_modules(place, name)


def _find_python_imports(request: RepairRequest, place: NamePlace, name: str) -> CostedImports:
    members = _find_used_members(place, name)
    imported_modules = {statement.module for statement in find_import_statements(place.tree)}
    if python_stdlib.is_module(name) and members:
        exported_members = python_stdlib.find_members(name)
        if members <= exported_members or not exported_members:
            submodule = next(
                (f"{name}.{member}" for member in sorted(members) if f"{name}.{member}" in python_stdlib.SUBMODULES),
                name,
            )
            yield NewImport(submodule if submodule != "os.path" else name), MODULE_COST
        elif members & exported_members:
            yield NewImport(name), MODULE_COST + COMMON_NAME_COST
    if module := load_standard(place.language.id).aliases.get(name):
        if python_stdlib.is_module(module) or _is_installed(request, place, module):
            yield NewImport(module, "", name), MODULE_COST + 0.1
    elif not python_stdlib.is_module(name) and members and _is_installed(request, place, name):
        yield NewImport(name), MODULE_COST + 0.2
    for index, module in enumerate(python_stdlib.find_exporting_modules(name)[:MAX_IMPORTS]):
        is_preferred = module in python_stdlib.PREFERRED_MODULES
        # `join` and `date` are common names of variables, too.
        common_cost = COMMON_NAME_COST * (
            name.islower() and not place.occurrence.is_called and not name.startswith("default")
        )
        cost = (
            NAME_COST
            + NEXT_MODULE_COST * index
            + common_cost
            + (0.0 if is_preferred else 0.35)
            + IMPORTED_MODULE_COST * (module in imported_modules)
        )
        if module == "typing" and place.occurrence.suffix.startswith(b"."):
            cost += COMMON_NAME_COST
        if not members or place.occurrence.is_called or name[:1].isupper() or is_preferred:
            yield NewImport(module, name), cost


def _is_installed(request: RepairRequest, place: NamePlace, module: str) -> bool:
    if request.installed is None or request.root is None:
        return False
    return bool(request.installed.find_release(request.root, place.language.id, module))


def _find_go_packages(place: NamePlace, name: str) -> CostedImports:
    """Yield the packages of Go whose path ends with the name and that export the used members."""
    members = _find_used_members(place, name)
    table = load_standard(place.language.id).modules
    paths = [path for path in table if path.rpartition("/")[2] == name]
    matching_paths = [path for path in paths if members and members <= table[path]] or [
        path for path in paths if not table[path] and members
    ]
    for index, path in enumerate(matching_paths):
        yield NewImport(path), MODULE_COST + NEXT_MODULE_COST * index / 2


def _find_script_imports(place: NamePlace, name: str) -> CostedImports:
    table = load_standard(place.language.id)
    members = _find_used_members(place, name)
    imported_modules = {statement.module.removeprefix("node:") for statement in find_import_statements(place.tree)}
    if (exports := table.modules.get(name)) and members and members <= exports:
        yield NewImport(name), MODULE_COST
    for index, module in enumerate(table.find_exporting_modules(name)):
        is_imported = module in imported_modules
        if module == "react" and not is_imported and not place.tree.document.uri.endswith("x"):
            continue
        if not is_imported and name.islower() and not place.occurrence.is_called:
            continue
        spellings = (statement.module for statement in find_import_statements(place.tree))
        spelling = next((spelling for spelling in spellings if spelling.removeprefix("node:") == module), module)
        cost = NAME_COST + IMPORTED_MODULE_COST * is_imported + NEXT_MODULE_COST * index
        yield NewImport(spelling, name), cost + COMMON_NAME_COST * (name.islower() and not is_imported)


def _find_exporting_modules(place: NamePlace, name: str) -> CostedImports:
    """Yield the modules of the other languages that export the name."""
    traits, table = place.language.imports, load_standard(place.language.id)
    imported_modules = {statement.module for statement in find_import_statements(place.tree)}
    if traits.imports_own_types:
        # In a namespace, PHP's own types must be imported, too.
        has_namespace = re.search(r"^[ \t]*namespace\s", place.tree.document.text, re.MULTILINE)
        if name in table.types and name[:1].isupper() and has_namespace:
            yield NewImport(name), NAME_COST
        return
    if traits.has_prelude and name in table.types:
        return
    by_name = traits.imports_single_names
    modules = [module for module in table.find_exporting_modules(name) if by_name or module not in imported_modules]
    if namespace := traits.library_namespace:
        # Prefer `<cstring>` to `<string.h>`.
        modules.sort(
            key=lambda module: (
                module.endswith(".h"),
                place.occurrence.receiver != namespace and not module.endswith(".h"),
            )
        )
    members = _find_used_members(place, name)
    if traits.imports_types_only and place.occurrence.role == "value" and not (members or place.occurrence.is_called):
        # A type is not a value.
        return
    for index, module in enumerate(modules):
        if traits.library_root and module == traits.library_root and not (members and _path_follows(place)):
            continue
        if name[:1].islower() and not place.occurrence.is_called and traits.imports_capitalized_names:
            continue
        yield (
            NewImport(module, name if by_name else ""),
            NAME_COST
            + NEXT_MODULE_COST * index
            + COMMON_NAME_COST * (place.occurrence.role == "member" and traits.has_extension_members),
        )


def _path_follows(place: NamePlace) -> bool:
    return place.tree.data.startswith(b"::", place.occurrence.span.end)


def _find_used_members(place: NamePlace, name: str) -> set[str]:
    """Return the members of the name that the file uses."""
    members: set[str] = set()
    for occurrence in find_occurrences(place.tree, name):
        if occurrence.role in ("value", "type") and (
            tail := MEMBER_SUFFIX.match(occurrence.suffix.decode("utf-8", "replace"))
        ):
            members.add(tail[1])
    return members
