"""Tool calls in the answer of a model, with a grammar or without one.

A model without a grammar may write several calls, put them into a Markdown fence, leave out the marks, or write the
arguments as a string with JSON. All of that is understood. What is not understood becomes a sentence for the model.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from lsp_harness.chat.tool_grammar import CALL_END, CALL_START

DECODER = json.JSONDecoder(strict=False)
"""A decoder that accepts raw line ends in strings, which small models write."""
TOOLS_START = "<tools>"
"""The mark that some models put around a call, because their tools stand within it."""
FENCE = re.compile(rf"\A(?:```[\w-]*[ \t]*\n(.*?)\n?```|{TOOLS_START}(.*)</tools>)\Z", re.DOTALL)
ARGUMENT_KEYS = ("arguments", "parameters", "input")
BLANKS_BEFORE = re.compile(r"\s*(?:```[\w-]*\s*)?")
MARK_AFTER = re.compile(r"\s*(?:```\s*)?(?:</tool_call>)?")
MAX_QUOTED_CHARS = 120

THINKING_START, THINKING_END = "<think>", "</think>"
"""Marks around the reasoning with which some models begin an answer."""


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call that a model requests. Whether there is such a tool, and whether the input fits, is not checked yet."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The parts of an answer.

    Attributes:
        text: The text without the calls.
        calls: The calls, in their order.
        problem: A sentence for the model about a call that could not be read, or an empty text.
    """

    text: str
    calls: tuple[RequestedCall, ...] = ()
    problem: str = ""


def parse_answer(text: str, names: Iterable[str] = ()) -> ParsedAnswer:
    """Return the text and the calls of an answer.

    Args:
        text: The answer.
        names: The names of the tools. JSON without the marks of a call is one only if it names one of them.
    """
    if CALL_START not in text:
        calls = _parse_bare_calls(text, frozenset(names))
        return ParsedAnswer("" if calls else text.strip(), calls)
    parts: list[str] = []
    calls: tuple[RequestedCall, ...] = ()
    position, problem = 0, ""
    while (start := text.find(CALL_START, position)) >= 0:
        parts.append(text[position:start])
        body = start + len(CALL_START)
        found, position, reason = _parse_marked_calls(text, body)
        calls += found
        problem = problem or reason
    parts.append(text[position:])
    # a fence around a call leaves its own lines behind
    rest = re.sub(r"^```[\w-]*\s*(?:```)?\s*$", "", "".join(parts), flags=re.MULTILINE) if calls else "".join(parts)
    return ParsedAnswer(rest.replace(CALL_END, "").strip(), calls, problem)


def split_thinking(text: str) -> tuple[str, str]:
    """Return the reasoning with which an answer begins, and the rest. Reasoning without an end has no answer."""
    stripped = text.lstrip()
    if not stripped.startswith(THINKING_START):
        return "", text
    thinking, _, rest = stripped.removeprefix(THINKING_START).partition(THINKING_END)
    return thinking.strip(), rest.lstrip()


def _parse_marked_calls(text: str, start: int) -> tuple[tuple[RequestedCall, ...], int, str]:
    """Return the calls after the mark that ends at `start`, the offset behind them, and the problem with them."""
    offset = start + len(BLANKS_BEFORE.match(text, start)[0])  # type: ignore[index]
    try:
        value, end = DECODER.raw_decode(text, offset)
    except (ValueError, RecursionError) as error:
        closing = text.find(CALL_END, start)
        end = closing + len(CALL_END) if closing >= 0 else len(text)
        return (), end, _describe_json_error(text[offset:end].removesuffix(CALL_END).strip(), error)
    calls, reason = _read_calls(value)
    return calls, MARK_AFTER.match(text, end).end(), reason  # type: ignore[union-attr]


def _parse_bare_calls(text: str, names: frozenset[str]) -> tuple[RequestedCall, ...]:
    """Return the calls of a text that is nothing but JSON about tools with these names."""
    stripped = text.strip()
    if match := FENCE.match(stripped):
        stripped = (match[1] or match[2] or "").strip()
    if not names or not stripped.startswith(("{", "[")):
        return ()
    try:
        value = DECODER.decode(stripped)
    except (ValueError, RecursionError):
        return ()
    calls, reason = _read_calls(value)
    return calls if not reason and all(call.name in names for call in calls) else ()


def _read_calls(value: Any) -> tuple[tuple[RequestedCall, ...], str]:
    """Return the calls that a JSON value describes, or the reason why it describes none."""
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    calls: list[RequestedCall] = []
    for item in values:
        call, reason = _read_call(item)
        if call is None:
            return tuple(calls), reason
        calls.append(call)
    return tuple(calls), "" if calls else _describe_problem("it names no tool")


def _read_call(value: Any) -> tuple[RequestedCall | None, str]:
    if not isinstance(value, dict):
        return None, _describe_problem("it must be a JSON object")
    members = cast("dict[str, Any]", value)
    if isinstance(members.get("function"), dict):
        members = cast("dict[str, Any]", members["function"])
    name = members.get("name")
    if not isinstance(name, str) or not name:
        return None, _describe_problem('it has no "name" of a tool')
    arguments: Any = next((members[key] for key in ARGUMENT_KEYS if key in members), dict[str, Any]())
    if isinstance(arguments, str):
        try:
            arguments = DECODER.decode(arguments)
        except (ValueError, RecursionError):
            arguments = None
    if not isinstance(arguments, dict):
        return None, _describe_problem('its "arguments" must be a JSON object')
    return RequestedCall(name, cast("dict[str, Any]", arguments)), ""


def _describe_json_error(body: str, error: Exception) -> str:
    if not body:
        return _describe_problem("it is empty")
    reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
    quoted = body if len(body) <= MAX_QUOTED_CHARS else f"{body[:MAX_QUOTED_CHARS]}…"
    return _describe_problem(f"it is not valid JSON ({reason}): {quoted}")


def _describe_problem(reason: str) -> str:
    form = f'{CALL_START}\n{{"name": "TOOL", "arguments": {{}}}}\n{CALL_END}'
    return f"The tool call could not be read: {reason}. Write it again in this form:\n{form}"
