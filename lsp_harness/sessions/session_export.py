"""The history of a session in other forms: for other programs, and for a person."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Literal

from lsp_harness.wire.event import Event, encode

ExportFormat = Literal["json", "lines", "transcript"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = ("json", "lines", "transcript")


def export_events(events: Sequence[Event], format: ExportFormat) -> str:
    """Return events as one JSON list, as a line of JSON for each event, or as lines for a person."""
    if format == "json":
        return json.dumps([asdict(event) for event in events], ensure_ascii=False, indent=1)
    if format == "lines":
        return "\n".join(encode(event) for event in events)
    return "\n".join(render_transcript(events, None))


def render_transcript(events: Sequence[Event], limit: int | None) -> Iterator[str]:
    """Yield the lines of a session for a person.

    Args:
        events: The events.
        limit: The most characters of a text. None shows whole texts.
    """
    for event in events:
        data = event.data
        match event.type:
            case "invocation.received" | "invocation.auto" | "queue.taken":
                where = f" ({data['path']})" if data.get("path") else ""
                yield f"\nyou: {_cut(str(data.get('text')), limit)}{where}"
            case "tool.started":
                given = json.dumps(data.get("input") or {}, ensure_ascii=False)
                yield f"  · {data.get('tool')} {_cut(given, limit)}"
            case "tool.completed" | "tool.failed":
                mark = "✓" if event.type == "tool.completed" else f"✗ {data.get('reason')}:"
                yield f"    {mark} {_cut(str(data.get('output')), limit)}"
            case "model.completed" if data.get("text"):
                yield f"model: {_cut(str(data['text']), limit)}"
            case "edit.proposed":
                yield f"  proposed: {data.get('summary')}"
                yield _cut(str(data.get("diff")), limit)
            case "edit.applied" | "edit.rejected" | "edit.stale" | "edit.reverted":
                yield f"  {event.type.replace('.', ' ')}"
            case "turn.stopped" if data.get("reason") != "completed":
                yield f"  the turn ended: {data.get('reason')} ({data.get('detail')})"
            case _:
                pass


def _cut(text: str, limit: int | None) -> str:
    return text if limit is None or len(text) <= limit else f"{text[: limit - 1]}…"
