"""Tests of files that are private by their name or by an ignore file."""

import asyncio

import pytest

from lsp_harness.errors import NoAnswer
from lsp_harness.events.code_events import CheckReport, ChecksCompleted
from lsp_harness.events.session_events import InvocationReceived
from lsp_harness.kernel.results import FixOffer
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from tests.harness.bench import AREA, Make, propose_fix
from tests.harness.tools import read_checked_log, turn_context
from tests.support import markup
from tests.support.verification import wait_until_verified

pytestmark = pytest.mark.process

UNUSED = """
    import os
    #      ^^ F401 `os` imported but unused
    x = 1
    """


@pytest.mark.parametrize(
    ("name", "rules", "why"),
    [
        ("private/a.py", {".gitignore": "private/\n"}, "ignored by .gitignore"),
        ("a.py", {".lspharnessignore": "*.py\n"}, "ignored by .lspharnessignore"),
        ("a.env", {}, "a file for secrets, by its name"),
        (".env", {}, "a file for secrets, by its name"),
    ],
)
async def test_no_text_of_a_private_file_reaches_the_model_or_the_log(
    bench: Make, name: str, rules: dict[str, str], why: str
) -> None:
    b = bench(works_ahead=True)
    for file, text in rules.items():
        (b.folder / file).write_text(text)
    src = b.open(AREA, name)
    uri = src.document.uri
    snapshot = b.harness.snapshot(uri)
    assert b.harness.workspace.private_reason(snapshot).startswith(why)
    for automatic in (True, False):
        assert await b.harness.completions.complete(snapshot, len("def area(r):\n    "), automatic=automatic) == []
    b.harness.completions.warm(uri, 5)
    await asyncio.sleep(0)
    offers = await b.harness.fixes.offer(snapshot, src.findings)
    assert [offer for offer in offers if offer.source == "model"] == []
    with pytest.raises(NoAnswer, match=why):
        await propose_fix(b, src)
    assert b.engine.foreground_requests == b.engine.background_requests == []
    assert b.engine.counted == []
    assert not b.harness.services.session.log.path.exists()


async def test_the_linters_own_fix_of_an_ignored_file_is_not_in_the_log(bench: Make) -> None:
    b = bench()
    (b.folder / ".gitignore").write_text("a.py\n")
    heard: list[str] = []
    b.harness.services.session.log.listeners.append(lambda event: heard.append(event.type))
    src = b.open(UNUSED)
    proposal = await propose_fix(b, src, FixOffer("", "linter", src.finding))
    assert proposal.summary.startswith("the linter's own fix")
    # and what is held against it afterwards is not there either
    b.type(src, "def (\n", 0)
    b.harness.record(src.document.uri, proposal.id, "applied")
    await wait_until_verified()
    assert b.published[-1][1]
    assert heard.count("verify.completed") == 2
    assert "edit.applied" in heard
    assert not b.harness.services.session.log.path.exists()


async def test_a_file_that_is_no_longer_ignored_is_sent_to_the_model(bench: Make) -> None:
    b = bench("3 * r")
    rules = b.folder / ".gitignore"
    rules.write_text("a.py\n")
    src = b.open("def area(r):\n    return <|>\n")
    snapshot = b.harness.snapshot(src.document.uri)
    assert await b.harness.completions.complete(snapshot, src.cursor) == []
    rules.unlink()
    assert [suggestion.text for suggestion in await b.harness.completions.complete(snapshot, src.cursor)] == ["3 * r"]


async def test_the_rules_of_a_folder_that_joins_the_workspace_are_used(bench: Make) -> None:
    b = bench("3 * r")
    src = b.open("def area(r):\n    return <|>\n", "sub/a.py")
    (b.folder / ".lspharnessignore").write_text("sub/\n")
    b.harness.workspace.set_roots([])
    snapshot = b.harness.snapshot(src.document.uri)
    assert [suggestion.text for suggestion in await b.harness.completions.complete(snapshot, src.cursor)] == ["3 * r"]
    b.harness.workspace.set_roots([b.folder])
    assert (
        b.harness.workspace.private_reason(snapshot) == "ignored by .lspharnessignore, so it is not sent to the model"
    )


OTHER_URIS = [
    "vscode-notebook-cell:{folder}/private/nb.ipynb#W0s",
    "git:{folder}/private/a.py?%7B%22ref%22%3A%22%22%7D",
    "vscode-remote://ssh-remote%2Bbox{folder}/private/a.py",
    "file://{folder}/x/../private/a.py",
    "FILE:{folder}/link/a.py",
    "untitled:.env",
]
PRIVATE = "def greet_secretly(name, cart):\n    amount = cart.secretly(name)\n    return <|>\n"


@pytest.mark.parametrize("form", OTHER_URIS)
async def test_no_text_of_a_private_file_is_in_a_prompt_under_any_uri(bench: Make, form: str) -> None:
    b = bench("0", works_ahead=True)
    (b.folder / ".gitignore").write_text("/private/\n")
    (b.folder / "private").mkdir()
    (b.folder / "link").symlink_to("private")
    # from now on there is somebody who remembers what is typed
    assert b.harness.completions.repository()
    src = markup.parse(PRIVATE)
    uri = form.format(folder=b.folder)
    b.harness.open(Document.from_text(uri, src.document.data, language="python", version=1))
    b.harness.change(uri, Edit(src.cursor, src.cursor, b"amount"), 2)
    snapshot = b.harness.snapshot(uri)
    assert b.harness.workspace.private_reason(snapshot)
    for automatic in (True, False):
        assert await b.harness.completions.complete(snapshot, src.cursor, automatic=automatic) == []
    b.harness.completions.warm(uri)
    await asyncio.sleep(0)
    with pytest.raises(NoAnswer, match="not sent to the model"):
        b.harness.turns.require_editable(snapshot)
    assert b.engine.foreground_requests == b.engine.background_requests == []
    assert list(b.harness.services.edited_documents()) == []

    other = b.open("def greet_openly(name, cart):\n    amount = cart.openly(name)\n    return <|>\n", "b.py")
    await b.harness.completions.complete(
        b.harness.snapshot(other.document.uri), other.cursor, automatic=False, single=True
    )
    assert "openly" in b.engine.prompt(-1)
    assert "secretly" not in b.engine.prompt(-1)
    b.harness.verification.start(b.harness.documents.get(uri), src.document)
    b.harness.close(uri)
    assert not b.harness.services.session.log.path.exists()


async def test_code_of_a_file_that_is_ignored_by_now_is_in_no_prompt(bench: Make) -> None:
    b = bench()
    turn = b.harness.services.session.log.turn()
    turn.append(InvocationReceived("check", "what was taken", "private/a.py"))
    turn.append(ChecksCompleted("x", False, (CheckReport("lint", "failed", lines=("a secret name",)),)))
    src = b.open(AREA, "b.py")
    snapshot = b.harness.snapshot(src.document.uri)
    assert turn_context(b, snapshot).session_lines == ("Open in private/a.py: a secret name",)
    (b.folder / ".gitignore").write_text("private/\n")
    assert turn_context(b, snapshot).session_lines == ()


async def test_a_file_that_is_not_private_is_logged(bench: Make) -> None:
    b = bench()
    src = b.open(UNUSED)
    await propose_fix(b, src, FixOffer("", "linter", src.finding))
    assert read_checked_log(b.harness.services.session.log.path)
