"""Tests of the quiet gate in a front end: its events, and the places without a suggestion."""

from dataclasses import replace
from typing import Any

from lsp_harness.text.edit import Edit
from tests.harness.bench import QUICK, Make
from tests.harness.tools import make_settings
from tests.support import markup

TOTAL = "total = <|>\n"


async def complete(b: Any, src: markup.Source, offset: int, *, automatic: bool = True) -> str | None:
    suggestions = await b.harness.completions.complete(
        b.harness.snapshot(src.document.uri), offset, automatic=automatic
    )
    return suggestions[0].text if suggestions else None


async def read_quiet_rule(b: Any) -> str | None:
    return (await b.harness.status())["completion"].get("quiet")


async def test_after_a_deletion_no_suggestion_is_shown_until_the_user_types(bench: Make) -> None:
    b = bench("(xs)")
    src = b.open("total = summ<|>\n")
    uri = src.document.uri
    b.harness.change(uri, Edit(src.cursor - 1, src.cursor, b""), 2)
    assert await complete(b, src, src.cursor - 1) is None
    assert await read_quiet_rule(b) == "after_deletion"
    offset = b.type(src, "s", src.cursor - 1)
    assert await complete(b, src, offset) == "(xs)"
    assert await read_quiet_rule(b) is None


async def test_an_explicit_request_is_answered_where_suggestions_are_suppressed(bench: Make) -> None:
    b = bench("m in the comment", config=make_settings(QUICK, completion={"alternatives": 1}))
    src = b.open("# su<|>\n")
    assert await complete(b, src, src.cursor) is None
    assert await complete(b, src, src.cursor, automatic=False) == "m in the comment"


async def test_a_dismissed_suggestion_does_not_come_back_with_the_next_key(bench: Make) -> None:
    b = bench("sum(xs)")
    src = b.open(TOTAL)
    uri = src.document.uri
    [suggestion] = await b.harness.completions.complete(b.harness.snapshot(uri), src.cursor)
    b.harness.record(uri, "another", "dismissed")
    b.harness.record(uri, suggestion.id, "dismissed")
    assert await complete(b, src, src.cursor) is None
    assert await read_quiet_rule(b) == "after_dismissal"
    # it is how the suggestion went on
    offset = b.type(src, "s", src.cursor)
    assert await complete(b, src, offset) is None
    offset = b.type(src, "um", offset)
    assert await complete(b, src, offset) == "(xs)"


async def test_a_dismissal_with_an_unknown_id_is_ignored(bench: Make) -> None:
    b = bench("sum(xs)")
    src = b.open(TOTAL)
    await b.harness.completions.complete(b.harness.snapshot(src.document.uri), src.cursor)
    b.harness.record(src.document.uri, "another", "dismissed")
    b.harness.record("file:///nowhere.py", "another", "dismissed")
    assert await complete(b, src, src.cursor) == "sum(xs)"


async def test_a_late_dismissal_counts_at_the_place_of_its_suggestion(bench: Make) -> None:
    b = bench("sum(xs)")
    src = b.open("x = 1\n" + TOTAL)
    uri = src.document.uri
    [suggestion] = await b.harness.completions.complete(b.harness.snapshot(uri), src.cursor)
    b.type(src, "import os\n", 0)
    b.harness.record(uri, suggestion.id, "dismissed")
    assert await complete(b, src, src.cursor + len("import os\n")) is None
    assert await read_quiet_rule(b) == "after_dismissal"


async def test_a_closed_document_has_no_history(bench: Make) -> None:
    b = bench("sum(xs)", "sum(ys)")
    src = b.open(TOTAL)
    uri = src.document.uri
    [suggestion] = await b.harness.completions.complete(b.harness.snapshot(uri), src.cursor)
    b.harness.record(uri, suggestion.id, "dismissed")
    b.harness.close(uri)
    src = b.open(TOTAL + "\n")
    assert await complete(b, src, src.cursor) == "sum(ys)"


async def test_a_suggestion_that_is_typed_along_is_still_shown_inside_of_a_string(bench: Make) -> None:
    b = bench('print("hello")')
    src = b.open("<|>\n")
    assert await complete(b, src, 0) == 'print("hello")'
    offset = b.type(src, 'print("he', 0)
    assert await complete(b, src, offset) == 'llo")'
    offset = b.type(src, "y", offset)
    assert await complete(b, src, offset) is None
    assert await read_quiet_rule(b) == "in_string"


async def test_settings_take_effect_at_once(bench: Make) -> None:
    b = bench("m of squares")
    src = b.open("# su<|>\n")
    assert await complete(b, src, src.cursor) is None
    config = b.harness.config
    b.harness.configure(replace(config, quiet=replace(config.quiet, in_comment=False)))
    assert await complete(b, src, src.cursor) == "m of squares"
