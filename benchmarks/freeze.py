"""A test whether one document can block the server: requests about others run while it is opened and edited.

    python -m benchmarks.freeze [--named] [--count 200] [--seed 1] [--keys 6] [--kind WORD] [--worst 10]

A real `lsp-harness serve` with a scripted engine. While a hostile document is open and edited, a second task asks for
the status and for a completion in another document, one after the other, every few milliseconds. Times are the
client's, on the wire. A server that ends is started again, and counts as that, with all that it has not answered.
"""

import argparse
import asyncio
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.support.hostile import HostileText, make_hostile_cases, make_hostile_texts
from tests.support.lsp import Editor, ResponseError

PAUSE_S = 0.004
BETWEEN_KEYS_S = 0.12
ANSWER_S = 60.0
CALM = "def area(radius):\n    return radius * 2\n\n\ndef volume(radius):\n    return "
STATUS, COMPLETION = "status", "completion"


@dataclass(slots=True)
class AnswerTimes:
    """Milliseconds of each answer for one document, by the kind of request."""

    of: HostileText
    times: dict[str, list[float]] = field(default_factory=lambda: {STATUS: [], COMPLETION: []})
    own: dict[str, float] = field(default_factory=dict[str, float])
    """Milliseconds of what was asked about the document itself, the longest of each method."""
    unanswered: int = 0
    ended: bool = False
    why: str = ""


class WatchedServer:
    """One server and the documents that are opened in it."""

    def __init__(self, editor: Editor, folder: Path) -> None:
        self._editor, self._folder = editor, folder
        self._calm = (folder / "calm.py").as_uri()
        editor.open(self._calm, CALM)

    @property
    def ended(self) -> bool:
        return self._editor.process.returncode is not None

    async def measure(self, one: HostileText, keys: int) -> AnswerTimes:
        measured = AnswerTimes(one)
        probing = asyncio.create_task(self._probe(measured))
        try:
            await self._edit(one, keys, measured)
        finally:
            probing.cancel()
            await asyncio.gather(probing, return_exceptions=True)
            measured.ended = self.ended
        return measured

    async def warm(self) -> None:
        """Do everything that a process does only once, such as imports, before the measurement."""
        await self._edit(HostileText("", "python", CALM), 4, AnswerTimes(HostileText("", "python", "")))
        await self._edit(
            HostileText("", "python", "x = [" + "(" * 3_000), 2, AnswerTimes(HostileText("", "python", ""))
        )

    async def _probe(self, found: AnswerTimes) -> None:
        while not self.ended:
            for method in (STATUS, COMPLETION):
                await self._ask(found, method)
                await asyncio.sleep(PAUSE_S)

    async def _ask(self, found: AnswerTimes, what: str) -> None:
        began = perf_counter()
        if what == STATUS:
            request = self._request("workspace/executeCommand", {"command": "lspHarness.status", "arguments": []})
        else:
            line, character = CALM.count("\n"), len(CALM.rpartition("\n")[2])
            request = self._request("textDocument/inlineCompletion", self._place(self._calm, line, character))
        found.unanswered += await request is None
        found.times[what].append((perf_counter() - began) * 1000)

    async def _edit(self, one: HostileText, keys: int, found: AnswerTimes) -> None:
        """Open it, type in the middle of it with a completion for each key, ask what editors ask, and close it."""
        uri, lines = (self._folder / one.name).as_uri(), one.text.split("\n")
        self._editor.open(uri, one.text, language=one.language)
        asked = [asyncio.create_task(self._own(found, "textDocument/documentSymbol", {"textDocument": {"uri": uri}}))]
        line = len(lines) // 2
        character = len(lines[line].encode("utf-16-le")) // 4
        for key in range(keys):
            await asyncio.sleep(BETWEEN_KEYS_S)
            typed = "\n" if key == keys // 2 else 'ab("c{'[key % 6]
            at = {"line": line, "character": character}
            change = {"range": {"start": at, "end": at}, "text": typed}
            version = {"uri": uri, "version": key + 2}
            self._editor.notify("textDocument/didChange", {"textDocument": version, "contentChanges": [change]})
            line, character = (line + 1, 0) if typed == "\n" else (line, character + 1)
            place = self._place(uri, line, character)
            asked.append(asyncio.create_task(self._own(found, "textDocument/inlineCompletion", place)))
        at = {"line": line, "character": character}
        diagnostic = {"range": {"start": at, "end": at}, "message": "m", "severity": 1, "source": "x"}
        action = {
            "textDocument": {"uri": uri},
            "range": {"start": at, "end": at},
            "context": {"diagnostics": [diagnostic]},
        }
        for method, params in (
            ("textDocument/codeAction", action),
            ("textDocument/inlineCompletion", self._place(uri, line, character) | {"context": {"triggerKind": 1}}),
            ("workspace/symbol", {"query": "zz"}),
            ("textDocument/documentSymbol", {"textDocument": {"uri": uri}}),
        ):
            asked.append(asyncio.create_task(self._own(found, method, params)))
        await asyncio.gather(*asked)
        status: Any = await self._request("workspace/executeCommand", {"command": "lspHarness.status", "arguments": []})
        found.why = next((each["why"] for each in (status or {}).get("unparsed", []) if each["uri"] == uri), "")
        self._editor.close_document(uri)

    async def _own(self, found: AnswerTimes, method: str, params: Any) -> None:
        began = perf_counter()
        found.unanswered += await self._request(method, params) is None
        found.own[method] = max(found.own.get(method, 0.0), (perf_counter() - began) * 1000)

    async def _request(self, method: str, params: Any) -> Any:
        """Return the result or the error, or None without an answer."""
        try:
            async with asyncio.timeout(ANSWER_S):
                result = await self._editor.request(method, params)
                return {} if result is None else result
        except ResponseError as error:
            return {"error": error.message}
        except (AssertionError, TimeoutError, ConnectionError, RuntimeError):
            return None

    def _place(self, uri: str, line: int, character: int) -> dict[str, Any]:
        position = {"line": line, "character": character}
        return {"textDocument": {"uri": uri}, "position": position, "context": {"triggerKind": 2}}


