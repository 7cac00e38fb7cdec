"""`lsp-harness engine libraries`: the libraries of llama.cpp for the engine: which are here, and which one is used."""

from dataclasses import asdict
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, console, print_json, say
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.errors import LibraryError
from lsp_harness.inference.libraries.library_catalogue import LibraryCard, Machine, find_card, library_cards
from lsp_harness.inference.libraries.library_choice import (
    BINDING,
    COMPILED,
    EngineLibrary,
    find_compiled,
    find_damage,
    find_library,
    libraries_folder,
    library_folder,
    read_selection,
)
from lsp_harness.inference.models.pull_report import format_mib

app = cyclopts.App(name="libraries", help="The libraries of llama.cpp for the engine: list, use and remove them.")


@app.command(name="list")
def list_(
    *,
    all: Annotated[bool, Parameter(negative="", help="Also those for other machines.")] = False,
    json: JsonOption = False,
) -> int:
    """List the libraries for this machine: their state, and which one an engine uses."""
    machine = Machine.read()
    cards = list(library_cards()) if all else machine.list_fitting()
    used, problem = _find_used()
    rows = [_describe_card(card, used) for card in cards]
    if compiled := find_compiled(""):
        state = "used" if used and used.name == COMPILED else "here"
        rows.append(
            {"name": COMPILED, "device": "", "llama_cpp": "", "version": compiled.version, "bytes": 0, "state": state}
        )
    if json:
        print_json(
            {
                "libraries": rows,
                "used": asdict(used) | {"folder": str(used.folder)} if used else None,
                "problem": problem,
            }
        )
        return 0
    from rich.table import Table
    from rich.text import Text

    table = Table("library", "device", "llama.cpp", "download", "state", box=None)
    for row in rows:
        size = format_mib(row["bytes"]) if row["bytes"] else ""
        version = row["llama_cpp"] or f"{BINDING} {row['version']}"
        table.add_row(Text(row["name"]), row["device"], version, size, row["state"])
    if rows:
        console().print(table)
    if used:
        say(f"{used.name} is used: {used.reason}")
    else:
        say(problem)
    return 0


@app.command
def use(
    name: Annotated[str, Parameter(help="A library of the list, or `compiled`. The default fits this machine.")] = "",
    /,
    *,
    quiet: Annotated[bool, Parameter(negative="", help="Show no progress.")] = False,
) -> int:
    """Download a library if it is not here, and use it from the next start of the engine."""
    from lsp_harness.inference.libraries.library_fetch import fetch_library, select_library
    from lsp_harness.inference.models.pull_report import stderr_report

    machine = Machine.read()
    if name == COMPILED:
        find_library(COMPILED)
    else:
        card = find_card(name) if name else _choose_card(machine)
        if card not in machine.list_fitting():
            reason = machine.find_problem() or f"this is {machine.system} on {machine.processor}"
            raise LibraryError(f"the library {card.name} cannot run here: {reason}")
        with stderr_report(quiet=quiet) as report:
            fetch_library(card, report)
    # without a name, nothing is chosen: a later release may have a better one
    select_library(name)
    used = find_library(read_settings().engine.library)
    say(f"{used.name} is used: {used.reason} ({used.folder})")
    return 0


@app.command
def remove(name: Annotated[str, Parameter(help="A library of the list.")], /) -> int:
    """Remove the files of a prebuilt library."""
    from lsp_harness.inference.libraries.library_fetch import remove_library, select_library

    card = find_card(name)
    if not library_folder(card).is_dir():
        raise LibraryError(f"the library {name} is not in {libraries_folder()}")
    freed = remove_library(card)
    if read_selection() == name:
        select_library("")
    say(f"removed {name}, {format_mib(freed)}")
    return 0


def _choose_card(machine: Machine) -> LibraryCard:
    """Return the prebuilt library that a machine uses without a choice of the user. Raise LibraryError."""
    if problem := machine.find_problem():
        advice = f"to compile llama.cpp, run: pip install {BINDING}"
        raise LibraryError(f"{problem}; {advice}")
    return machine.list_fitting()[0]


def _find_used() -> tuple[EngineLibrary | None, str]:
    """Return the library that an engine would use, or None with the reason."""
    try:
        return find_library(read_settings().engine.library), ""
    except LibraryError as error:
        return None, error.message


def _describe_card(card: LibraryCard, used: EngineLibrary | None) -> dict[str, Any]:
    """Return a row of the list. Its keys are part of the command's interface."""
    folder = library_folder(card)
    if not folder.is_dir():
        state = ""
    elif damage := find_damage(folder):
        state = f"damaged: {damage}"
    else:
        state = "used" if used and used.folder == folder else "here"
    return {
        "name": card.name,
        "device": card.device,
        "llama_cpp": card.llama_cpp,
        "version": card.version,
        "bytes": card.bytes,
        "state": state if card.is_tested or not state else f"{state}, not tested by us",
    }
