"""Plays a scenario: files with a cursor or a diagnostic, replies of the engine, and what must come of it.

A scenario is a text in parts, each under a header `-- name --`, after a first paragraph that says what it shows:

    -- settings --       TOML, as in lsp-harness.toml
    -- ruff.toml --      any `.toml` is put on disk, where tools look for their settings
    -- a.py --           any other name is an open document and nowhere on disk; see tests/support/markup.py
    -- engine --         one reply of the engine, once each, in order; all must be used
    -- type --           typed at the cursor, without the last line's end
    -- @inline --        asks for a completion; golden: the cursor's surroundings with it, between ⟦ and ⟧
    -- @accept --        takes it; golden: what is then held against the text, a line each
    -- @fix --           asks for a fix of the one diagnostic; golden: its summary and diff, or why there is none
    -- @events --        golden: the session's log

Parts with an @ are done in order, and rewritten by `make snapshots`.
"""

import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError
from lsp_harness.harness.harness import Harness
from lsp_harness.kernel.results import Suggestion
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import encode
from lsp_harness.verify.finding import Finding
from lsp_harness.wire.event import Event
from lsp_harness.wire.verdict_words import STATUS_MARKS
from lsp_harness.workspace.workspace import Workspace
from tests.harness.tools import Script, make_settings, read_checked_log
from tests.support import markup
from tests.support.verification import wait_until_verified

HEADER = re.compile(r"^-- (\S+) --$")


@dataclass(frozen=True)
class Part:
    name: str
    text: str


@dataclass(frozen=True)
class Scenario:
    """A scenario, which is a file of parts; the first part has no name and describes the scenario."""

    parts: tuple[Part, ...]

    @classmethod
    def parse(cls, text: str) -> "Scenario":
        parts = [Part("", "")]
        for line in text.splitlines(keepends=True):
            if header := HEADER.match(line.rstrip("\n")):
                parts.append(Part(header[1], ""))
            else:
                parts[-1] = replace(parts[-1], text=parts[-1].text + line)
        return cls(tuple(parts))

    def write(self) -> str:
        return "".join((f"-- {part.name} --\n" if part.name else "") + part.text for part in self.parts)

    def texts(self, name: str) -> list[str]:
        return [part.text for part in self.parts if part.name == name]


async def play(scenario: Scenario, folder: Path) -> Scenario:
    """Play a scenario, and return it with the real results."""
    tables = tomllib.loads("".join(scenario.texts("settings")))
    config = make_settings(Config(), **tables)
    engine = Script(*[text.removesuffix("\n") for text in scenario.texts("engine")])
    harness = Harness(config, lambda config: engine, Workspace([folder]))
    player = ScenarioPlayer(harness, folder)
    done = [Part(part.name, await player.do(part)) for part in scenario.parts]
    await harness.aclose()
    await engine.aclose()
    return Scenario(tuple(done))


class ScenarioPlayer:
    """A player that executes one part after the other, on the file that has a cursor or a diagnostic."""

    def __init__(self, harness: Harness, folder: Path) -> None:
        self.harness = harness
        self.folder = folder
        self.uri = ""
        self.cursor = 0
        self.findings: tuple[Finding, ...] = ()
        self.suggestions: list[Suggestion] = []

    async def do(self, part: Part) -> str:
        """Do it; its text, or the golden text it should have."""
        match part.name:
            case "" | "settings" | "engine":
                return part.text
            case "type":
                self._insert(part.text.removesuffix("\n"))
                return part.text
            case "@inline":
                return await self._inline()
            case "@accept":
                return await self._accept()
            case "@fix":
                return await self._fix()
            case "@events":
                return "".join(
                    format_event(event) + "\n" for event in read_checked_log(self.harness.services.session.log.path)
                )
            case name if name.endswith(".toml"):
                (self.folder / name).write_text(part.text)
                return part.text
            case name:
                self._open(name, part.text)
                return part.text

    def _open(self, name: str, text: str) -> None:
        source = markup.parse(text, self.folder / name)
        self.harness.open(source.document)
        if source.marks or source.findings:
            assert not self.uri, "one file with a cursor or a diagnostic is enough"
            self.uri, self.findings = source.document.uri, source.findings
            self.cursor = source.marks[0] if source.marks else 0

    def _insert(self, text: str) -> None:
        new, version = encode(text), self.harness.documents.get(self.uri).text.version
        self.harness.change(self.uri, Edit(self.cursor, self.cursor, new), version + 1)
        self.cursor += len(new)

    async def _inline(self) -> str:
        try:
            self.suggestions = await self.harness.completions.complete(self.harness.snapshot(self.uri), self.cursor)
        except HarnessError as error:
            return f"{type(error).__name__}: {error}\n"
        if not self.suggestions:
            return "nothing\n"
        data = self.harness.documents.get(self.uri).text.data
        ghost = "⟦" + self.suggestions[0].text + "⟧"
        edit = Edit(self.suggestions[0].start, self.suggestions[0].end, encode(ghost))
        lines = apply(data, [edit]).decode().splitlines(keepends=True)
        at = data.count(b"\n", 0, self.cursor)
        return "".join(lines[max(0, at - 2) : at + ghost.count("\n") + 3])

    async def _accept(self) -> str:
        [suggestion] = self.suggestions
        self._insert(suggestion.text)
        self.harness.record(self.uri, suggestion.id, "accepted")
        await wait_until_verified()
        document = self.harness.documents.get(self.uri).text
        findings = self.harness.verification.findings(self.harness.documents.get(self.uri).text).findings
        lines = [f"line {document.line_of(f.start) + 1}: {f.source} {f.code} {f.message}\n" for f in findings]
        return "".join(lines) or "nothing\n"

    async def _fix(self) -> str:
        snapshot = self.harness.snapshot(self.uri)
        before = snapshot.document
        offer = (await self.harness.fixes.offer(snapshot, self.findings))[0]
        try:
            proposal = await self.harness.fixes.fix(snapshot, offer, lambda progress: None)
        except HarnessError as error:
            assert self.harness.documents.get(self.uri).text == before
            return f"{type(error).__name__}: {error}\n"
        return f"{offer.title}\n{proposal.summary}\n{proposal.diff}"


def format_event(event: Event) -> str:
    """Format an event on one line, without the data that differ from run to run."""
    data = event.data
    match event.type:
        case "state.entered":
            more = f" ({data['reason']})" if "reason" in data else ""
            return f"→ {data['state']}{more}"
        case "candidate.generated":
            return f"candidate {data['candidate']}: {data['kind']} {data['text']!r}"
        case "verify.completed":
            marks = ", ".join(f"{outcome['check']} {STATUS_MARKS[outcome['status']]}" for outcome in data["outcomes"])
            return f"candidate {data['candidate']} {'passed' if data['passed'] else 'failed'}: {marks}"
        case "candidate.rejected":
            return f"candidate {data['candidate']} rejected: {data['reason']}"
        case "edit.proposed":
            return f"edit.proposed: {data['summary']}"
        case "context.built":
            return f"context.built: {', '.join(data['sections'])}"
        case "invocation.received":
            return f"invocation.received: {data['kind']} {data['path']} {data['text']!r}"
        case kind:
            return kind
