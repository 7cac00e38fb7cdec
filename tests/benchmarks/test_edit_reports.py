"""The parts of the benchmarks of edits that need no model: plans, cases, the judgement of an answer, and the tables."""

import pytest

from benchmarks import accept_latency, fix_ruff_editor, ready_fixes
from benchmarks.accept_latency import choose_line, insert_line, pair_keys, plan_trials
from benchmarks.evaluation.suites.eval_task import EvalTask, ReportedFinding
from benchmarks.evaluation.suites.hidden_check import DiagnosticCheck
from benchmarks.linted_editor import Fix, describe_fix, order_fixes, read_marks
from benchmarks.ready_fixes import Case, Row, draw_thinking_time_s, find_cases, plan_writing, schedule

TEXT = "import os\n\n\ndef area(r):\n    width = 3 * widht\n    height = 2\n    return width * height\n"
CASE = Case("a", TEXT, "F821", "undefined-name", 4, 4)


# -- the editor
def make_action(*, edit: bool = False, needs_confirmation: bool = False, label: str = "lsp-harness: parse ✓") -> Row:
    annotations = {"1": {"label": label, "needsConfirmation": needs_confirmation}}
    action: Row = {"title": "Fix", "data": {"finding": {}}, "command": {"command": "applied"}}
    return action | ({"edit": {"changeAnnotations": annotations}} if edit else {})


def test_a_fix_that_is_ready_is_chosen_before_others():
    other: Row = {"title": "Fix all", "command": {}}
    first, ready = make_action(), make_action(edit=True)
    assert order_fixes([other, first, ready]) == [ready, first]
    assert order_fixes([other]) == []


@pytest.mark.parametrize(("needs_confirmation", "kind"), [(True, "model"), (False, "repair")])
def test_a_fix_is_described_by_its_maker_and_its_passed_checks(needs_confirmation: bool, kind: str):
    label = "lsp-harness: parse ✓, kept ✗, tests –"
    action = make_action(edit=True, needs_confirmation=needs_confirmation, label=label)
    fix = describe_fix(action, is_ready=True, wait_ms=1.23)
    assert (fix.kind, fix.is_ready, fix.wait_ms) == (kind, True, 1.2)
    assert fix.checks == {"parse": "passed", "kept": "failed", "tests": "skipped"}
    assert read_marks("lsp-harness: ") == {}


# -- ready_fixes
def test_the_end_of_the_faulty_lines_is_written_key_by_key():
    whole, cut = plan_writing(CASE, 1000), plan_writing(CASE, 10)
    assert whole.typed == "    width = 3 * widht\n    height = 2\n    return width * height"
    assert cut.typed == whole.typed[-10:]
    assert all(parts.before + parts.typed + parts.after == TEXT for parts in (whole, cut))


def test_cases_alternate_between_both_arms():
    cases = [CASE, Case("b", TEXT, "F821", "", 4, 4), Case("c", TEXT, "F821", "", 4, 4)]
    order = [(case.id, arm) for case, arm in schedule(cases)]
    assert order == [("a", "on"), ("b", "off"), ("c", "on"), ("a", "off"), ("b", "on"), ("c", "off")]


def test_the_simulated_user_waits_2_to_20_seconds_and_equally_long_for_equal_cases():
    times = [draw_thinking_time_s(Case(str(number), TEXT, "F821", "", 4, 4), 1) for number in range(200)]
    assert 2 <= min(times) < 3
    assert 15 < max(times) <= 20
    assert draw_thinking_time_s(CASE, 1) == draw_thinking_time_s(CASE, 1)


def test_a_case_has_the_rule_of_its_set_or_else_the_first_counting_rule():
    found = find_cases({"free": TEXT, "of a set": TEXT, "clean": "x = 1\n"}, {"of a set": "F401"})
    assert {case.id: (case.rule, case.first) for case in found} == {"free": ("F821", 4), "of a set": ("F401", 0)}


def test_a_diagnostic_is_recognized_by_the_code_or_the_name_of_its_rule():
    diagnostics: list[Row] = [{"code": "F821"}, {"code": "undefined-name"}, {"code": "F401"}, {}]
    assert CASE.select(diagnostics) == diagnostics[:2]
    assert Case("a", "(", "invalid-syntax", "invalid-syntax", 0, 0).select(diagnostics) == [{}]


def test_the_table_of_ready_fixes_counts_each_arm_alone():
    def row(arm: str, kind: str, *, ready: bool, thought: float) -> Row:
        counts = {"fixes_prepared": int(ready), "fixes_dropped": 1, "fix_tokens": 50}
        row: Row = {"arm": arm, "kind": kind, "ready": ready, "thought_s": thought, "rule": "F821"}
        completions = [100.0, 200.0] if arm == "on" else [100.0, 100.0]
        return row | counts | {"gone": kind != "none", "answer_ms": 10.0, "wait_ms": 5.0, "completions": completions}

    rows = [
        row("on", "repair", ready=True, thought=3.0),
        row("on", "model", ready=True, thought=12.0),
        row("on", "model", ready=False, thought=4.0),
        row("on", "none", ready=False, thought=7.0),
        row("on", "no diagnostic", ready=False, thought=7.0),
        row("off", "model", ready=False, thought=3.0),
    ]
    table = ready_fixes.summarize(rows)
    for line in (
        "| diagnostics | 4 | 1 |",
        "| a verified fix was ready | 2 (0.50) | 0 (0.00) |",
        "| – light bulb after 2 to 5 s | 1 (0.50) | 0 (0.00) |",
        "| – light bulb after 10 to 20 s | 1 (1.00) | – |",
        "| repaired without a model | 1 (0.25) | 0 (0.00) |\n| – ready | 1 (0.25) | 0 (0.00) |",
        "| by the model | 2 (0.50) | 1 (1.00) |\n| – ready | 1 (0.25) | 0 (0.00) |",
        "| no fix | 1 (0.25) | 0 (0.00) |",
        "| – thrown away | 4 | 1 |",
        "| tokens in the background for each diagnostic | 50 | 50 |",
        "| completions while typing | 10 | 2 |",
        "p95 of completions, on / off: 2.00",
        "no fix for: F821 (1)",
    ):
        assert line in table
    assert "| diagnostics | 0 | 0 |" in ready_fixes.summarize([])


