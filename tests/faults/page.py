"""The table of faults as a page of the documentation."""

from collections.abc import Iterator

from tests.cli.engine_faults import CELLS, CommandOutcome
from tests.faults.commands import COMMANDS
from tests.faults.fault import Fault
from tests.faults.table import FAULTS

MEANINGS = {
    "left alone": "the process stays as it is",
    "ended": "the process is ended",
    "replaced": "the process is replaced",
    "started": "another process is started",
    "none": "no process is started",
}
BEGIN, END = "<!-- the table begins -->\n", "<!-- the table ends -->\n"


def render_page(page: str) -> str:
    """Return the page with the current table in it."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + "\n".join(_render_lines()) + "\n\n" + END + after


def _render_lines() -> Iterator[str]:
    yield f"Each of these is tried with each of the {len(COMMANDS)} commands: "
    yield ", ".join(f"`{command.name.replace('_', ' ')}`" for command in COMMANDS) + "."
    yield ""
    yield "| fault | what is said by commands that go on | commands that end otherwise |"
    yield "| --- | --- | --- |"
    for fault in FAULTS[1:]:
        yield f"| {fault.what} | {_render_messages(fault)} | {_render_ends(fault)} |"

    yield ""
    yield "And with the process of the model stopped (SIGSTOP) or killed (SIGKILL):"
    yield ""
    yield "| command | stopped | killed |"
    yield "| --- | --- | --- |"
    for command in dict.fromkeys(cell.command for cell in CELLS):
        stopped, killed = (
            next(_describe_outcome(cell) for cell in CELLS if (cell.command, cell.fault) == (command, fault))
            for fault in ("SIGSTOP", "SIGKILL")
        )
        yield f"| `{' '.join(command)}` | {stopped} | {killed} |"


def _describe_outcome(cell: CommandOutcome) -> str:
    says = f", “{_escape_cell(cell.err)}”" if cell.err else ""
    return f"{cell.code}{says}; {MEANINGS[cell.engine]}"


def _render_messages(fault: Fault) -> str:
    return (
        "<br>".join(f"“{_escape_cell(sentence)}” ({_shorten_names(names)})" for sentence, names in fault.says.items())
        or "nothing"
    )


def _render_ends(fault: Fault) -> str:
    by_end: dict[tuple[int, str], list[str]] = {}
    for name, end in fault.ends.items():
        by_end.setdefault((end.code, end.says or end.answers), []).append(name)
    return (
        "<br>".join(
            f"{_shorten_names(names)}: {code}, “{_escape_cell(says)}”" for (code, says), names in by_end.items()
        )
        or "none"
    )


def _shorten_names(names: tuple[str, ...] | list[str]) -> str:
    short = dict.fromkeys(name.replace("_", " ") for name in names)
    if len(short) > len(COMMANDS) / 2:
        left_out = [command.name for command in COMMANDS if command.name not in names]
        return "all but " + ", ".join(f"`{name}`" for name in left_out)
    return ", ".join(f"`{name}`" for name in short)


def _escape_cell(sentence: str) -> str:
    return sentence.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
