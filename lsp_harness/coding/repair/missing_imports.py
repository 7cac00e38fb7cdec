"""A missing import: a name that is known elsewhere under just this spelling, and is only not brought into this file.

First as other files of the workspace import it, then what the language comes with. An import is only proposed where the use of
the name agrees with it: what stands behind a module and a dot must be one of its members.
"""

import asyncio
import re
from collections.abc import Iterator

from lsp_harness.coding.repair.expected_name import Wanted, wanted_at
from lsp_harness.coding.repair.import_forms import SCRIPTS, Brought, import_edit
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.context.lookup.import_usage import find_imports
from lsp_harness.knowledge.standard import python_stdlib
from lsp_harness.knowledge.standard.stdlib_tables import load_standard
from lsp_harness.syntax.names.occurrences import find_occurrences
from lsp_harness.syntax.symbols.import_block import find_import_statements

KIND = "import"
ELSEWHERE, MODULE, NAME = 0.15, 0.1, 0.3
"""What an import costs that other files of the workspace have, of a module whose member is used, and of a name of the library."""
NEXT = 0.1
"""What each further module costs that exports the same name."""
COMMON = 0.4
"""What is added for a name that many variables have: it is no name of the library for that alone."""
PRESENT = -0.15
"""What is added for a module that the file imports from already."""
MOST = 4
TAIL = re.compile(r"(?:\.|::|->)(\w+)")
Costed = Iterator[tuple[Brought, float]]


async def missing_import(request: RepairRequest) -> list[Repair]:
    """Imports that make the unknown name known, the likeliest first."""
    subject, tree = request.subject, request.tree
    wanted = wanted_at(tree, subject.span) if subject.name and subject.kind == "name" else None
    if wanted is None or wanted.here.role in ("key", "import") or wanted.here.is_binding or wanted.sigil:
        return []
    name = subject.name
    if wanted.here.role == "member" and not _may_be_brought(wanted):
        return []
    if (
        any(one.is_binding and one.scope_kind == "file" for one in find_occurrences(tree, name))
        and wanted.here.role != "member"
    ):
        return []
    found: dict[Brought, float] = {}
    if request.known and wanted.here.role != "member":
        used = await find_imports(request.known, tree.document.uri, request.path, name, tree.language.id)
        for n, (module, what, alias) in enumerate(used):
            found[Brought(module, what, alias)] = ELSEWHERE + NEXT * n
    # the library of Python is read from its files at the first question
    for brought, cost in await asyncio.to_thread(lambda: [*_of_library(request, wanted, name)]):
        found[brought] = min(cost, found.get(brought, cost))
    repairs: list[Repair] = []
    for brought, cost in sorted(found.items(), key=lambda one: one[1])[:MOST]:
        if edit := import_edit(tree, brought):
            repairs.append(Repair(KIND, (edit,), cost))
    return repairs


def load_library(language: str) -> None:
    """Read what the standard library of a language exports. It takes a moment the first time and is remembered."""
    load_standard(language)
    if language == "python":
        python_stdlib.load_exports()


def _may_be_brought(wanted: Wanted) -> bool:
    """Members that an import brings: extension methods of C#, and names of `std` in C++."""
    return wanted.language == "csharp" or (wanted.language == "cpp" and wanted.here.receiver == "std")


def _of_library(request: RepairRequest, wanted: Wanted, name: str) -> Costed:
    language = wanted.language
    if language == "python":
        yield from _python(request, wanted, name)
    elif language == "go":
        yield from _packages(wanted, name)
    elif language in SCRIPTS:
        yield from _scripts(wanted, name)
    else:
        yield from _exported(wanted, name)


