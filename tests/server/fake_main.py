"""A server process with a fake harness. The text of a document decides what the harness does.

- any text: it completes with `v<version>:<offset>`, so that a test sees which snapshot was used;
- `wait`: completions and fixes wait until a suggestion with the id `go on` is accepted;
- `boom`: it fails with an unexpected error that has a path in it;
- `down`: the engine does not answer;
- `print`: it prints to the standard output;
- each `teh`: it reports a finding when the document is opened and after `go on`;
- `slow`: the verification that begins when the document is opened ends only after `go on`.

If a suggestion with the id `tell` is accepted, the harness reports a change of state twice. When it warms a place, it
writes `warm <offset>, trusted <or not>` to the standard error stream.

With `--refused-modules A,B`, the server fails if one of these modules is imported before its first request.
"""

import asyncio
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lsp_harness.config.load import load
from lsp_harness.config.schema import Config
from lsp_harness.errors import EngineUnavailable, NoAnswer, RequestSuperseded, UsageError
from lsp_harness.harness.completion_verbs import CompletionVerbs
from lsp_harness.harness.edits.fix_verbs import FixVerbs
from lsp_harness.harness.edits.turns import Turns
from lsp_harness.harness.events import FindingsChanged, VerificationReported
from lsp_harness.harness.harness import Harness, UserAction
from lsp_harness.harness.services import Services
from lsp_harness.harness.verdicts.verification_verbs import VerificationVerbs
from lsp_harness.harness.visited_files import VisitedFiles
from lsp_harness.kernel.results import FixOffer, Progress, Proposal, Report, Suggestion
from lsp_harness.server import commands
from lsp_harness.server.commands import command_registry
from lsp_harness.server.main import serve
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.finding import Finding, Outcome, Verdict
from lsp_harness.verify.published_findings import PublishedFindings
from lsp_harness.workspace.snapshot import Snapshot
from lsp_harness.workspace.workspace import Workspace

SESSION = "0123456789ABCDEFGHJKMNPQRS"
CHECK_OUTCOMES = (Outcome("syntax", "passed", title="parse"), Outcome("lint", "skipped"))


class FakeScript:
    """The script of all fakes: what the text of a document makes them do."""

    def __init__(self) -> None:
        self.released = asyncio.Event()

    async def act(self, document: Document) -> None:
        text = document.text
        if "print" in text:
            print("this must not reach the client")
            os.write(1, b"nor this\n")
        if "boom" in text:
            raise RuntimeError("/etc/secret/path is broken")
        if "down" in text:
            raise EngineUnavailable("the engine cannot be started")
        if "wait" in text:
            sys.stderr.write("waiting\n")
            try:
                await self.released.wait()
            except asyncio.CancelledError:
                sys.stderr.write("cancelled inside\n")
                raise


class FakeCompletions(CompletionVerbs):
    def __init__(self, services: Services, script: FakeScript) -> None:
        super().__init__(services, VisitedFiles(services))
        self._script = script
        self._workspace = services.workspace

    async def complete(
        self, snapshot: Snapshot, offset: int, *, automatic: bool = True, single: bool = False
    ) -> list[Suggestion]:
        document = snapshot.document
        await self._script.act(document)
        if "superseded" in document.text:
            raise RequestSuperseded("a newer request took its place")
        if "none" in document.text:
            return []
        start = document.line_span(document.line_of(offset))[0]
        text_before = document.data[start:offset].decode()
        text = f"{text_before}v{document.version}:{offset}{'a' if automatic else 'i'}\n\tmore ```"
        return [Suggestion(f"s-{document.version}", start, offset, text)]

    def warm(self, uri: str, offset: int | None = None) -> None:
        sys.stderr.write(f"warm {offset}, trusted {self._workspace.is_trusted}\n")


class FakeFixes(FixVerbs):
    def __init__(self, services: Services, turns: Turns, script: FakeScript) -> None:
        super().__init__(services, turns)
        self._script = script

    async def offer(self, snapshot: Snapshot, findings: Sequence[Finding]) -> list[FixOffer]:
        return [
            offer
            for finding in findings
            for offer in (FixOffer("Spell it right", "linter", finding), FixOffer("Ask the model", "model", finding))
        ]

    async def find_alike(self, snapshot: Snapshot, findings: Sequence[Finding]) -> list[list[Finding]]:
        return []

    async def fix(self, snapshot: Snapshot, offer: FixOffer, report: Report, output: Digest | None = None) -> Proposal:
        document = snapshot.document
        report(Progress("looking", 10))
        await self._script.act(document)
        report(Progress("checking", 90))
        if "hopeless" in document.text:
            raise NoAnswer("every candidate failed its checks")
        edit = Edit(offer.finding.start, offer.finding.end, b"the")
        verdict, summary = Verdict(document.hash, CHECK_OUTCOMES), f"fixed by {offer.source}"
        # this server must not import the parser before its first request
        from lsp_harness.verify.change import Change, ChangeSet

        changes = ChangeSet.of(Change.from_edits(document, [edit], snapshot.tool_path))
        return Proposal("p-1", changes, verdict, "", summary, is_by_model=offer.source == "model")


