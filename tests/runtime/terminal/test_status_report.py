"""Reports of the Program Status Protocol: what is taken, and what is not."""

from base64 import b64encode

import pytest

from lsp_harness.runtime.terminal.terminal_signals import (
    MAX_RECORDS,
    ReportedState,
    StatusRecords,
    StatusReport,
    parse_report,
)


def encode_text(text: str) -> str:
    return b64encode(text.encode()).decode()


def test_all_fields_of_a_report_are_parsed():
    payload = f"state=blocked:app=claude:id=main/sub:kind=permission:progress=30:title={encode_text('a task')}"
    payload += f":msg={encode_text('approve Bash: touch made.txt')}"

    assert parse_report(payload) == StatusReport(
        "blocked", "claude", "main/sub", "permission", 30, "a task", "approve Bash: touch made.txt"
    )


@pytest.mark.parametrize(
    "payload", ["", "?", "state", "state=", "state=sleeping", "app=claude", "state=idle:msg=" + "A" * 5000]
)
def test_invalid_reports_are_dropped(payload: str):
    assert parse_report(payload) is None


@pytest.mark.parametrize(
    "message",
    [
        "!!!",
        encode_text("a\x1b[31mb"),
        encode_text("line\nline"),
        encode_text("x" * 2049),
        b64encode(b"\xff\xfe").decode(),
    ],
)
def test_a_report_with_an_invalid_message_keeps_its_state(message: str):
    assert parse_report(f"state=blocked:kind=auth:msg={message}") == StatusReport("blocked", kind="auth")


def test_marks_of_the_writing_direction_are_removed_and_padding_may_be_missing():
    encoded_text = encode_text("a\u202eb\u2066c").rstrip("=")
    assert parse_report(f"state=working:msg={encoded_text}") == StatusReport("working", message="abc")


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("100", 100), ("999", 100), ("-1", None), ("x", None)])
def test_the_progress_is_a_percentage(text: str, number: int | None):
    assert parse_report(f"state=working:progress={text}") == StatusReport("working", progress=number)


def test_each_part_of_a_program_has_its_own_record():
    records = StatusRecords()
    for state, part in (("working", "a"), ("idle", "b"), ("blocked", "a")):
        records.add(StatusReport(_parse_state(state), "app", part))
    assert [(report.state, report.id) for report in records.reports] == [("idle", "b"), ("blocked", "a")]

    records.add(StatusReport("clear", "app", "b"))
    assert [report.id for report in records.reports] == ["a"]
    records.add(StatusReport("clear"))
    assert records.reports == []


def test_the_number_of_records_is_bounded():
    records = StatusRecords()
    for number in range(MAX_RECORDS + 50):
        records.add(StatusReport("idle", "app", str(number)))

    assert len(records.reports) == MAX_RECORDS
    records.clear()
    assert records.reports == []


def _parse_state(name: str) -> ReportedState:
    report = parse_report(f"state={name}")
    assert report
    return report.state
