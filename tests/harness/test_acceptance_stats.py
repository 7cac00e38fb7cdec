"""Tests of the statistics of suggestions: whether they were accepted, typed or dismissed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_harness.completion.displayed_suggestions import DisplayedSuggestions
from lsp_harness.config import paths
from lsp_harness.disk.file_lock import FileLock
from lsp_harness.harness import acceptance_stats
from lsp_harness.harness.acceptance_stats import AcceptanceStats, Counts
from lsp_harness.kernel.results import Suggestion
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.workspace.open_document import OpenDocument

URI = "file:///a.py"


class Desk:
    """A document with typed text, and a clock that the test moves."""

    def __init__(self, text: str = "") -> None:
        self.document = Document.from_text(URI, text)
        self.due: list[Callable[[], None]] = []
        self.uptake = AcceptanceStats(lambda uri: self.document, lambda seconds, call: self.due.append(call))
        self.displayed = DisplayedSuggestions(OpenDocument(self.document), self.uptake)

    def show(self, *texts: str, at: int | None = None, **stats: bool) -> None:
        at = len(self.document.data) if at is None else at
        suggestions = [Suggestion(f"{i}", at, at, text, dict(stats)) for i, text in enumerate(texts)]
        self.displayed.display(self.document, suggestions)

    def put(self, *texts: str) -> None:
        """Append each text to the end by an edit of its own."""
        for text in texts:
            end = len(self.document.data)
            edit = Edit(end, end, text.encode())
            self.document = self.document.apply_edit(edit, self.document.version + 1)
            self.displayed.follow(edit)

    def assert_counts(self, **counts: int) -> None:
        assert self.uptake.counts == Counts(**counts)


@pytest.mark.parametrize(
    ("puts", "counts"),
    [
        (["abc def"], {"accepted": 1}),
        (["a", "bc def"], {"accepted": 1}),
        (["abc", " def"], {"accepted": 1}),
        (list("abc def"), {"typed_through": 1}),
        (["abc", "x"], {"accepted_partly": 1}),
        (["a", "b", "x"], {}),
        (["x"], {}),
    ],
)
def test_the_changed_text_shows_whether_a_suggestion_was_accepted(puts: list[str], counts: dict[str, int]):
    desk = Desk()
    desk.show("abc def")
    desk.put(*puts)
    desk.assert_counts(shown=1, **counts)


def test_a_text_that_an_editor_inserts_for_one_key_counts_as_typed():
    desk = Desk("f")
    desk.show("()\n    return")
    desk.put("()", "\n    ", *"return")
    desk.assert_counts(shown=1, typed_through=1)


def test_a_suggestion_that_the_client_also_reports_is_counted_once():
    desk = Desk()
    desk.show("abc def")
    desk.put("abc def")
    desk.displayed.accept("0")
    desk.assert_counts(shown=1, accepted=1)


def test_a_reported_acceptance_by_another_kind_of_edit_is_counted():
    desk = Desk("ab")
    desk.show("abc")
    desk.displayed.follow(Edit(0, 2, b"ababc"))
    desk.displayed.accept("0")
    desk.displayed.accept("0")
    desk.assert_counts(shown=1, accepted=1)


def test_the_rest_of_a_suggestion_is_not_a_new_one():
    desk = Desk()
    desk.show("abc")
    desk.put("a")
    desk.show("bc", typed_along=True)
    desk.put("bc")
    desk.assert_counts(shown=1, accepted=1)


def test_a_bracket_that_the_editor_closes_is_typed_along():
    desk = Desk()
    desk.show("(r, 2)")
    desk.put("()")
    desk.show("r, 2", at=1, typed_along=True)
    desk.displayed.follow(Edit(1, 1, b"r, 2"))
    desk.assert_counts(shown=1)
    desk.displayed.accept("0")
    desk.assert_counts(shown=1, accepted=1)


def test_a_suggestion_of_two_brackets_counts_as_typed_through():
    desk = Desk()
    desk.show("()")
    desk.put("()")
    desk.assert_counts(shown=1, typed_through=1)


def test_alternatives_at_one_place_count_as_one_suggestion():
    desk = Desk()
    desk.show("abc")
    desk.show("abc", "xyz")
    desk.put("xyz")
    desk.assert_counts(shown=1, accepted=1)


def test_a_suggestion_is_dismissed_only_by_its_own_id():
    desk = Desk()
    desk.show("abc")
    desk.displayed.dismiss("another")
    desk.assert_counts(shown=1)
    desk.displayed.dismiss("0")
    desk.assert_counts(shown=1, dismissed=1)


def test_a_suggestion_that_remains_for_half_a_minute_counts_as_survived():
    desk = Desk()
    desk.show("abc")
    desk.put("abc")
    desk.show("def")
    desk.put("def")
    desk.document = Document.from_text(URI, "xabc")
    for look in desk.due:
        look()
    desk.assert_counts(shown=2, accepted=2, survived=1)


def test_figures_are_added_up_over_runs_in_a_file_for_the_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path))
    for desk in (Desk(), Desk()):
        desk.show("abc")
        desk.put("abc")
        desk.uptake.flush()
        desk.uptake.flush()

    kept = Desk().uptake.totals()
    assert {"shown": 2, "accepted": 2, "survived": 0}.items() <= kept.items()
    assert len(kept["since"]) == len("2026-01-01")
    file = tmp_path / "state" / "statistics.json"
    file.write_text("{broken")
    assert Desk().uptake.totals()["shown"] == 0


def test_statistics_do_not_wait_for_a_locked_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path))
    monkeypatch.setattr(acceptance_stats, "LOCK_TIMEOUT_S", 0.01)
    desk = Desk()
    desk.show("abc")
    with FileLock(paths.state_folder() / "statistics.lock").hold():
        desk.uptake.flush()
        assert Desk().uptake.totals()["shown"] == 0
    # what was not added is added with what comes next
    assert desk.uptake.totals()["shown"] == 1
