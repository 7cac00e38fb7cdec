"""Findings as diagnostics, pushed or pulled."""

from typing import Any, cast

import pytest

from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.lsp_conversion import lsp_diagnostics
from lsp_harness.text.document import Document
from lsp_harness.verify.check import Check
from lsp_harness.verify.checks import LintCheck, SuiteCheck, SyntaxCheck
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.project_tests.comparison import SuiteComparison
from lsp_harness.verify.published_findings import PublishedFindings
from lsp_harness.verify.ruff_linter import Ruff
from tests.server.conftest import Spawn, release_harness
from tests.support.lsp import ResponseError, read_capabilities

URI = "file:///ws/a.py"
TYPO = {
    "range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 5}},
    "message": "typo: teh -> the",
    "severity": 2,
    "source": "lsp-harness",
    "code": "spelling/typo",
}
VERDICT = "lsp-harness-verdict:/0123456789ABCDEFGHJKMNPQRS/0.md"
FINDING = {
    "start": 5,
    "end": 8,
    "message": "typo: teh -> the",
    "source": "speller",
    "code": "typo",
    "severity": "warning",
}


def remove_hash(diagnostics: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return diagnostics after the hash of their text was looked at."""
    assert all(len(diagnostic["data"]["hash"]) == 32 for diagnostic in diagnostics)
    return [
        {**diagnostic, "data": {name: value for name, value in diagnostic["data"].items() if name != "hash"}}
        for diagnostic in diagnostics
    ]


async def test_findings_are_pushed_for_exactly_their_version(spawn: Spawn):
    editor = await spawn("eglot")

    editor.open(URI, "😀 teh", version=7)

    pushed = await editor.find_params("textDocument/publishDiagnostics")
    [diagnostic] = remove_hash(pushed["diagnostics"])
    assert (pushed["uri"], pushed["version"]) == (URI, 7)
    assert diagnostic == {**TYPO, "data": {"check": "spelling", "finding": FINDING, "verdict": VERDICT}}


@pytest.mark.parametrize(
    ("check", "message", "line"),
    [
        (SyntaxCheck(), "unexpected indent", "SYNTAX ERROR at line 2: unexpected indent"),
        (LintCheck(Ruff()), "Local variable `x` is unused", "LINT: F841 Local variable `x` is unused"),
        (
            SuiteCheck(cast("SuiteComparison", None)),
            "test_f — AssertionError: 1",
            "TEST FAIL: test_f — AssertionError: 1",
        ),
    ],
)
def test_a_diagnostic_has_the_line_that_prompts_and_the_log_have(check: Check, message: str, line: str):
    document = Document.from_text(URI, "def f():\n    x = 1\n")
    finding = Finding(13, 14, message, code="F841" if check.name == "lint" else "")
    outcome = Outcome(check.name, "failed", (finding,), lines=(check.format_finding(finding, document),))
    published = PublishedFindings(1, (outcome,))

    [shown] = lsp_diagnostics(document, published, ClientCapabilities(related_information=True))
    assert (shown.message, cast("dict[str, Any]", shown.data)["feedback"]) == (message, line)
    assert [(place.message, place.location.range) for place in shown.related_information or ()] == [(line, shown.range)]

    [shown] = lsp_diagnostics(document, published, ClientCapabilities())
    assert (shown.related_information, cast("dict[str, Any]", shown.data)["feedback"]) == (None, line)


async def test_findings_of_a_text_that_has_moved_on_are_not_shown(spawn: Spawn):
    """The fake harness publishes one turn of the loop after the document was opened, when the change has arrived."""
    editor = await spawn("eglot")
    item = {"uri": URI, "languageId": "python", "version": 1, "text": "teh"}
    change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "fine"}]}

    editor.send(
        {"method": "textDocument/didOpen", "params": {"textDocument": item}},
        {"method": "textDocument/didChange", "params": change},
    )
    await release_harness(editor, URI)

    pushed = await editor.find_params("textDocument/publishDiagnostics")
    assert pushed == {"uri": URI, "version": 2, "diagnostics": []}


async def test_closing_a_document_clears_its_diagnostics(spawn: Spawn):
    editor = await spawn("eglot")
    editor.open(URI, "teh")
    await editor.find_params("textDocument/publishDiagnostics", lambda params: params["diagnostics"] != [])

    editor.close_document(URI)

    cleared = await editor.find_params("textDocument/publishDiagnostics", lambda params: params["diagnostics"] == [])
    assert cleared == {"uri": URI, "diagnostics": []}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("textDocument/diagnostic", {}),
        ("textDocument/codeAction", {"range": TYPO["range"], "context": {"diagnostics": [TYPO]}}),
        ("textDocument/inlineCompletion", {"position": {"line": 0, "character": 5}, "context": {"triggerKind": 2}}),
    ],
)
async def test_a_request_from_before_the_document_was_closed_is_answered(
    spawn: Spawn, method: str, params: dict[str, Any]
):
    """Otherwise an editor would show an error to the user, although no error happened."""
    editor = await spawn("vscode")
    editor.open(URI, "😀 teh")
    document = {"uri": URI}

    editor.send(
        {"id": 77, "method": method, "params": {"textDocument": document, **params}},
        {"method": "textDocument/didClose", "params": {"textDocument": document}},
    )

    assert await editor.answer(77)


async def test_our_own_diagnostic_keeps_its_tool_when_it_is_sent_back(spawn: Spawn):
    editor = await spawn("eglot")
    editor.open(URI, "😀 teh")
    [diagnostic] = (await editor.find_params("textDocument/publishDiagnostics"))["diagnostics"]

    async def sent_back(diagnostic: dict[str, Any]) -> Any:
        context = {"diagnostics": [diagnostic]}
        params = {"textDocument": {"uri": URI}, "range": TYPO["range"], "context": context}
        return (await editor.request("textDocument/codeAction", params))[0]["data"]["finding"]

    # with its data, the place and the words that an editor may have changed do not matter
    assert await sent_back({**diagnostic, "message": "cut o…", "range": make_typo_range(0)}) == FINDING
    # without it, the range and the code are read
    assert await sent_back(TYPO) == {**FINDING, "source": ""}
    broken = {**diagnostic, "data": {**diagnostic["data"], "finding": {"start": 99, "end": 100, "message": "?"}}}
    assert await sent_back(broken) == {**FINDING, "source": ""}


async def test_a_client_that_pulls_gets_refreshes_instead_of_diagnostics(spawn: Spawn):
    editor = await spawn("vscode")
    editor.open(URI, "😀 teh")
    await editor.find_params("workspace/diagnostic/refresh")

    report = await pull_diagnostics(editor)
    start_position = {"line": 0, "character": 0}
    accepted_place = {"location": {"uri": URI, "range": {"start": start_position, "end": start_position}}}
    diagnostic = {
        **TYPO,
        "range": make_typo_range(3),
        # the accepted text ends at a byte inside the emoji
        "relatedInformation": [{**accepted_place, "message": "it came with a suggestion that was accepted here"}],
        "codeDescription": {"href": VERDICT},
        "data": {"check": "spelling", "finding": FINDING, "verdict": VERDICT},
    }
    assert (report["kind"], remove_hash(report["items"])) == ("full", [diagnostic])
    again = await pull_diagnostics(editor, previousResultId=report["resultId"])
    assert again == {"kind": "unchanged", "resultId": report["resultId"]}

    change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": "fine"}]}
    editor.notify("textDocument/didChange", change)
    assert (await pull_diagnostics(editor, previousResultId=report["resultId"]))["items"] == []
    assert not [message for message in editor.received if message.get("method") == "textDocument/publishDiagnostics"]


async def test_a_refused_refresh_is_ignored(spawn: Spawn):
    editor = await spawn("vscode")
    editor.replies["workspace/diagnostic/refresh"] = ValueError("not now")
    editor.open(URI, "teh")
    await editor.find_params("workspace/diagnostic/refresh")

    assert (await pull_diagnostics(editor))["items"]


async def test_pulling_diagnostics_of_a_closed_document_returns_none(spawn: Spawn):
    editor = await spawn("vscode")

    with pytest.raises(ResponseError, match=rf"^-32602: {URI} is not open"):
        await pull_diagnostics(editor)


async def test_pulling_is_not_offered_to_clients_that_are_pushed_to(spawn: Spawn):
    editor = await spawn("eglot")

    with pytest.raises(ResponseError, match=r"^-32601"):
        await pull_diagnostics(editor)


async def pull_diagnostics(editor: Any, **more: object) -> dict[str, Any]:
    return await editor.request("textDocument/diagnostic", {"textDocument": {"uri": URI}, **more})


def make_typo_range(start: int) -> dict[str, Any]:
    """Return the range of the typo. The emoji before it is two units in UTF-16."""
    return {"start": {"line": 0, "character": start}, "end": {"line": 0, "character": start + 3}}


async def test_a_client_without_refreshes_gets_diagnostics(spawn: Spawn):
    client_capabilities = read_capabilities("vscode")
    del client_capabilities["workspace"]["diagnostics"]
    editor = await spawn("vscode", capabilities=client_capabilities)
    editor.open(URI, "teh")

    assert (await editor.find_params("textDocument/publishDiagnostics"))["diagnostics"]
    with pytest.raises(ResponseError, match=r"^-32601"):
        await pull_diagnostics(editor)
