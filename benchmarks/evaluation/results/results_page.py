"""The HTML page of an evaluation: one file, without anything from other sites, in a light and a dark theme."""

from collections.abc import Sequence
from html import escape

from benchmarks.engine.report import STYLE
from benchmarks.evaluation.arm_registry import ARMS
from benchmarks.evaluation.attempt import CATEGORIES
from benchmarks.evaluation.results.arm_figures import (
    ArmFigures,
    PairedDifference,
    compare_pairs,
    compute_figures,
    group_results,
    name_arm,
)
from benchmarks.evaluation.results.task_result import TaskResult

OWN_STYLE = """
body { max-width: 90rem; } .scroll { overflow-x: auto; }
td.pass { color: var(--good); } td.fail { color: var(--bad); } td.other { color: var(--soft); }
pre { white-space: pre-wrap; font-size: .85rem; margin: .5rem 0; } summary { cursor: pointer; }
.added { color: var(--good); } .removed { color: var(--bad); }
"""


def render_results(results: Sequence[TaskResult]) -> str:
    """Return the page as HTML."""
    groups = group_results(results)
    figures = [compute_figures(arm, found) for arm, found in groups.items()]
    suites = ", ".join(dict.fromkeys(result.suite for result in results))
    models = ", ".join(dict.fromkeys(result.model for result in results))
    commits = ", ".join(dict.fromkeys(result.commit for result in results))
    times = sorted(result.time for result in results)
    period = f"{times[0]} to {times[-1]}" if times else ""
    titles = "".join(f"<li>{escape(arm.name)}: {escape(arm.title)}</li>" for arm in ARMS.values())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>lsp-harness evaluation</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}{OWN_STYLE}</style></head><body><h1>lsp-harness evaluation</h1>"
        f"<p>{escape(suites)}; model {escape(models)}; commit {escape(commits)}; {escape(period)}</p>"
        f"{_render_arm_table(figures)}{_render_pair_table(compare_pairs(groups))}{_render_standing_table(figures)}"
        f"{_render_verified_table(figures)}"
        f"<h2>Tasks</h2>{_render_task_table(results, list(groups))}<h2>Arms</h2><ul>{titles}</ul></body></html>\n"
    )


def _render_arm_table(figures: Sequence[ArmFigures]) -> str:
    heads = ("arm", "tasks", *CATEGORIES, "pass of judged", "median s", "tokens", "calls", "solved by")
    rows = [
        (
            item.arm,
            str(item.total),
            *(str(item.counts[category]) for category in CATEGORIES),
            "–" if item.pass_share is None else f"{item.pass_share:.0%}",
            f"{item.median_s:.1f}",
            f"{item.mean_tokens:.0f}",
            f"{item.mean_calls:.1f}",
            ", ".join(f"{kind or 'linter'} {count}" for kind, count in item.kinds.items()),
        )
        for item in figures
    ]
    return f"<h2>Arms side by side</h2>{_render_table(heads, rows)}"


def _render_pair_table(pairs: Sequence[PairedDifference]) -> str:
    if not pairs:
        return ""
    heads = ("first", "second", "both", "only first", "only second", "neither", "p (McNemar)")
    rows = [
        (
            pair.first,
            pair.second,
            *map(str, (pair.both, pair.only_first, pair.only_second, pair.neither)),
            f"{pair.p:.3f}",
        )
        for pair in pairs
    ]
    return f"<h2>Paired differences</h2>{_render_table(heads, rows)}"


def _render_standing_table(figures: Sequence[ArmFigures]) -> str:
    """Return what users were told about the answers: only what was said to be verified can be falsely verified."""
    heads = (
        *("arm", "verified", "of these wrong", "form only, behaviour not checked", "of these wrong"),
        *("neither", "no answer or failed checks"),
    )
    rows = [
        (
            item.arm,
            *map(str, (item.verified, item.false_verified, item.form_only, item.form_only_wrong, item.unverified)),
            str(item.judged - item.verified - item.form_only - item.unverified),
        )
        for item in figures
    ]
    return f"<h2>What was said about the answers</h2>{_render_table(heads, rows)}"


def _render_verified_table(figures: Sequence[ArmFigures]) -> str:
    rows = [
        (item.arm, checks, str(total), str(wrong), f"{wrong / total:.0%}")
        for item in figures
        for checks, (wrong, total) in item.false_by_checks.items()
    ]
    if not rows:
        return ""
    heads = ("arm", "checks that passed", "shown as verified", "wrong", "share")
    return f"<h2>Verified, and wrong</h2>{_render_table(heads, rows)}"


def _render_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'


def _render_task_table(results: Sequence[TaskResult], arms: Sequence[str]) -> str:
    tasks: dict[tuple[str, str], dict[str, TaskResult]] = {}
    for result in results:
        tasks.setdefault((result.suite, result.task), {})[name_arm(result)] = result
    head = "".join(f"<th>{escape(text)}</th>" for text in ("task", *arms))
    rows = "".join(
        f"<tr><td>{escape(task)}</td>{''.join(_render_cell(found.get(arm)) for arm in arms)}</tr>"
        for (_, task), found in tasks.items()
    )
    return f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _render_cell(result: TaskResult | None) -> str:
    if result is None:
        return '<td class="other">–</td>'
    kind = result.category if result.category in ("pass", "fail") else "other"
    states = ", ".join(f"{state} {seconds:.1f} s" for state, seconds in result.state_seconds.items())
    checks = ", ".join(f"{name} {status}" for name, status in result.checks.items())
    facts = [
        f"{result.seconds:.1f} s, {result.generated} tokens, {result.calls} calls, {result.candidates} candidates",
        *([f"made as {result.kind}"] if result.kind else []),
        *([f"states: {states}"] if states else []),
        *([f"checks: {checks}"] if checks else []),
        *([f"visible tests: {result.gate}"] if result.gate else []),
        *([f"reason: {result.reason}"] if result.reason else []),
        *(["shown as verified, and wrong"] if result.is_false_verified else []),
        *(f"rejected: {reason}" for reason in result.reasons),
    ]
    details = "".join(f"<div>{escape(fact)}</div>" for fact in facts) + _render_diff(result.diff)
    return f'<td class="{kind}"><details><summary>{result.category}</summary>{details}</details></td>'


def _render_diff(text: str) -> str:
    if not text:
        return ""
    lines = [_render_diff_line(line) for line in text.splitlines()]
    return f"<pre>{chr(10).join(lines)}</pre>"


def _render_diff_line(line: str) -> str:
    kind = {"+": "added", "-": "removed"}.get(line[:1], "")
    return f'<span class="{kind}">{escape(line)}</span>' if kind else escape(line)