@asynccontextmanager
async def open_server(folder: Path) -> AsyncIterator[WatchedServer]:
    """Yield a new server that has no open documents."""
    script = folder / "script.json"
    script.write_text(json.dumps([{"text": "radius ** 3\n    # done"}] * 5_000))
    home = {"LSP_HARNESS_HOME": str(folder / "home"), "LSP_HARNESS_ENGINE__SCRIPT": str(script)}
    root = folder / "work"
    root.mkdir(exist_ok=True)
    editor = await Editor.spawn("-m", "lsp_harness", "serve", cwd=root, env={**os.environ, **home}, preload=())
    try:
        await editor.initialize("vscode", rootUri=root.as_uri())
        watched = WatchedServer(editor, root)
        await watched.warm()
        yield watched
        if not watched.ended:
            await editor.leave()
    finally:
        await editor.kill()


async def measure(texts: Sequence[HostileText], keys: int) -> AsyncIterator[AnswerTimes]:
    """Yield the times for each text. All texts of a kind share a server, and a server that ended is replaced."""
    left = list(texts)
    while left:
        with tempfile.TemporaryDirectory() as folder:
            async with open_server(Path(folder)) as watched:
                kind = left[0].kind
                while left and left[0].kind == kind and not watched.ended:
                    yield await watched.measure(left.pop(0), keys)


def compute_quantile(part: float, times: Sequence[float]) -> float:
    return sorted(times)[min(int(part * len(times)), len(times) - 1)] if times else 0.0


def format_row(name: str, measured: Sequence[AnswerTimes]) -> str:
    said = f"{name:<30}{len(measured):>5}"
    for what in (STATUS, COMPLETION):
        times = [time for one in measured for time in one.times[what]]
        half, most = compute_quantile(0.5, times), compute_quantile(0.99, times)
        said += f" | {half:7.1f} {most:7.1f} {max(times, default=0):7.1f} {len(times):>6}"
    unanswered, ended = sum(one.unanswered for one in measured), sum(one.ended for one in measured)
    return f"{said} | {unanswered:>10} {ended:>5} {sum(bool(one.why) for one in measured):>7}"


async def run(texts: Sequence[HostileText], keys: int, worst: int) -> None:
    print(
        f"{'':<35} | status: p50     p99     max      n | completion: p50 p99   max      n | unanswered ended no tree"
    )
    kinds: dict[str, list[AnswerTimes]] = defaultdict(list)
    last = ""
    async for one in measure(texts, keys):
        if last and one.of.kind != last:
            print(format_row(last, kinds[last]), flush=True)
        last = one.of.kind
        kinds[last].append(one)
    print(format_row(last, kinds[last]))
    measured = [one for kind in kinds.values() for one in kind]
    print(format_row("all", measured))
    for one in sorted(measured, key=lambda one: max(one.times[STATUS], default=0), reverse=True)[:worst]:
        own = ", ".join(f"{method.partition('/')[2]} {ms:.0f}" for method, ms in one.own.items())
        slowest = max(one.times[STATUS], default=0)
        print(
            f"{slowest:7.0f} ms  {one.of.kind}, {one.of.language}, {len(one.of.text):,} characters ({own}): {one.why}"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--named", action="store_true", help="only the texts that once stopped the server")
    options.add_argument("--count", type=int, default=200, help="texts that are generated")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--keys", type=int, default=6)
    options.add_argument("--kind", default="", help="only the kinds that have this word in their name")
    options.add_argument("--worst", type=int, default=10, help="texts that are listed, the worst first")
    args = options.parse_args()
    texts = [*make_hostile_cases(args.seed), *(() if args.named else make_hostile_texts(args.count, args.seed))]
    texts = sorted((text for text in texts if args.kind in text.kind), key=lambda one: one.kind)
    asyncio.run(run(texts, args.keys, args.worst))


if __name__ == "__main__":
    main()
