"""What is said of arguments that a command cannot use: always the form that would be right.

This is the one place for all commands. It knows the command line as cyclopts reports it and the command table; whether a
file is there, and a place in it, is said by `cli/file_place.py`.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from cyclopts import App, Argument, CycloptsError
from cyclopts.exceptions import (
    CoercionError,
    MissingArgumentError,
    UnknownCommandError,
    UnknownOptionError,
    UnusedCliTokensError,
    ValidationError,
)

from lsp_harness.cli.command_table import GROUPS, app
from lsp_harness.cli.file_place import Written
from lsp_harness.errors import UsageError

PROGRAM = "lsp-harness"
COMMANDS = {command.name: command for commands in GROUPS.values() for command in commands}
LINE_OPTIONS = ("--line", "--lineno", "--line-number", "--row", "-l")
COLUMN_OPTIONS = ("--col", "--column", "-c")
FILE_OPTIONS = ("--file", "--path", "--at", "-f")
OTHER_NAMES = {
    "check": "fix",
    "config": "doctor",
    "download": "model pull",
    "find": "search",
    "init": "doctor",
    "install": "model pull",
    "lint": "fix",
    "lsp": "serve",
    "repair": "fix",
    "run": "serve",
    "server": "serve",
    "setup": "doctor",
    "version": "--version",
}
"""What people call a command that has another name here."""
KINDS = {int: "a whole number", float: "a number"}


def run(arguments: Sequence[str]) -> int:
    """Run a command; its exit status. Raises UsageError for arguments that it cannot use."""
    try:
        return app(arguments, result_action="return_int_as_exit_code_else_zero")
    except CycloptsError as error:
        raise UsageError(explained(error, arguments)) from error


def explained(error: CycloptsError, arguments: Sequence[str]) -> str:
    """One sentence: what is wrong with the arguments, and what to write instead."""
    chain = list(error.command_chain or ())
    words = list(arguments[len(chain) :])
    match error:
        case UnknownCommandError(unused_tokens=[name, *_]):
            return unknown_command(name, chain)
        case UnknownOptionError():
            return _unknown_option(error, chain, words)
        case UnusedCliTokensError(unused_tokens=[*extra]) if extra:
            return _too_many(extra, chain, words)
        case MissingArgumentError(argument=argument) if argument:
            return _missing(error.keyword or "", argument, chain)
        case CoercionError(argument=argument, token=token) if argument and token:
            return (
                f"{argument.name} takes {KINDS.get(argument.hint, 'another value')}, not {token.value!r}; {_see(chain)}"
            )
        case ValidationError(argument=argument) if argument:
            return f"{argument.name} {error.exception_message}; {_see(chain)}"
        case _:
            return f"{' '.join(str(error).split())} ({_see(chain)})"


def unknown_command(name: str, chain: Sequence[str]) -> str:
    """What to type instead of a command, or a subcommand of `chain`, that there is not."""
    shown = " ".join([*chain, name])
    if name.startswith("-"):
        return f"{_subject(chain)} has no option {name}; {_see(chain)}"
    if not chain and Path(Written.of(name).file).is_file():
        return f"{name} is a file and not a command; to repair it: {PROGRAM} fix {name}"
    if near := _like(name, chain):
        return f"there is no command {shown!r}; did you mean: {' or '.join(f'{PROGRAM} {one}' for one in near)}?"
    return f"there is no command {shown!r}; {_see(chain)}"


def _like(name: str, chain: Sequence[str]) -> list[str]:
    """Commands that may be meant: others of the group, then what is called so elsewhere, then what sounds alike."""
    known = [one.split() for one in _all_commands()]
    beside = {one[len(chain)]: one for one in known if one[: len(chain)] == list(chain) and len(one) == len(chain) + 1}
    if not chain and name in OTHER_NAMES:
        return [OTHER_NAMES[name]]
    if near := get_close_matches(name, beside, n=1):
        return [" ".join(beside[near[0]])]
    last = {one[-1] for one in known}
    for wanted in (name, *get_close_matches(name, last, n=1)):
        if found := [" ".join(one) for one in known if one[-1] == wanted]:
            return found
    return []


def _all_commands() -> Iterator[str]:
    for name in COMMANDS:
        yield name
        within: App = app[name]
        if within.default_command is None:
            yield from (f"{name} {one}" for one in within if not one.startswith("-"))


def _unknown_option(error: UnknownOptionError, chain: Sequence[str], words: Sequence[str]) -> str:
    option = (error.token.keyword or error.token.value).split("=", 1)[0]
    if _numbers_of(chain) and option in (*LINE_OPTIONS, *COLUMN_OPTIONS, *FILE_OPTIONS):
        return f"{_subject(chain)} has no option {option}; write: {_command(chain)} {_joined(words, chain)}"
    known = [name for one in error.argument_collection for name in one.names if name.startswith("-")]
    known = [name for name in known if not name.startswith("--no-")]
    if near := get_close_matches(option, known, n=1, cutoff=0.7):
        return f"{_subject(chain)} has no option {option}; did you mean {near[0]}?"
    has = f"it has {', '.join(known)}" if known else "it has none"
    return f"{_subject(chain)} has no option {option}; {has} ({_see(chain)})"


def _too_many(extra: Sequence[str], chain: Sequence[str], words: Sequence[str]) -> str:
    if _numbers_of(chain) and all(re.fullmatch(r"[:,]?\d+[:,]?", one) for one in extra):
        return f"a place is one word; write: {_command(chain)} {_joined(words, chain)}"
    if _arguments(chain).startswith('"'):
        # words that were meant as one
        said = " ".join(_positional(words))
        return f'put what you look for in quotes; write: {_command(chain)} "{said}"'
    takes = f"it takes {_arguments(chain)}; " if _arguments(chain) else ""
    return f"{_subject(chain)} cannot use {' '.join(extra)!r}; {takes}{_see(chain)}"


def _missing(option: str, argument: Argument, chain: Sequence[str]) -> str:
    """Say what to write for an option without its value, or for a missing argument."""
    if option.startswith("-"):
        return f"{option} needs a value after it; {_see(chain)}"
    name = next((name for name in argument.names if not name.startswith("-")), argument.name.lstrip("-").upper())
    known = COMMANDS.get(" ".join(chain))
    example = f"; for example: {PROGRAM} {known.example}" if known and known.example else f"; {_see(chain)}"
    return f"write: {_command(chain)} {_arguments(chain) or name}{example}"


def _joined(words: Sequence[str], chain: Sequence[str]) -> str:
    """`FILE:LINE:COL` of a file, a line and a column that were written apart or as options."""
    file, numbers = "", dict[str, str]()
    options = {"file": FILE_OPTIONS, "line": LINE_OPTIONS, "column": COLUMN_OPTIONS}
    rest = [part for word in words for part in (word.split("=", 1) if word.startswith("-") else [word])]
    loose: list[str] = []
    while rest:
        word = rest.pop(0)
        kind = next((kind for kind, names in options.items() if word in names), "")
        if kind and rest:
            value = rest.pop(0)
            if kind == "file":
                file = value
            else:
                numbers[kind] = value
        elif not word.startswith("-"):
            loose.append(word)
    wanted = ("line", "column")[: _numbers_of(chain)]
    if not file and loose and not loose[0].isdigit():
        file = loose.pop(0)
    written = Written.of(file or "FILE")
    found = [*map(str, written.numbers), *(word.strip(":,") for word in loose if word.strip(":,").isdigit())]
    for at, kind in enumerate(wanted):
        if kind in numbers:
            found.insert(at, numbers[kind])
    if len(found) < len(wanted) and (required := _arguments(chain).count(":") - _arguments(chain).count("[")):
        found += ("LINE", "COL")[len(found) : required]
    return written.at(*found[: len(wanted)])


def _positional(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word.startswith("-")]


def _arguments(chain: Sequence[str]) -> str:
    known = COMMANDS.get(" ".join(chain))
    return known.arguments if known else ""


def _numbers_of(chain: Sequence[str]) -> int:
    """How many numbers a place has for this command; 0 for a command without places."""
    return _arguments(chain).count(":")


def _see(chain: Sequence[str]) -> str:
    return f"see {' '.join([PROGRAM, 'help', *chain])}"


def _command(chain: Sequence[str]) -> str:
    return " ".join([PROGRAM, *chain])


def _subject(chain: Sequence[str]) -> str:
    """The command as the subject of a sentence that begins with `lsp-harness: `."""
    return " ".join(chain) or "the program"
