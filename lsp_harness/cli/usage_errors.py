"""Messages about wrong arguments. Each says what to write instead.

This module serves all commands. It knows the errors of cyclopts and the table of commands. Messages about files and
places in files are in `cli/file_place.py`.
"""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
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

from lsp_harness.cli.command_table import GROUPS, REPOSITORY_COMMANDS, VERSION_FLAGS, app
from lsp_harness.cli.console import print_json, say
from lsp_harness.cli.file_place import PlaceText
from lsp_harness.errors import UsageError
from lsp_harness.files.folders import is_project
from lsp_harness.wire.frame_lines import WIRE_VERSION
from lsp_harness.wire.version import VERSION

PROGRAM = "lsp-harness"
COMMANDS = {command.name: command for commands in GROUPS.values() for command in commands}
LINE_OPTIONS = ("--line", "--lineno", "--line-number", "--row", "-l")
COLUMN_OPTIONS = ("--col", "--column", "-c")
INFORMATION_OPTIONS = frozenset({"--help", "-h", *VERSION_FLAGS})
FILE_OPTIONS = ("--file", "--path", "--at", "-f")
SYNONYMS = {
    "check": "fix",
    "config": "doctor",
    "download": "model pull",
    "find": "search",
    "init": "doctor",
    "install": "model pull",
    "lint": "fix",
    "lsp": "serve",
    "repair": "fix",
    "server": "serve",
    "version": "--version",
}
"""Names that other programs have for our commands."""
TYPE_NAMES = {int: "a whole number", float: "a number"}


def run_command(arguments: Sequence[str]) -> int:
    """Run a command and return its exit status. Raise UsageError for arguments that it cannot use.

    A text of several words that is no command is a prompt for the model. Without arguments, a conversation begins in
    a terminal.
    """
    if any(flag in arguments for flag in VERSION_FLAGS) and {*VERSION_FLAGS, "--json"}.issuperset(arguments):
        print_version(is_for_programs="--json" in arguments)
        return 0
    read_piped = sys.stdin.read if not sys.stdin.isatty() else str
    arguments = add_command(arguments, is_terminal=sys.stdin.isatty() and sys.stdout.isatty(), read_piped=read_piped)
    arguments = _move_lone_hyphen(arguments)
    try:
        return app(arguments, result_action="return_int_as_exit_code_else_zero")
    except CycloptsError as error:
        raise UsageError(explain_error(error, arguments)) from error


def print_version(*, is_for_programs: bool) -> None:
    """Print the version, the library and the model, as text or as one JSON object."""
    from lsp_harness.cli.version_report import describe_parts, describe_version

    if is_for_programs:
        # programs compare the version of the wire before they start a session
        print_json({"version": VERSION, "wire": WIRE_VERSION, **describe_parts()})
    else:
        say(describe_version())


def _move_lone_hyphen(arguments: Sequence[str]) -> Sequence[str]:
    """Return the arguments with a `-`, which stands for standard input, where cyclopts takes it for no option.

    That is behind `=` if it is the value of an option, and else at the end.
    """
    if "-" not in arguments or "--" in arguments:
        return arguments
    options = {name for name, has_value in _command_options(arguments).items() if has_value}
    words: list[str] = []
    is_argument = False
    for word in arguments:
        if word != "-":
            words.append(word)
        elif words and words[-1] in options:
            words[-1] = f"{words[-1]}=-"
        else:
            is_argument = True
    return [*words, "--", "-"] if is_argument else words


def _command_options(arguments: Sequence[str]) -> dict[str, bool]:
    """Return the options of the command that arguments begin with, and whether a value stands after each of them."""
    _, apps, _ = app.parse_commands(list(arguments))
    return _list_options(apps[-1]) if apps[-1].default_command else {}


def add_command(arguments: Sequence[str], *, is_terminal: bool, read_piped: Callable[[], str] = str) -> Sequence[str]:
    """Return the arguments with the command that the user left out: `run` before a prompt, and before nothing
    `code` in the folder of a project and `chat` elsewhere.

    Args:
        arguments: The arguments of the command line.
        is_terminal: Whether a person reads and writes.
        read_piped: Returns the text of a pipe, which is the prompt if the arguments have none.

    Raises:
        UsageError: There is neither a command nor a prompt, and no terminal to ask for one, or a single word is no
            command. Nobody knows what an agent would make of it.
    """
    if arguments and arguments[0] in INFORMATION_OPTIONS:
        return arguments
    words = _prompt_words(arguments)
    if not words and not INFORMATION_OPTIONS & set(arguments):
        if is_terminal:
            return ["chat", *arguments] if arguments or not is_project(Path.cwd()) else ["code"]
        if any(word.startswith("-") and word.partition("=")[0] not in _run_options() for word in arguments):
            return arguments
        if prompt := read_piped().strip():
            return ["run", *arguments, "--", prompt]
        written = " ".join([PROGRAM, *arguments])
        raise UsageError(
            f"there is no prompt, and a conversation without one needs a terminal; write: "
            f'{written} "what does geo.py do?", or a command ({PROGRAM} help lists them)'
        )
    if not words or arguments[0] in COMMANDS:
        return arguments
    has_option = arguments[0].startswith("-")
    prompt = words[-1] if has_option else arguments[0]
    if os.path.isfile(PlaceText.of(prompt).file):
        return arguments
    if len(prompt.split()) != 1 or prompt == "-":
        return ["run", *arguments]
    if has_option:
        raise UsageError(f"{prompt!r} is neither a command nor a prompt of several words. {_prompt_hint(prompt)}")
    return arguments


