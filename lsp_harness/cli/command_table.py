"""The command table. Commands are named as text, so that only the one that runs is imported.

The line that `--help` shows of each command stands here as well, because reading it from the docstring would import every
command. `tests/cli/test_help_cli.py` compares the two.
"""

from dataclasses import dataclass

import cyclopts

from lsp_harness.server.version import VERSION


@dataclass(frozen=True, slots=True)
class Command:
    """One row of `lsp-harness --help`."""

    name: str
    target: str
    """Where the function or the group of commands is: `module:attribute`."""
    summary: str
    """The first line of its docstring."""
    arguments: str = ""
    """What stands behind its name, as its usage shows it."""
    example: str = ""
    """One line that can be typed, for the help of the command itself."""


GROUPS: dict[str, tuple[Command, ...]] = {
    "Start here": (
        Command(
            "help",
            "lsp_harness.cli.commands.help_cli:help",
            "Show this list, or the help of one command.",
            "[COMMAND]",
            "help fix",
        ),
        Command(
            "doctor", "lsp_harness.cli.commands.doctor_cli:doctor", "Check this installation and say how to repair it."
        ),
        Command(
            "demo", "lsp_harness.cli.commands.demo_cli:demo", "Watch the real model complete code and repair an error."
        ),
        Command("model", "lsp_harness.cli.commands.model_cli:app", "Download, list, inspect and delete models."),
    ),
    "Daily work": (
        Command(
            "fix",
            "lsp_harness.cli.commands.fix_cli:fix",
            "Repair an error in a file and show the diff.",
            "FILE[:LINE]",
            "fix geo.py:10",
        ),
        Command(
            "complete",
            "lsp_harness.cli.commands.complete_cli:complete",
            "Show the completion at a place in a file.",
            "FILE:LINE:COL",
            "complete geo.py:6:12",
        ),
        Command(
            "search",
            "lsp_harness.cli.commands.search_cli:search",
            "Find code by words, by a symbol or by a place in a file.",
            '"WORDS" [FOLDER]',
            'search "parse the settings file"',
        ),
        Command(
            "locate",
            "lsp_harness.cli.commands.locate_cli:locate",
            "Find the lines of code that a task would change.",
            '"TASK" [FOLDER]',
            'locate "let parse_config accept a path"',
        ),
        Command(
            "docs",
            "lsp_harness.cli.commands.docs_cli:docs",
            "Show the signature and documentation of a name in an installed package.",
            "NAME [FOLDER]",
            "docs requests.get",
        ),
        Command(
            "digest",
            "lsp_harness.cli.commands.digest_cli:digest",
            "Shorten the output of tests, linters and compilers to one line per problem.",
            "[FILE]",
            "digest pytest.log",
        ),
    ),
    "Server, engine and index": (
        Command(
            "serve", "lsp_harness.cli.commands.serve_cli:serve", "Run the language server; editors start it themselves."
        ),
        Command(
            "engine",
            "lsp_harness.cli.commands.engine_cli:app",
            "Start, stop and inspect the engine, the process with the model.",
        ),
        Command("models", "lsp_harness.cli.commands.models_cli:models", "List the models of a remote server."),
        Command("index", "lsp_harness.cli.commands.index_cli:app", "Inspect and rebuild the index of a folder's code."),
        Command(
            "session",
            "lsp_harness.cli.commands.session_cli:session",
            "Show what was done in an editing session.",
            "[ID]",
        ),
    ),
    "For developers of lsp-harness": (
        Command(
            "context",
            "lsp_harness.cli.commands.context_cli:context",
            "Show the prompt that the model would get at a place in a file.",
            "[FILE:LINE:COL]",
            "context geo.py:6:12 --explain",
        ),
        Command("bench", "lsp_harness.cli.commands.bench_cli:app", "Measure the speed of the engine."),
    ),
}


def _make_app() -> cyclopts.App:
    app = cyclopts.App(
        name="lsp-harness",
        help="Help of a local AI model for any LSP editor, checked before it is shown.",
        version=VERSION,
        # how an error is shown is decided in one place, cli/usage_errors.py
        print_error=False,
        exit_on_error=False,
    )
    for place, (title, commands) in enumerate(GROUPS.items()):
        group = cyclopts.Group(title, sort_key=place)
        for number, command in enumerate(commands):
            # only of functions: cyclopts takes nothing for groups of commands, which are apps of their own
            own: dict[str, str] = {}
            if command.arguments:
                own["usage"] = f"Usage: lsp-harness {command.name} [OPTIONS] {command.arguments}"
            if command.example:
                own["help_epilogue"] = f"Example: lsp-harness {command.example}"
            app.command(command.target, name=command.name, help=command.summary, sort_key=number, group=group, **own)
    options = cyclopts.Group("Options", sort_key=len(GROUPS))
    app["--help"].group = app["--version"].group = options
    return app


app = _make_app()