def _python(request: RepairRequest, wanted: Wanted, name: str) -> Costed:
    members = _members(wanted, name)
    present = {one.module for one in find_import_statements(wanted.tree)}
    if python_stdlib.is_module(name) and members:
        known = python_stdlib.find_members(name)
        if members <= known or not known:
            inner = next(
                (f"{name}.{one}" for one in sorted(members) if f"{name}.{one}" in python_stdlib.SUBMODULES), name
            )
            yield Brought(inner if inner != "os.path" else name), MODULE
        elif members & known:
            yield Brought(name), MODULE + COMMON
    if module := load_standard("python").aliases.get(name):
        if python_stdlib.is_module(module) or _is_installed(request, module):
            yield Brought(module, "", name), MODULE + 0.1
    elif not python_stdlib.is_module(name) and members and _is_installed(request, name):
        yield Brought(name), MODULE + 0.2
    for n, module in enumerate(python_stdlib.find_exporting_modules(name)[:MOST]):
        usual = module in python_stdlib.PREFERRED_MODULES
        # `join` or `date` are names of variables as well
        common = COMMON * (name.islower() and not wanted.here.is_called and not name.startswith("default"))
        cost = NAME + NEXT * n + common + (0.0 if usual else 0.35) + PRESENT * (module in present)
        if module == "typing" and wanted.here.suffix.startswith(b"."):
            cost += COMMON
        if not members or wanted.here.is_called or name[:1].isupper() or usual:
            yield Brought(module, name), cost


def _is_installed(request: RepairRequest, module: str) -> bool:
    if request.installed is None or request.root is None:
        return False
    return bool(request.installed.find_release(request.root, "python", module))


def _packages(wanted: Wanted, name: str) -> Costed:
    """Of Go: by the last part of a path, which must export what is used."""
    members = _members(wanted, name)
    table = load_standard("go").modules
    paths = [path for path in table if path.rpartition("/")[2] == name]
    having = [path for path in paths if members and members <= table[path]] or [
        path for path in paths if not table[path] and members
    ]
    for n, path in enumerate(having):
        yield Brought(path), MODULE + NEXT * n / 2


def _scripts(wanted: Wanted, name: str) -> Costed:
    table = load_standard(wanted.language)
    members, present = (
        _members(wanted, name),
        {one.module.removeprefix("node:") for one in find_import_statements(wanted.tree)},
    )
    if (known := table.modules.get(name)) and members and members <= known:
        yield Brought(name), MODULE
    for n, module in enumerate(table.find_exporting_modules(name)):
        here = module in present
        if module == "react" and not here and not wanted.tree.document.uri.endswith("x"):
            continue
        if not here and name.islower() and not wanted.here.is_called:
            continue
        written = next(
            (one.module for one in find_import_statements(wanted.tree) if one.module.removeprefix("node:") == module),
            module,
        )
        yield Brought(written, name), (NAME + PRESENT * here + NEXT * n + COMMON * (name.islower() and not here))


def _exported(wanted: Wanted, name: str) -> Costed:
    """Of the other languages: by the modules that export the name."""
    language, table = wanted.language, load_standard(wanted.language)
    present = {one.module for one in find_import_statements(wanted.tree)}
    if language == "php":
        # in a namespace the names of PHP itself are brought in too
        if (
            name in table.types
            and name[:1].isupper()
            and re.search(r"^[ \t]*namespace\s", wanted.tree.document.text, re.MULTILINE)
        ):
            yield Brought(name), NAME
        return
    if language in ("rust", "ruby") and name in table.types:
        return
    by_name = language in ("rust", "java")
    modules = [one for one in table.find_exporting_modules(name) if by_name or one not in present]
    if language == "cpp":
        # `<cstring>` rather than `<string.h>`
        modules.sort(key=lambda one: (one.endswith(".h"), wanted.here.receiver != "std" and not one.endswith(".h")))
    members = _members(wanted, name)
    if language == "java" and wanted.here.role == "value" and not (members or wanted.here.is_called):
        # a type is no value
        return
    for n, module in enumerate(modules):
        if language == "rust" and module == "std" and not (members and _path_follows(wanted)):
            continue
        if name[:1].islower() and not wanted.here.is_called and language in ("csharp",):
            continue
        yield (
            Brought(module, name if by_name else ""),
            NAME + NEXT * n + COMMON * (wanted.here.role == "member" and language == "csharp"),
        )


def _path_follows(wanted: Wanted) -> bool:
    return wanted.tree.data.startswith(b"::", wanted.here.span.end)


def _members(wanted: Wanted, name: str) -> set[str]:
    """What stands behind the name and a dot, wherever the file has it."""
    found: set[str] = set()
    for one in find_occurrences(wanted.tree, name):
        if one.role in ("value", "type") and (tail := TAIL.match(one.suffix.decode("utf-8", "replace"))):
            found.add(tail[1])
    return found
