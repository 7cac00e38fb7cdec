"""The properties that an engine reports (`GET /props`), in words.

An older engine reports fewer; these lines are left out.
"""

from collections.abc import Iterator
from typing import Any, cast

from lsp_harness.inference.pace import Pace
from lsp_harness.text.wording import format_count

Json = dict[str, Any]
STEP_SIZES = ("1", "2", "4", "8")
"""Numbers of tokens of the decode steps whose time is shown. They show what candidates cost."""
CLIENT_NAME_CHARS = 26
"""Number of characters of a client's name that are shown. The names of our clients are as long."""


def list_facts(props: Json, rss_bytes: int) -> Iterator[tuple[str, str]]:
    """Return the (name, value) lines about one engine."""
    residents = _as_objects(props.get("residents"))
    context = _as_number(_as_object(props.get("default_generation_settings")).get("n_ctx"))
    totals = _as_object(props.get("totals"))
    if port := _as_number(props.get("tcp_port")):
        yield "port", f"http://127.0.0.1:{port:.0f}/v1 (for its token: lsp-harness engine token)"
    if port_error := props.get("tcp_error"):
        yield "port", f"none: {port_error}"
    if library := _as_object(props.get("library")):
        devices = ", ".join(map(str, cast("list[object]", library.get("devices") or [])))
        yield "llama.cpp", f"{library.get('name')} {library.get('version')} on {devices}"
    if rss_bytes:
        yield "memory", f"{rss_bytes / 2**20:,.0f} MiB"
    if context is not None:
        # prompts share their beginnings, so that the sum of their tokens may be more than there are
        used = _as_number(_as_object(props.get("kv")).get("used")) or 0
        sequences = (
            f", {used:,.0f} of them used by {format_count(len(residents), 'prompt')} in memory" if residents else ""
        )
        yield "context", f"{context:,.0f} tokens{sequences}"
    if speed := ", ".join(_format_speed(_as_object(props.get("curve")))):
        yield "speed", speed
    if steps := ", ".join(_format_steps(_as_object(props.get("curve")))):
        yield "a step", steps
    if (pending := _as_number(props.get("pending"))) is not None:
        yield "queue", format_count(round(pending), "request")
    if limitations := list_limits(props):
        yield "limits", limitations
    yield from _format_counts(totals)


def list_limits(props: Json) -> str:
    """Return what the model or its memory cannot do, and the consequence. The text is empty if it can do everything."""
    memory = _as_object(props.get("memory"))
    window = _as_number(memory.get("window"))
    limitations: list[str] = []
    if not Pace.from_props(props).can_infill:
        limitations.append(
            "has no fill-in-the-middle: there are no inline completions, and fixes only rewrite whole functions"
        )
    if memory.get("cuts") is False:
        size = (_as_number(memory.get("checkpoint_bytes")) or 0) / 2**20
        limitations.append(
            f"has a state that cannot be rolled back: prompts continue from checkpoints of {size:,.1f} MiB, so a key "
            "costs its own tokens, and a change above costs those behind the last checkpoint before the change"
        )
    elif window:
        limitations.append(
            f"has a sliding window of {window:,.0f} tokens: prompts cannot be saved, and moved lines are evaluated "
            "again"
        )
    elif memory.get("shifts") is False:
        limitations.append("cannot reuse lines that move up or down in a prompt")
    return "; ".join(limitations)


def list_clients(props: Json) -> Iterator[tuple[str, str, str, str]]:
    """Return (client, tokens, age, state) of each prompt in memory, the newest first."""
    residents = _as_objects(props.get("residents"))
    for resident in sorted(residents, key=lambda resident: _as_number(resident.get("age_s")) or 0):
        tokens, age = _as_number(resident.get("tokens")), _as_number(resident.get("age_s"))
        yield (
            str(resident.get("client") or "unnamed")[:CLIENT_NAME_CHARS],
            "?" if tokens is None else f"{tokens:,.0f}",
            "?" if age is None else _format_age(age),
            "at work" if resident.get("busy") is True else "parked" if resident.get("parked") is True else "",
        )


def compute_reuse_share(totals: Json) -> float | None:
    """Return the share of prompt tokens that were reused, from 0 to 1, or None before the first prompt."""
    evaluated, reused = (
        _as_number(totals.get("prompt_tokens_evaluated")),
        _as_number(totals.get("prompt_tokens_reused")),
    )
    if evaluated is None or reused is None or not evaluated + reused:
        return None
    return reused / (evaluated + reused)


def _format_counts(totals: Json) -> Iterator[tuple[str, str]]:
    share = compute_reuse_share(totals)
    if share is not None:
        prompt = sum(_as_number(totals.get(f"prompt_tokens_{kind}")) or 0 for kind in ("evaluated", "reused"))
        yield "reuse", f"{share:.1%} of {prompt:,.0f} prompt tokens"
    drafted, accepted = _as_number(totals.get("tokens_drafted")), _as_number(totals.get("tokens_accepted"))
    if drafted and accepted is not None:
        yield "drafts", f"{accepted / drafted:.1%} of {drafted:,.0f} tokens accepted"
    outcomes = {
        name: count for name, value in _as_object(totals.get("requests")).items() if (count := _as_number(value))
    }
    if outcomes:
        ordered = sorted(outcomes.items(), key=lambda item: (-item[1], item[0]))
        by_outcome = ", ".join(f"{name} {count:,.0f}" for name, count in ordered)
        yield "requests", f"{sum(outcomes.values()):,.0f}: {by_outcome}"


def _format_speed(curve: Json) -> Iterator[str]:
    for key, name in (("prompt_per_second", "prompts"), ("generated_per_second", "generation")):
        if (speed := _as_number(curve.get(key))) is not None:
            yield f"{name} {speed:,.0f} tokens/s"


def _format_steps(curve: Json) -> Iterator[str]:
    decode = _as_object(curve.get("decode_ms"))
    for size in STEP_SIZES:
        if (ms := _as_number(decode.get(size))) is not None:
            yield f"{format_count(int(size), 'token')} {ms:.0f} ms"


def _format_age(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"


def _as_object(value: Any) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _as_objects(value: Any) -> list[Json]:
    return [_as_object(item) for item in cast("list[Any]", value)] if isinstance(value, list) else []


def _as_number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
