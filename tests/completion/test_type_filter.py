"""The type gate as a user sees it: a suggestion is shown, replaced, cut or hidden, and the figures say so."""

from pathlib import Path
from typing import Any

import pytest

from lsp_harness.completion.completer import Completer
from lsp_harness.completion.type_filter import TypeFilter
from lsp_harness.harness.acceptance_stats import AcceptanceStats
from lsp_harness.kernel.results import Suggestion
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from tests.harness.tools import Script
from tests.support.desk import Desk as CompletionDesk
from tests.verify.types.desk import Desk as TypeDesk

pytestmark = pytest.mark.process

BODY = "def area(r):\n    <|>\n"


async def complete(
    folder: Path,
    *replies: str | dict[str, Any],
    is_warm: bool = True,
    automatic: bool = False,
    marked: str = BODY,
    **completion: Any,
) -> tuple[Suggestion | None, dict[str, Any], AcceptanceStats]:
    """Return the suggestion for replies of the model, the figures and the statistics."""
    types = TypeDesk(folder, **completion)
    if is_warm:
        await types.warm()
    cursor = types.cursor(marked)
    statistics = AcceptanceStats(lambda uri: None)
    completer = Completer(
        Script(*replies), types.config.completion, types=TypeFilter(types.gate, statistics.record_types)
    )
    desk = CompletionDesk(completer)
    suggestion = await desk.complete(
        cursor.document, parse(cursor.document), cursor.offset, "a.py", automatic=automatic
    )
    await desk.aclose()
    await types.gate.aclose()
    await types.pool.aclose()
    return suggestion, desk.last_figures, statistics


async def test_a_suggestion_without_an_error_is_shown(tmp_path: Path):
    suggestion, figures, statistics = await complete(tmp_path, "return r")
    assert suggestion
    assert (suggestion.text, figures["types"], statistics.counts.types_passed) == ("return r", "passed", 1)
    assert figures["types_ms"] >= 0


async def test_a_suggestion_with_an_error_is_hidden(tmp_path: Path):
    suggestion, figures, statistics = await complete(tmp_path, "return wrong(r)")
    assert suggestion is None
    assert (figures["types"], figures["quiet"]) == ("hidden", "types")
    assert figures["types_reason"] == "Name `wrong` is not defined"
    assert statistics.counts.types_hidden == 1


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        ("a = r\n    b = wrong(a)\n    return b", "a = r"),
        ("a = r\n    b = a\n    return wrong", "a = r\n    b = a"),
        # the start of a block is a useful suggestion
        ("a = r\n    if a:\n        return wrong", "a = r\n    if a:"),
    ],
)
async def test_the_lines_before_the_error_are_shown(tmp_path: Path, reply: str, shown: str):
    suggestion, figures, statistics = await complete(tmp_path, reply)
    assert suggestion
    assert (suggestion.text, figures["types"], statistics.counts.types_cut) == (shown, "cut", 1)
    assert "quiet" not in figures


@pytest.mark.parametrize("automatic", [False, True])
async def test_the_first_other_answer_without_an_error_is_shown(tmp_path: Path, automatic: bool):
    replies = ("return wrong(r)", "return wrong_2(r)", "return r + 1", "return r + 2")
    suggestion, figures, statistics = await complete(
        tmp_path, *replies, automatic=automatic, patience_ms=60_000, type_gate_ms=5000
    )
    assert suggestion
    assert (suggestion.text, figures["types"], statistics.counts.types_replaced) == ("return r + 1", "replaced", 1)
    assert figures["types_reason"] == "Name `wrong` is not defined"


@pytest.mark.parametrize("others", [{"alternatives": 1}, {"patience_ms": 1000}])
async def test_other_answers_must_come_within_the_patience_of_the_user(tmp_path: Path, others: dict[str, Any]):
    # five seconds for each check are more than the patience
    suggestion, figures, _ = await complete(tmp_path, "return wrong(r)", "return r", automatic=True, **others)
    assert suggestion is None
    assert figures["types"] == "hidden"


async def test_other_answers_that_are_not_finished_in_time_are_left_out(tmp_path: Path):
    replies = ("return wrong(r)", "return wrong_2", {"text": "return r", "hang": True})
    suggestion, figures, _ = await complete(tmp_path, *replies, automatic=True, patience_ms=20_200, type_gate_ms=5000)
    assert suggestion is None
    assert figures["types"] == "hidden"


async def test_the_longest_start_of_all_answers_is_shown(tmp_path: Path):
    replies = ("a = r\n    return wrong", "b = r\n    c = b\n    return wrong", "wrong", "d = r\n    wrong")
    suggestion, figures, _ = await complete(tmp_path, *replies)
    assert suggestion
    assert (suggestion.text, figures["types"]) == ("b = r\n    c = b", "cut")


async def test_a_suggestion_that_is_not_checked_is_shown(tmp_path: Path):
    suggestion, figures, statistics = await complete(tmp_path, "return wrong(r)", is_warm=False)
    assert suggestion
    assert (suggestion.text, figures["types"]) == ("return wrong(r)", "skipped")
    assert statistics.counts.types_skipped == 1


async def test_the_setting_switches_the_type_filter_off(tmp_path: Path):
    suggestion, figures, _ = await complete(tmp_path, "return wrong(r)", is_warm=False, type_gate=False)
    assert suggestion
    assert (figures["types"], figures["types_reason"]) == ("skipped", "completion.type_gate is off")


async def test_alternatives_are_checked_too(tmp_path: Path):
    types = TypeDesk(tmp_path)
    await types.warm()
    cursor = types.cursor(BODY)
    completer = Completer(
        Script("return wrong(r)", "return wrong_2(r)", "return r + 1", "return r + 2"),
        types.config.completion,
        types=TypeFilter(types.gate),
    )
    desk = CompletionDesk(completer)
    suggestions = await desk.choices(cursor.document, parse(cursor.document), cursor.offset, "a.py")
    await desk.aclose()
    await types.gate.aclose()
    await types.pool.aclose()
    assert sorted(suggestion.text for suggestion in suggestions) == ["return r + 1", "return r + 2"]


def test_statistics_of_an_older_version_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path))
    statistics = AcceptanceStats(lambda uri: Document.from_text(uri, ""))
    statistics.record_types("hidden")
    statistics.flush()
    [file] = tmp_path.rglob("statistics.json")
    file.write_text('{"since": "2025-01-01", "shown": 7, "accepted": 3}')
    statistics.record_types("cut")
    totals = statistics.totals()
    assert (totals["since"], totals["shown"], totals["accepted"]) == ("2025-01-01", 7, 3)
    assert (totals["survived"], totals["types_cut"]) == (0, 1)
