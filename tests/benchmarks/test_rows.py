"""Tests of the figures from recorded rows: of keypresses, of an hour of typing, of memory."""

import json

from benchmarks.engine.real_edits import RealEdit
from benchmarks.growth import compute_growth_by_quarters, count_processes, find_growth
from benchmarks.keypress import (
    CACHED,
    TYPED_ALONG,
    WRITTEN,
    Keypress,
    count_missing_suggestions,
    format_row,
    format_table,
    make_keypress,
    read,
)
from benchmarks.keypress_vscode import edit_for_typist, make_row
from benchmarks.typist_report import count_lines, sum_reuse


def test_the_parts_of_a_keypress_add_up_to_its_duration():
    row = make_keypress(3, 100.0, 130.0, 530.0, 540.0, {"engine_ms": 300.0, "waited_ms": 60.0})
    assert row == Keypress(3, 440.0, 40.0, 100.0, 300.0, WRITTEN, 60.0)
    assert row.shown_ms == row.editor_ms + row.server_ms + row.engine_ms


def test_a_keypress_without_a_request_to_the_model_has_its_own_kind():
    assert make_keypress(1, 0.0, None, None, 4.0, {}) == Keypress(1, 4.0, 4.0, 0.0, 0.0, TYPED_ALONG)
    assert make_keypress(1, 0.0, 1.0, 3.0, 4.0, {"typed_along": True}).kind == TYPED_ALONG
    assert make_keypress(1, 0.0, 1.0, 3.0, 4.0, {"cached": True}) == Keypress(1, 4.0, 2.0, 2.0, 0.0, CACHED)


def test_a_record_of_the_typist_in_vscode_becomes_a_keypress():
    row_data = {
        "key": 7,
        "pressed": 100.0,
        "asked": 130.0,
        "answered": 530.0,
        "shown": 540.0,
        "figures": {"engine_ms": 300.0},
    }
    assert make_row(row_data) == Keypress(7, 440.0, 40.0, 100.0, 300.0, WRITTEN)
    row_data = {"key": 8, "pressed": 600.0, "shown": 630.0, "figures": {}}
    assert make_row(row_data) == Keypress(8, 30.0, 30.0, 0.0, 0.0, TYPED_ALONG)


def test_the_typist_in_vscode_gets_the_keys_that_write_an_edit():
    edit = RealEdit("a.go", "go", "x\n", "\ny\n", "if a < b {\n\tf()\n}")
    order = json.loads(edit_for_typist(edit))
    text = ""
    for part in order["parts"]:
        assert part == "\b" or len(part) == 1 or part == "\n\t"
        text = text[:-1] if part == "\b" else text + part
    assert text == edit.text
    assert (order["before"], order["after"]) == (edit.before, edit.after)


def test_written_rows_can_be_read_again_and_become_a_table():
    rows = [Keypress(n, 100.0 + n, 30.0, 20.0, 50.0 + n, WRITTEN, 5.0) for n in range(101)]
    rows.append(Keypress(101, 2.0, 2.0, 0.0, 0.0, TYPED_ALONG))
    assert read(map(format_row, rows)) == rows
    assert "| written | 101 | 150 / 195 | 30 / 30 | 20 / 20 | 100 / 145 | 5 / 5 |" in format_table(rows)
    assert "| typed along | 1 | 2 / 2 |" in format_table(rows)
    assert CACHED not in format_table(rows)


def test_an_answer_after_the_screen_was_drawn_is_not_counted():
    assert make_keypress(1, 0.0, 30.0, 300.0, 2.0, {"engine_ms": 200.0}) == Keypress(1, 2.0, 2.0, 0.0, 0.0, TYPED_ALONG)


def test_keys_without_a_suggestion_are_counted_by_reason():
    given = [format_row(Keypress(1, 2.0, 2.0, 0.0, 0.0, WRITTEN)), *['{"nothing": "kept quiet: in_word"}'] * 2, ""]
    assert len(read(given)) == 1
    assert count_missing_suggestions(given) == {"kept quiet: in_word": 2}
    assert (
        format_table(read(given), count_missing_suggestions(given)).splitlines()[-1]
        == "| kept quiet: in_word | 2 | – | – | – | – | – |"
    )


def test_growth_is_from_the_second_quarter_to_the_last():
    growth = compute_growth_by_quarters("memory", [10.0, 10.0, 40.0, 40.0, 50.0, 50.0, 44.0, 44.0])
    assert growth
    assert growth.message == "10.0 → 40.0 → 50.0 → 44.0 (+10.0 % from the second quarter on; most 50.0; 8 samples)"
    assert compute_growth_by_quarters("memory", [1.0, 2.0, 3.0]) is None
    rows = [{"who": who, "rss": 5.0, "fds": 9} for who in ("server", "engine")] * 4
    assert [each.what for each in find_growth(rows)] == [
        f"{who} {what}" for who in ("server", "engine") for what in ("memory, MiB", "descriptors")
    ]


def test_reuse_is_a_share_of_the_tokens_that_the_model_read():
    asked = {"prompt_tokens": 40, "reused": 30}
    assert sum_reuse([asked, asked | {"reused": 40}, asked | {"cached": True}, {"prompt_tokens": 0}]) == (70, 80)


def test_an_hour_of_typing_is_the_sum_of_its_parts_after_the_start():
    requests = {"asked": 9, "cancelled": 4, "failed": 0, "redraws": 8}
    part = {"row": "part", "keys": 20, "whole": 1, "line": 1, "word": 2, "saved": 10, "looks": 30, "ghosts": 5}
    part |= {"seconds": 60.0, "paused": 20.0, "edits": 2, "frames": 4, "drawn": 3, "fit_whole": 2, "fit_none": 1}
    part |= {"requests": requests, "statistics": {"shown": 7, "accepted": 1}}
    ready = {"row": "ready", "took": 5.0, "requests": {"asked": 2}, "statistics": {"shown": 1, "accepted": 0}}
    figures = [{"row": "figures", "quiet": rule, "prompt_tokens": 9, "reused": 0} for rule in ("in_word", "in_word")]
    row_data = dict(count_lines([ready, part, *figures, part, {"row": "stale"}]))
    assert row_data["minutes / of them pauses / edits"] == "1.0 / 0.7 / 4"
    assert row_data["keys / a second between pauses"] == "40 / 2.0"
    assert row_data["characters saved"] == "20 (33.3 % of all)"
    assert row_data["suggestions shown (the server's count)"] == "6"
    assert row_data["accept keys: whole / line / word"] == "2 / 2 / 4"
    assert row_data["there at a key: all right / first line / first word / nothing"] == "4 / 0 / 0 / 2"
    assert row_data["stale, at a redraw or a key"] == "1"
    assert row_data["requests / superseded / failed"] == "7 / 4 / 0"
    assert row_data["prompt tokens reused"] == "none told, of 2 answers that were told of"
    assert row_data["kept quiet by rule, of these"] == "in_word 2"


def test_a_process_that_was_replaced_is_seen():
    rows = [{"row": "sample", "who": "engine", "pid": pid, "rss": 5.0, "fds": 9} for pid in (1, 1, 2)]
    assert count_processes(rows) == {"engine": 2}
