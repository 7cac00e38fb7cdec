"""`lsp-harness demo`: a server process, an LSP client over standard input and output, and the configured model.

The demo uses the server only through the protocol. It ends with an error if the server does not do what it shows.
"""

import asyncio
import re
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.syntax import Syntax

from lsp_harness.cli.console import console, say
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.cli.lsp_client import LspClient
from lsp_harness.cli.proposal_output import VerdictTable
from lsp_harness.errors import HarnessError
from lsp_harness.inference.engine_choice import describe_model
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.languages.language_table import find_language_of_file
from lsp_harness.text.document import Document
from lsp_harness.text.edit import diff
from lsp_harness.text.position import encode
from lsp_harness.text.wording import format_count
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.ruff_linter import Ruff

CURSOR = re.compile(r"(<\|>|<~>)")
"""Marks in the samples where ghost text is requested: at `<|>` it is accepted, and at `<~>` typing goes on."""
COMPLETION_FILES = ("geometry.py", "queue.js")
BROKEN_FILE = "stats.py"
TRANSCRIPT_WIDTH = 80
"""Columns of the output if it is no terminal."""


class DemoFailed(HarnessError):
    """The server did not do what the demo shows."""


def demo(*, keep: bool = False) -> int:
    """Watch the real model complete code and repair an error.

    Parameters
    ----------
    keep
        Keep the edited copy of the sample project, and print its folder.
    """
    # without a model, the server would say so in the middle of the demo
    describe_model(read_settings())
    folder = Path(tempfile.mkdtemp(prefix="lsp-harness-demo-")).resolve()
    try:
        for sample in (files("lsp_harness.cli") / "sample").iterdir():
            (folder / sample.name.removesuffix(".txt")).write_bytes(sample.read_bytes())
        asyncio.run(_run(folder))
        if keep:
            say(f"\nthe sample is in {folder}")
    finally:
        if not keep:
            shutil.rmtree(folder)
    return 0


async def _run(folder: Path) -> None:
    out = console(TRANSCRIPT_WIDTH)
    out.rule("[bold]a language server, an LSP client over stdio, a real model")
    async with LspClient.start(folder) as client:
        out.print(f"lsp-harness serve answered `initialize` after {client.initialize_ms:.0f} ms\n")
        for name in COMPLETION_FILES:
            await _complete(client, folder / name)
        engine = (await _read_status(client))["engine"]
        await _fix(client, folder / BROKEN_FILE)
        kind = "scripted replies, not a model" if engine["scripted"] else "a real model"
        out.rule(f"[bold]done[/] with {engine['model']} ({kind}), engine process {engine['pid']}")


async def _read_status(client: LspClient) -> dict[str, Any]:
    return await client.request("workspace/executeCommand", {"command": "lspHarness.status", "arguments": []})


def _language_id(file: Path) -> str:
    language = find_language_of_file(file.name)
    return language.id if language else ""


async def _complete(client: LspClient, file: Path) -> None:
    """Show ghost text at each cursor mark of a file, one after the other."""
    out = console(TRANSCRIPT_WIDTH)
    out.print(f"[bold]{file.name}[/]: completions at the cursor (ghost text)")
    typed, *rest = CURSOR.split(file.read_text())
    uri = client.open(file, typed + _text_after_cursor(rest), _language_id(file))
    while rest:
        mark, following, *rest = rest
        start = perf_counter()
        items = await client.inline_completion(uri, typed)
        ms = (perf_counter() - start) * 1000
        line = typed.rsplit("\n", 1)[-1]
        if not items:
            raise DemoFailed(f"the demo failed: no completion in {file.name} after {line!r}")
        ghost: str = items[0]["insertText"]
        stats = (await _read_status(client))["completion"]
        first, *more = ghost.split("\n")
        out.print(f"  {_escape_markup(line)}[green]{_escape_markup(first)}[/]")
        for text in more:
            out.print(f"  [green]{_escape_markup(text)}[/]")
        outcome = "accepted" if mark == "<|>" else "not accepted, typing on"
        out.print(
            f"  [dim]{outcome} · {ms:.0f} ms · {format_count(stats['evaluated'], 'prompt token')} evaluated · "
            f"{stats['reused']} reused · "
            f"{stats['generated']} generated[/]\n"
        )
        typed += (ghost if mark == "<|>" else "") + following
        client.change(uri, typed + _text_after_cursor(rest))
        if mark == "<|>":
            await client.run(items[0].get("command"))
    client.close(uri)