# -- fix_ruff_editor
SOURCE = "import os\nimport sys\n\nprint(sys)\n"


def make_task() -> EvalTask:
    message = "`os` imported but unused"
    check = DiagnosticCheck("t.py", SOURCE, "F401")
    finding = ReportedFinding((0, 7), (0, 9), message, "ruff", "F401")
    return EvalTask("ruff/F401/0", "fix_ruff", "fix", {"t.py": SOURCE}, "t.py", message, check, finding=finding)


def test_a_diagnostic_of_preview_mode_is_that_of_the_task():
    message = "`os` imported but unused"
    far: Row = {"message": message, "range": {"start": {"line": 9}}}
    near: Row = {"message": f"{message}\n\nhelp: Remove it", "range": {"start": {"line": 1}}}
    other: Row = {"message": "`sys` imported but unused", "range": {"start": {"line": 0}}}
    assert fix_ruff_editor.select_diagnostics([far, near, other], make_task()) == [near, far]


async def test_an_answer_is_right_if_the_check_of_the_set_and_the_editor_agree():
    right, silenced = SOURCE.partition("\n")[2], SOURCE.replace("os\n", "os  # noqa\n", 1)
    fix = Fix("model", wait_ms=2000, checks={"parse": "passed", "gone": "passed"}, edit={})
    for text, is_reported, category in ((right, False, "pass"), (right, True, "fail"), (silenced, False, "fail")):
        result = await fix_ruff_editor.judge(make_task(), "m", fix, text, is_reported=is_reported)
        assert (result.category, result.seconds, result.kind) == (category, 2.0, "model")
        assert result.is_false_verified == (category == "fail")
    refused = await fix_ruff_editor.judge(make_task(), "m", Fix(reason="no"), SOURCE, is_reported=True)
    late = await fix_ruff_editor.judge(make_task(), "m", Fix(is_late=True), SOURCE, is_reported=True)
    assert (refused.category, refused.reason, late.category) == ("no answer", "no", "cut off")


async def test_the_table_of_fix_ruff_shows_both_arms_and_the_wrong_answers_by_their_checks():
    fix = Fix("repair", checks={"parse": "passed", "gone": "passed", "tests": "skipped"}, edit={})
    wrong = await fix_ruff_editor.judge(make_task(), "m", fix, SOURCE, is_reported=True)
    assert fix_ruff_editor.summarize([wrong]).endswith("wrong of those that passed parse, gone: 1 of 1")
    assert "| editor | 1 | 0 | 1 | 0 | 0 | 0.0 | 1 | 1 |" in fix_ruff_editor.summarize([wrong])


# -- accept_latency
def test_the_kinds_of_trials_take_turns_and_the_first_round_warms_up():
    assert [(trial.number, trial.kind) for trial in plan_trials(1)] == [
        *((-1, kind) for kind in accept_latency.KINDS),
        *((0, kind) for kind in accept_latency.KINDS),
    ]


def test_the_fault_is_in_the_last_function_whose_head_is_one_line():
    text = "def f():\n    return 1\n\n\ndef g(\n    x,\n):\n    return 2\n"
    assert insert_line(text, "    y = 1\n") == text.replace("    return 1", "    y = 1\n    return 1")
    with pytest.raises(ValueError, match="no function"):
        insert_line("x = 1\n", "y\n")


def test_a_part_of_a_statement_is_typed():
    text = "class A:\n    def f(self):\n        total = compute_the_total(self)\n        return total\n"
    before, typed, after = choose_line(text, 3)
    assert before.endswith("        ")
    assert typed == "total = compute_"
    assert after == "\n        return total\n"


def test_only_keys_of_the_same_trials_are_compared():
    rows: list[Row] = [
        {"checks": "lint", "kind": "alone", "number": 0, "ms": 20.0, "verdict": "verified ✓ 2 checks"},
        {"checks": "lint", "kind": "typing", "number": 0, "ms": 30.0, "keys": [50.0, 50.0], "awaited": 1},
        {"checks": "lint", "kind": "typing", "number": 1, "ms": 30.0, "keys": [900.0, 900.0], "awaited": 1},
        {"checks": "types", "kind": "typing", "number": 0, "ms": 90.0, "keys": [60.0, 60.0], "awaited": 2},
        {"checks": "types", "kind": "alone", "number": 3, "error": "there was no verdict"},
    ]
    assert pair_keys(rows, "types") == ([60.0, 60.0], [50.0, 50.0])
    table = accept_latency.summarize(rows)
    assert "| types | 0 | – | 90 / 90 | 2 | 60 / 60 | 1.20 |" in table
    assert "lint: verified ✓ 2 checks" in table
    assert "types, alone 3: there was no verdict" in table
