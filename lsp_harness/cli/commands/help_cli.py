"""`lsp-harness help`: the list of commands, or the help of one command."""


def help(*command: str) -> int:
    """Show the list of commands, or the help of one command.

    Parameters
    ----------
    command
        The name of a command, with the name of a subcommand if there is one: `engine stop`.
    """
    from lsp_harness.cli.command_table import app
    from lsp_harness.cli.usage_errors import explain_unknown_command
    from lsp_harness.errors import UsageError

    chain, _, rest = app.parse_commands(list(command))
    if rest:
        raise UsageError(explain_unknown_command(rest[0], list(chain)))
    app.help_print(list(command))
    return 0
