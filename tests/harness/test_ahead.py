"""Work before a request: warming and speculation, and the work that needs a trusted workspace."""

import asyncio
from typing import Any

import pytest

from lsp_harness.completion.document_completions import DocumentCompletions
from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.harness.verification.verifier import UntrustedRuff, Verifier
from lsp_harness.inference.request import Infill
from lsp_harness.kernel.results import FixOffer
from lsp_harness.text.document import Document
from lsp_harness.verify.check import CheckTools
from tests.harness.bench import AREA, QUICK, Bench, Make, accept, propose_fix
from tests.harness.tools import make_edit_settings, make_settings
from tests.support import markup
from tests.support.verification import wait_until_verified

RETURN = "def area(r):\n    return <|>\n"


async def count_engine_starts(b: Bench) -> int:
    """Start the engine early. Return how often it was asked since."""
    b.harness.completions.start_engine()
    turned = asyncio.Event()
    loop = asyncio.get_running_loop()
    # the harness starts it with the next turn of the loop, and its task runs in the one after
    loop.call_soon(lambda: loop.call_soon(turned.set))
    await turned.wait()
    return b.engine.props_count


async def read_warmed_prefixes(b: Bench, src: markup.Source) -> list[Any]:
    """Return the prefixes that were evaluated in the background, once this work is over."""
    # the harness warms with the next turn of the loop
    turned = asyncio.Event()
    asyncio.get_running_loop().call_soon(turned.set)
    await turned.wait()
    opened = b.harness.documents.find(src.document.uri)
    if opened and (state := opened.find_part(DocumentCompletions)):
        await state.prefetch.wait_until_idle()
    return [request.context.prefix for request in b.engine.background_requests if isinstance(request, Infill)]


async def test_a_place_is_warmed_where_the_user_is_or_was_last_seen(bench: Make) -> None:
    b = bench(works_ahead=True)
    src = b.open(RETURN)
    uri = src.document.uri
    b.harness.completions.warm(uri)
    assert await read_warmed_prefixes(b, src) == [""]
    b.harness.completions.warm(uri, 3)
    assert await read_warmed_prefixes(b, src) == ["", "def"]
    b.type(src, "1", src.cursor)
    b.harness.completions.warm(uri)
    assert await read_warmed_prefixes(b, src) == ["", "def", "def area(r):\n    return 1"]
    b.harness.completions.warm("file:///not/open.py")
    b.harness.completions.warm(uri, 5)
    b.harness.close(uri)
    assert len(await read_warmed_prefixes(b, src)) == 3


async def test_a_reopened_document_is_warmed_at_the_last_cursor(bench: Make) -> None:
    b = bench(works_ahead=True)
    src = b.open(RETURN)
    b.harness.completions.warm(src.document.uri, 3)
    assert await read_warmed_prefixes(b, src) == ["def"]
    b.harness.close(src.document.uri)
    b.harness.open(Document.from_text(src.document.uri, "de", language="python"))
    b.harness.completions.warm(src.document.uri)
    # it may have become shorter
    assert await read_warmed_prefixes(b, src) == ["def", "de"]


@pytest.mark.process
async def test_after_an_accepted_completion_the_next_place_is_warmed(bench: Make) -> None:
    b = bench("3 * r", config=make_settings(QUICK, completion={"speculate": False}), works_ahead=True)
    src = b.open(RETURN)
    await accept(b, src)
    assert await read_warmed_prefixes(b, src) == ["def area(r):\n    return 3 * r"]
    await wait_until_verified()


@pytest.mark.parametrize(
    ("completion", "eager", "trusted"),
    [({}, False, True), ({}, True, False), ({"warm": False}, True, True), ({"enabled": False}, True, True)],
)
async def test_no_place_is_warmed_if_the_settings_or_missing_trust_forbid_it(
    bench: Make, completion: dict[str, Any], eager: bool, trusted: bool
) -> None:
    b = bench(config=make_settings(QUICK, completion=completion), works_ahead=eager, is_trusted=trusted)
    src = b.open(RETURN)
    b.harness.completions.warm(src.document.uri)
    assert await read_warmed_prefixes(b, src) == []


@pytest.mark.parametrize(
    ("config", "stays", "is_trusted", "expected"),
    [
        ({}, True, True, 1),
        ({"engine": {"start_early": False}}, True, True, 0),
        ({"completion": {"enabled": False}}, True, True, 0),
        ({}, False, True, 0),
        ({}, True, False, 0),
    ],
)
async def test_the_engine_starts_with_the_server(
    bench: Make, config: dict[str, Any], stays: bool, is_trusted: bool, expected: int
) -> None:
    b = bench(config=make_settings(QUICK, **config), works_ahead=stays, is_trusted=is_trusted)
    assert await count_engine_starts(b) == expected


async def test_the_engine_does_not_start_early_while_suggestions_are_paused(bench: Make) -> None:
    b = bench(config=QUICK, works_ahead=True)
    b.harness.completions.pause("here", on=True)
    assert await count_engine_starts(b) == 0


@pytest.mark.process
async def test_only_a_document_of_a_trusted_workspace_may_be_kept_on_disk(bench: Make) -> None:
    for trusted, name, expected in ((True, "a.py", True), (True, "/elsewhere/a.py", False), (False, "a.py", False)):
        b = bench("3 * r", *(["return 4"] if trusted else []), config=make_edit_settings(1), is_trusted=trusted)
        src = b.open(RETURN + "x = pi\n#   ^^ F821 what\n", name)
        snapshot = b.harness.snapshot(src.document.uri)
        await b.harness.completions.complete(snapshot, src.cursor)
        with pytest.raises(NoAnswer if trusted else UsageError):
            await b.harness.fixes.fix(snapshot, FixOffer("", "model", src.finding), lambda progress: None)
        assert {request.owner.persist for request in b.engine.foreground_requests} == {expected}


async def test_without_trust_only_completions_are_offered(bench: Make) -> None:
    b = bench("3 * r", verifier=Verifier(CheckTools(UntrustedRuff())), works_ahead=True, is_trusted=False)
    src = b.open(AREA)
    snapshot = b.harness.snapshot(src.document.uri)
    assert [offer.source for offer in await b.harness.fixes.offer(snapshot, src.findings)] == []
    examined = await b.harness.fixes.diagnose(snapshot)
    assert examined.findings == ()
    assert await b.harness.completions.complete(snapshot, 0)
    assert await read_warmed_prefixes(b, src) == []
    with pytest.raises(
        UsageError,
        match="this workspace is not trusted, so there are only completions; trust it in the editor",
    ):
        await propose_fix(b, src)


async def test_a_file_with_a_secret_name_is_offered_no_fix_of_the_model(bench: Make) -> None:
    b = bench()
    src = b.open("A=1\n#^ something is wrong\n", ".env")
    assert await b.harness.fixes.offer(b.harness.snapshot(src.document.uri), src.findings) == []
