"""The table of all commands, from which `--help` and docs/commands.md are made.

A new command is a function in a module `<subject>_cli.py` and a row in this table. Only the module of the command that
runs is imported, because importing all of them would delay each start. Therefore a row repeats the summary of the
command's docstring, and `tests/cli/test_help_cli.py` compares the two.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import cyclopts

from lsp_harness.wire.version import VERSION


@dataclass(frozen=True, slots=True)
class Command:
    """One row of `lsp-harness --help`.

    Attributes:
        name: The name.
        summary: The first line of its docstring.
        arguments: The arguments, as the usage shows them.
        example: A command line without the program, for the help of the command.
        note: Further lines for the help of the command, in Markdown.
        has_subcommands: Whether the module has an `app` with subcommands instead of a function with the command's name.
        module: The module of the command in `lsp_harness.cli`. If empty, it is `commands.<name>_cli`.
        is_measurement: Whether its module is in `benchmarks`, which only the repository has.
    """

    name: str
    summary: str
    arguments: str = ""
    example: str = ""
    has_subcommands: bool = False
    module: str = ""
    is_measurement: bool = False
    note: str = ""

    @property
    def target(self) -> str:
        """Return the place of the function or of the `app`, as `module:attribute`."""
        attribute = "app" if self.has_subcommands else self.name
        if self.is_measurement:
            return f"benchmarks.{self.name}_cli:{attribute}"
        return f"lsp_harness.cli.{self.module or f'commands.{self.name}_cli'}:{attribute}"


COMPLETION_NOTE = """Write the script into a file, and again after an update of lsp-harness:

- bash: `~/.local/share/bash-completion/completions/lsp-harness`. Without the package bash-completion, let `~/.bashrc`
  read the file: `source FILE`.
- zsh: `_lsp-harness` in a folder that `$fpath` names before `compinit` runs.
- fish: `~/.config/fish/completions/lsp-harness.fish`"""

CODE_NOTE = """Then type what to do, one line for each change:

- `make parse_config raise a clear ValueError if the text is empty`
- `rename the parameter row of flatten to item`
- `write tests for total in shop/cart.py`
- `explain Cart.total`, or `who calls total?`
- `/undo` takes the last change back, `/help` lists such commands, and `/exit` ends the conversation."""

VERSION_FLAGS = ("--version", "-V")
CommandGroups = Mapping[str, Iterable[Command]]
"""Commands by the title of their group, in the order of `--help`."""

ALL_GROUPS: dict[str, tuple[Command, ...]] = {
    "Start here": (
        Command(
            "help",
            "Show the list of commands, or the help of one command.",
            "[COMMAND]",
            "help fix",
        ),
        Command("setup", "Fetch what this machine needs: llama.cpp, the model and the checkers.", "", "setup"),
        Command("doctor", "Check this installation and say how to repair it."),
        Command("demo", "Watch the real model complete code and repair an error."),
        Command("model", "Download, list, inspect and delete models.", has_subcommands=True),
        Command(
            "completion",
            "Print a script with which a shell completes commands and options.",
            "SHELL",
            "completion bash",
            note=COMPLETION_NOTE,
        ),
    ),
    "Daily work": (
        Command(
            "run",
            "Send one prompt, and print the answer.",
            '"PROMPT"',
            'run "what does geo.py do?"',
            module="sessions.run_cli",
        ),
        Command(
            "code",
            "Change, fix, write and explain the code of a project, in a terminal.",
            '["PROMPT"]',
            'code "let load raise a ValueError for an empty path"',
            module="sessions.chat_cli",
            note=CODE_NOTE,
        ),
        Command(
            "ask",
            "Ask a question about the code of this folder. Nothing is changed.",
            '"QUESTION"',
            'ask "who calls load?"',
            module="sessions.run_cli",
        ),
        Command(
            "explain",
            "Show the code of a name, a file or lines, and what the model says about it.",
            "NAME|FILE|FILE:LINE",
            "explain load",
            module="sessions.run_cli",
        ),
        Command("chat", "Talk with the model in a terminal, in the present folder.", module="sessions.chat_cli"),
        Command(
            "fix",
            "Repair an error in a file and show the diff.",
            "FILE[:LINE]",
            "fix geo.py:10",
            module="commands.edit_cli",
        ),
        Command(
            "action",
            "Edit code by an action of the project, and show the diff.",
            "NAME FILE:LINE",
            "action add-types geo.py:10",
            module="commands.edit_cli",
        ),
        Command(
            "complete",
            "Show the completion at a place in a file, or why there is none.",
            "FILE:LINE:COL",
            "complete geo.py:6:12",
        ),
        Command(
            "search",
            "Find code by words, by a symbol or by a place in a file.",
            '"WORDS" [FOLDER]',
            'search "parse the settings file"',
        ),
        Command(
            "locate",
            "Find the lines of code that a task would change.",
            '"TASK" [FOLDER]',
            'locate "let parse_config accept a path"',
            module="commands.search_cli",
        ),
        Command(
            "docs",
            "Show the signature and documentation of a name in a package.",
            "NAME [FOLDER]",
            "docs requests.get",
        ),
        Command(
            "digest",
            "Shorten the output of tests, linters and compilers to one line per problem.",
            "[FILE]",
            "digest pytest.log",
        ),
    ),
    "Server, engine and index": (
        Command("serve", "Run the language server; editors start it themselves."),
        Command(
            "mcp",
            "Serve code search, checks and edits to other agents, as an MCP server.",
        ),
        Command("acp", "Serve sessions to an editor, as an agent of the Agent Client Protocol."),
        Command("engine", "Start, stop and inspect the engine, the process with the model.", has_subcommands=True),
        Command("models", "List the models of a remote server."),
        Command("index", "Inspect and rebuild the index of a folder's code.", has_subcommands=True),
        Command(
            "fixes",
            "List, share and forget the fixes that were learned in a project.",
            has_subcommands=True,
        ),
        Command("api", "Serve sessions and agents to programs and browsers of this machine.", module="agents.api_cli"),
        Command(
            "agents",
            "Start, talk with and stop the foreign agents of a running server.",
            has_subcommands=True,
            module="agents.agents_cli",
        ),
        Command(
            "runtime",
            "Look at the agents of other makers on this machine.",
            has_subcommands=True,
            module="agents.runtime_cli",
        ),
        Command("gate", "Show what the permission gate decides about a command or a file.", has_subcommands=True),
    ),
    "Sessions": (
        Command(
            "sessions",
            "List, show, search, fork, export and delete sessions, and undo their edits.",
            has_subcommands=True,
            module="sessions.sessions_cli",
        ),
        Command(
            "events",
            "Show the events of a session, one in each line.",
            "[ID]",
            "events --types tool.started",
            module="sessions.events_cli",
        ),
        Command(
            "session",
            "Serve a session to another program over standard input and output.",
            module="sessions.session_cli",
        ),
        Command(
            "task", "List, read, await and end the tasks of sessions.", has_subcommands=True, module="sessions.task_cli"
        ),
        Command(
            "tools",
            "List the tools that a model may call here, or call one of them.",
            has_subcommands=True,
            module="sessions.tools_cli",
        ),
        Command(
            "replay",
            "Compute a session again from its log, and compare the results.",
            "[ID]",
            "replay --model",
            module="sessions.replay_cli",
        ),
    ),
    "For developers of lsp-harness": (
        Command(
            "context",
            "Show the prompt that the model would get at a place in a file.",
            "[FILE:LINE:COL]",
            "context geo.py:6:12 --explain",
        ),
        Command("bench", "Measure the speed of the engine.", has_subcommands=True, is_measurement=True),
        Command(
            "eval",
            "Run the tasks of a suite with hidden checks, and compare ways to answer.",
            "SUITE",
            "eval fix_quixbugs --arm single --arm ladder",
            is_measurement=True,
        ),
        Command("schema", "Print the JSON schema of the events in the logs of sessions.", module="sessions.events_cli"),
        Command(
            "selftest",
            "Try the nine basic abilities of sessions, and show what happened.",
            module="selftest.selftest_cli",
        ),
    ),
}

HAS_MEASUREMENTS = (Path(__file__).parents[2] / "benchmarks" / "bench_cli.py").is_file()
"""Whether this is the repository of lsp-harness. An installed package has no measurements."""
GROUPS: CommandGroups = {
    title: tuple(command for command in commands if HAS_MEASUREMENTS or not command.is_measurement)
    for title, commands in ALL_GROUPS.items()
}

REPOSITORY_COMMANDS = frozenset(row.name for rows in ALL_GROUPS.values() for row in rows if row.is_measurement)
"""The commands that only a clone of the repository has."""


def make_app(groups: CommandGroups) -> cyclopts.App:
    """Return the program with these commands.

    An `app` with subcommands can be part of one program only, because cyclopts changes it.
    """
    program = cyclopts.App(
        name="lsp-harness",
        help="Help from a local AI model for any LSP editor. Every edit is checked before you see it.",
        version=VERSION,
        version_flags=VERSION_FLAGS,
        # cli/usage_errors.py shows the errors
        print_error=False,
        exit_on_error=False,
    )
    for group_position, (title, commands) in enumerate(groups.items()):
        group = cyclopts.Group(title, sort_key=group_position)
        for position, command in enumerate(commands):
            # cyclopts accepts these only for functions, and not for an app with subcommands
            details: dict[str, str] = {}
            if command.arguments:
                details["usage"] = f"Usage: lsp-harness {command.name} [OPTIONS] {command.arguments}"
            if command.example:
                details["help_epilogue"] = f"Example: lsp-harness {command.example}\n\n{command.note}".rstrip()
            program.command(
                command.target, name=command.name, help=command.summary, sort_key=position, group=group, **details
            )
    options = cyclopts.Group("Options", sort_key=len(groups))
    program["--help"].group = program["--version"].group = options
    return program


app = make_app(GROUPS)