class FakeVerification(VerificationVerbs):
    def findings(self, text: Document) -> PublishedFindings:
        return _make_published_findings(text, _find_typos(text))

    def stop(self, uri: str) -> None:
        sys.stderr.write(f"stopped {uri}\n")


class FakeTurns(Turns):
    def verdict_name(self, proposal: Proposal) -> str:
        return f"{SESSION}/{proposal.turn}"

    def verdict(self, name: str) -> str:
        if name != f"{SESSION}/0":
            raise UsageError(f"there is no verdict {name!r}")
        return "# Check: a typo\n"


class FakeHarness(Harness):
    def __init__(self, config: Config, workspace: Workspace) -> None:
        super().__init__(config, _refuse_engine, workspace, works_ahead=True)
        self._script = FakeScript()
        turns = FakeTurns(self.services)
        # the attributes are final for everybody else
        vars(self).update(
            turns=turns,
            completions=FakeCompletions(self.services, self._script),
            fixes=FakeFixes(self.services, turns, self._script),
            verification=FakeVerification(self.services),
        )

    def open(self, text: Document) -> None:
        self.documents.open(text)
        if "slow" in text.text:
            self.events.publish(VerificationReported(text.uri, text.version, "tests", 1, 2))
        else:
            self._publish(text.uri)

    def change(self, uri: str, edit: Edit, version: int) -> None:
        self.documents.get(uri).edit(edit, version)

    def close(self, uri: str) -> None:
        self.documents.close(uri)

    def lose(self, uri: str, reason: str) -> bool:
        return self.documents.lose(uri, reason)

    def snapshot(self, uri: str) -> Snapshot:
        snapshot = self.workspace.snapshot(self.documents.get(uri).text)
        return snapshot if snapshot.root else Snapshot(snapshot.document, uri)

    def configure(self, config: Config) -> None:
        self.services.configure(config)

    def record(self, uri: str, result_id: str, action: UserAction) -> None:
        if result_id == "go on":
            self._script.released.set()
            return self._publish(uri)
        if result_id == "tell":
            self.services.report_state()
            return self.services.report_state()
        findings = [_make_finding(0, f"{action} {result_id}")]
        return self.events.publish(
            FindingsChanged(uri, _make_published_findings(self.documents.get(uri).text, findings))
        )

    def state(self) -> dict[str, Any]:
        return {"engine": "off", "documents": len(list(self.documents))}

    async def status(self) -> dict[str, Any]:
        return {}

    async def aclose(self) -> None:
        if indexes := self.services.index.folder_indexes_if_any:
            await indexes.aclose()
        sys.stderr.write("harness closed\n")

    def _publish(self, uri: str) -> None:
        findings = self.verification.findings(self.documents.get(uri).text)
        loop = asyncio.get_running_loop()
        loop.call_soon(self.events.publish, FindingsChanged(uri, findings))
        loop.call_soon(self.events.publish, VerificationReported(uri, findings.version, "", 2, 2))


def _refuse_engine(config: Config) -> Any:
    raise EngineUnavailable("a script needs no engine")


def _make_published_findings(text: Document, findings: list[Finding]) -> PublishedFindings:
    outcomes = (
        Outcome("syntax", "passed", title="syntax"),
        Outcome("spelling", "failed" if findings else "passed", tuple(findings), title="spelling"),
        Outcome("tests", "passed", reason="12 tests in 3 files", title="tests"),
    )
    return PublishedFindings(text.version, outcomes, Span(0, 1), f"{SESSION}/0", is_complete=True)


def _find_typos(document: Document) -> list[Finding]:
    data, at, findings = document.data, 0, list[Finding]()
    while (at := data.find(b"teh", at)) >= 0:
        findings.append(Finding(at, at + 3, "typo: teh -> the", source="speller", code="typo", severity="warning"))
        at += 3
    return findings


def _make_finding(at: int, message: str) -> Finding:
    return Finding(at, at, message)


def make_harness(config: Config, workspace: Workspace, *, refused_modules: str = "") -> Harness:
    imported_modules = [name for name in refused_modules.split(",") if name in sys.modules]
    if imported_modules:
        raise UsageError(f"these modules are imported too early: {imported_modules}")
    from lsp_harness.server import progress
    from lsp_harness.server.features import completions

    progress.PROGRESS_DELAY_S = 0.0
    completions.PROGRESS_DELAY_S = 0.0
    return FakeHarness(config, workspace)


if __name__ == "__main__":
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    if "--commands" in options:
        # a folder with modules of commands that only a test has
        commands.__path__.append(options["--commands"])
        command_registry.MODULES += tuple(path.stem for path in Path(options["--commands"]).glob("*.py"))
    factory = partial(make_harness, refused_modules=options.get("--refused-modules", ""))
    raise SystemExit(serve(factory, load, tcp=options.get("--tcp"), ws=options.get("--ws")))