def _prompt_words(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that are neither options nor the values of those of `run`."""
    if not arguments or not arguments[0].startswith("-"):
        # a command may have other options
        return [word for word in arguments if not word.startswith("-")]
    options = {name for name, has_value in _run_options().items() if has_value}
    words, is_value = list[str](), False
    for number, word in enumerate(arguments):
        if word == "--":
            return [*words, *arguments[number + 1 :]]
        if is_value or (word.startswith("-") and word != "-"):
            is_value = not is_value and word in options
        else:
            words.append(word)
    return words


def _run_options() -> dict[str, bool]:
    """Return the options of `run`, and whether a value stands after each of them."""
    return _list_options(app["run"])


def _list_options(command: App) -> dict[str, bool]:
    arguments = command.assemble_argument_collection()
    return {name: item.hint is not bool for item in arguments for name in item.names if name.startswith("-")}


def explain_error(error: CycloptsError, arguments: Sequence[str]) -> str:
    """Return one sentence: what is wrong with the arguments, and what to write instead."""
    chain = list(error.command_chain or ())
    words = list(arguments[len(chain) :])
    match error:
        case UnknownCommandError(unused_tokens=[name, *_]):
            return explain_unknown_command(name, chain)
        case UnknownOptionError():
            return _explain_unknown_option(error, chain, words)
        case UnusedCliTokensError(unused_tokens=[*surplus]) if surplus:
            return _explain_surplus(surplus, chain, words)
        case MissingArgumentError(argument=argument) if argument:
            return _explain_missing(error.keyword or "", argument, chain)
        case CoercionError(argument=argument, token=token) if argument and token:
            type_name = TYPE_NAMES.get(argument.hint, "another value")
            return f"{argument.name} takes {type_name}, not {token.value!r}; {_help_hint(chain)}"
        case ValidationError(argument=argument) if argument:
            return f"{argument.name} {error.exception_message}; {_help_hint(chain)}"
        case _:
            return f"{' '.join(str(error).split())} ({_help_hint(chain)})"


def explain_unknown_command(name: str, chain: Sequence[str]) -> str:
    """Return a sentence about a command that does not exist.

    Args:
        name: The name that the user wrote.
        chain: The commands before it: `["engine"]` if `name` is a subcommand of `engine`.
    """
    command = " ".join([*chain, name])
    if not chain and name in REPOSITORY_COMMANDS:
        return f"{PROGRAM} {name} measures {PROGRAM} itself, and only its repository has it: run it from a clone"
    if name.startswith("-"):
        return f"{_format_subject(chain)} has no option {name}; {_help_hint(chain)}"
    if not chain and Path(PlaceText.of(name).file).is_file():
        return f"{name} is a file and not a command; to repair it: {PROGRAM} fix {name}"
    if similar := _similar_commands(name, chain):
        suggestions = " or ".join(f"{PROGRAM} {suggestion}" for suggestion in similar)
        prompt = "" if chain else f" {_prompt_hint(name)}"
        return f"there is no command {command!r}; did you mean: {suggestions}?{prompt}"
    prompt = "" if chain else f". {_prompt_hint(name)}"
    return f"there is no command {command!r}; {_help_hint(chain)}{prompt}"


def _prompt_hint(word: str) -> str:
    return f"If it is a prompt: {PROGRAM} run {'-- ' * word.startswith('-')}{shlex.quote(word)}"


def _similar_commands(name: str, chain: Sequence[str]) -> list[str]:
    """Return the commands that the user may mean.

    A subcommand with exactly this name comes first if no group was written. Then come commands of the same group,
    commands of other groups with this name, and commands with a similar name.
    """
    commands = [command.split() for command in _all_commands()]
    siblings = {
        command[len(chain)]: command
        for command in commands
        if command[: len(chain)] == list(chain) and len(command) == len(chain) + 1
    }
    if not chain and name in SYNONYMS:
        return [SYNONYMS[name]]
    if not chain and (exact := [" ".join(command) for command in commands if command[-1] == name]):
        return exact
    if matches := get_close_matches(name, siblings, n=1):
        return [" ".join(siblings[matches[0]])]
    last_words = {command[-1] for command in commands}
    for word in (name, *get_close_matches(name, last_words, n=1)):
        if matches := [" ".join(command) for command in commands if command[-1] == word]:
            return matches
    return []


def _all_commands() -> Iterator[str]:
    for name in COMMANDS:
        yield name
        group: App = app[name]
        if group.default_command is None:
            yield from (f"{name} {subcommand}" for subcommand in group if not subcommand.startswith("-"))


def _explain_unknown_option(error: UnknownOptionError, chain: Sequence[str], words: Sequence[str]) -> str:
    option = (error.token.keyword or error.token.value).split("=", 1)[0]
    if _number_count(chain) and option in (*LINE_OPTIONS, *COLUMN_OPTIONS, *FILE_OPTIONS):
        written = f"{_command_words(chain)} {_joined_place(words, chain)}"
        return f"{_format_subject(chain)} has no option {option}; write: {written}"
    options = [name for argument in error.argument_collection for name in argument.names if name.startswith("-")]
    options = [name for name in options if not name.startswith("--no-")]
    if option in options:
        return f"the option {option} must stand before --, after which everything is the text of an argument"
    if matches := get_close_matches(option, options, n=1, cutoff=0.7):
        return f"{_format_subject(chain)} has no option {option}; did you mean {matches[0]}?"
    offer = f"it has {', '.join(options)}" if options else "it has none"
    return f"{_format_subject(chain)} has no option {option}; {offer} ({_help_hint(chain)})"


def _explain_surplus(surplus: Sequence[str], chain: Sequence[str], words: Sequence[str]) -> str:
    if _number_count(chain) and all(re.fullmatch(r"[:,]?\d+[:,]?", word) for word in surplus):
        return f"a place is one word; write: {_command_words(chain)} {_joined_place(words, chain)}"
    if _argument_form(chain).startswith('"'):
        # the user forgot the quotes around several words
        text = " ".join(_positional_words(words))
        return f'put what you look for in quotes; write: {_command_words(chain)} "{text}"'
    takes = f"it takes {_argument_form(chain)}; " if _argument_form(chain) else ""
    return f"{_format_subject(chain)} cannot use {' '.join(surplus)!r}; {takes}{_help_hint(chain)}"


def _explain_missing(option: str, argument: Argument, chain: Sequence[str]) -> str:
    """Return what to write for an option without its value, or for a missing argument."""
    if option.startswith("-"):
        return f"{option} needs a value after it; {_help_hint(chain)}"
    name = next((name for name in argument.names if not name.startswith("-")), argument.name.lstrip("-").upper())
    command = COMMANDS.get(" ".join(chain))
    example = f"for example: {PROGRAM} {command.example}" if command and command.example else _help_hint(chain)
    return f"write: {_command_words(chain)} {_argument_form(chain) or name}; {example}"


def _joined_place(words: Sequence[str], chain: Sequence[str]) -> str:
    """Return `FILE:LINE:COL` for a file, a line and a column that were written as separate words or as options."""
    file, values = "", dict[str, str]()
    options = {"file": FILE_OPTIONS, "line": LINE_OPTIONS, "column": COLUMN_OPTIONS}
    tokens = [part for word in words for part in (word.split("=", 1) if word.startswith("-") else [word])]
    arguments: list[str] = []
    while tokens:
        token = tokens.pop(0)
        kind = next((kind for kind, names in options.items() if token in names), "")
        if kind and tokens:
            value = tokens.pop(0)
            if kind == "file":
                file = value
            else:
                values[kind] = value
        elif not token.startswith("-"):
            arguments.append(token)
    kinds = ("line", "column")[: _number_count(chain)]
    if not file and arguments and not arguments[0].isdigit():
        file = arguments.pop(0)
    place = PlaceText.of(file or "FILE")
    numbers = [*map(str, place.numbers), *(word.strip(":,") for word in arguments if word.strip(":,").isdigit())]
    for position, kind in enumerate(kinds):
        if kind in values:
            numbers.insert(position, values[kind])
    if len(numbers) < len(kinds) and (required := _argument_form(chain).count(":") - _argument_form(chain).count("[")):
        numbers += ("LINE", "COL")[len(numbers) : required]
    return place.at(*numbers[: len(kinds)])


def _positional_words(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word.startswith("-")]


def _argument_form(chain: Sequence[str]) -> str:
    """Return the arguments of a command as its usage shows them; empty if the table has none."""
    command = COMMANDS.get(" ".join(chain))
    return command.arguments if command else ""


def _number_count(chain: Sequence[str]) -> int:
    """Return how many numbers a place has for this command; 0 for a command without places."""
    return _argument_form(chain).count(":")


def _help_hint(chain: Sequence[str]) -> str:
    return f"see {' '.join([PROGRAM, 'help', *chain])}"


def _command_words(chain: Sequence[str]) -> str:
    return " ".join([PROGRAM, *chain])


def _format_subject(chain: Sequence[str]) -> str:
    """Return the command as the subject of a sentence that begins with `lsp-harness: `."""
    return " ".join(chain) or "the program"