def _text_after_cursor(rest: list[str]) -> str:
    """Return the text behind the cursor. It contains no text that is typed later."""
    return "".join(text for mark, text in zip(rest[::2], rest[1::2], strict=True) if mark == "<|>")


async def _fix(client: LspClient, file: Path) -> None:
    """Repair one diagnostic of ruff: choose the quick fix, show the checks and the diff, and apply it."""
    out = console(TRANSCRIPT_WIDTH)
    text = file.read_text()
    document = Document.from_text(file.as_uri(), text, language=_language_id(file), version=1)
    before = await _find_errors(document, file)
    if not before:
        raise DemoFailed(f"the demo failed: ruff finds no error in {file.name}; is ruff configured for another folder?")
    problem = before[0]
    row = document.line_of(problem.start)
    out.print(f"[bold]{file.name}[/]: an error is repaired")
    out.print(f"  line {row + 1}: [red]{problem.code} {_escape_markup(problem.message)}[/]")
    out.print(f"  [dim]{row + 1:3} │[/] {_escape_markup(text.splitlines()[row])}\n")
    uri = client.open(file, text, _language_id(file))
    diagnostic = {
        "range": {side: _lsp_position(document, at) for side, at in (("start", problem.start), ("end", problem.end))},
        "severity": 1,
        "source": "ruff",
        "code": problem.code,
        "message": problem.message,
    }
    actions = await client.request(
        "textDocument/codeAction",
        {"textDocument": {"uri": uri}, "range": diagnostic["range"], "context": {"diagnostics": [diagnostic]}},
    )
    action = next((a for a in actions if a["title"].startswith("Fix with lsp-harness")), None)
    if action is None:
        raise DemoFailed("the demo failed: no quick fix was offered")
    out.print(f"  quick fix chosen: [bold]{_escape_markup(action['title'])}[/]")
    steps: set[str] = set()

    def show(step: str) -> None:
        # the end of the progress repeats the last step
        if step not in steps:
            steps.add(step)
            out.print(f"  [dim]… {_escape_markup(step)}[/]")

    client.on_progress = show
    start = perf_counter()
    resolved = await client.request("codeAction/resolve", action)
    out.print(f"  [dim]{perf_counter() - start:.1f} s[/]\n")
    log = Path((await _read_status(client))["log"])
    verdicts = VerdictTable()
    for event in read_log(log):
        verdicts(event)
    out.print(verdicts.render())
    if not any(row["reason"] == "passes" for row in verdicts.rows):
        raise DemoFailed("the demo failed: an edit was offered that had not passed its checks")
    fixed = client.apply_edit(resolved["edit"])
    out.print(Syntax(diff(encode(text), encode(fixed), file.name), "diff", background_color="default"))
    client.change(uri, fixed)
    await client.run(resolved.get("command"))
    file.write_text(fixed)
    after = await _find_errors(Document.from_text(uri, fixed, language=_language_id(file)), file)
    if any((f.code, f.message) == (problem.code, problem.message) for f in after) or len(after) >= len(before):
        raise DemoFailed(f"the demo failed: the error is still there: {after}")
    out.print(
        f"  [green]applied; {problem.code} is gone[/] (ruff: {format_count(len(before), 'finding')} before, "
        f"{len(after)} after)\n"
    )


def _lsp_position(document: Document, offset: int) -> dict[str, int]:
    position = document.position(offset, "utf-16")
    return {"line": position.line, "character": position.character}


async def _find_errors(document: Document, file: Path) -> list[Finding]:
    return [report.finding for report in await Ruff().check(document, file, file.parent)]


def _escape_markup(text: str) -> str:
    return text.replace("[", "\\[")
