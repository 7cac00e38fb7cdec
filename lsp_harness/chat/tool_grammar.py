"""One grammar (GBNF) for all answers of a model with tools: a plain text, or one call of a tool.

A call has the form that Qwen2.5 was trained on, and its arguments fit the JSON schema of the tool:

    <tool_call>
    {"name": "read", "arguments": {"path": "app.py"}}
    </tool_call>

A plain text never contains the mark of a call, so that an answer cannot be taken for the other kind.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lsp_harness.chat.tool import ToolSignature
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.grammar import gbnf_literal
from lsp_harness.inference.json_schema import BASE_RULES, format_rules, repeat, schema_rules

CALL_START, CALL_END = "<tool_call>", "</tool_call>"
ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
NO_PROPERTIES: dict[str, Any] = {}
MAX_ARGUMENT_CHARS = 2_000
"""Characters of a string argument whose schema sets no `maxLength`."""
MAX_ARGUMENT_ITEMS = 16
"""Items of an array in the arguments whose schema sets no `maxItems`."""
MAX_ANSWER_CHARS = 16_000
"""Characters of a plain text. The token limit of a request is usually reached before."""
START_CHARACTERS = r"[A-Za-z0-9\x22'(*#\u00a1-\U0010ffff-]"
"""The first character of a text of a model that may call tools."""
MAX_OPENINGS = 8
"""Signs `<` in a row, or with beginnings of the mark of a call between them."""


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The kinds of answers that a model may give.

    Attributes:
        must_call: Only a tool call is an answer.
        must_answer: Only a text is an answer.
        answer_schema: The JSON schema that a text must fit, for structured output. None means any text.
        max_chars: The largest number of characters of a plain text.
    """

    must_call: bool = False
    must_answer: bool = False
    answer_schema: Mapping[str, Any] | None = None
    max_chars: int = MAX_ANSWER_CHARS


@dataclass(frozen=True, slots=True)
class ToolGrammar:
    """A grammar of answers.

    Attributes:
        text: The grammar in GBNF.
        warnings: A sentence for each tool whose schema the grammar cannot express. Its arguments may be any object.
    """

    text: str
    warnings: tuple[str, ...] = ()


def build_tool_grammar(tools: Iterable[ToolSignature], form: AnswerForm | None = None) -> ToolGrammar:
    """Return the grammar of the answers of a model that may call some tools.

    Args:
        tools: The tools.
        form: The kinds of answers that are allowed. By default a plain text and a call.

    Raises:
        EngineRefused: The form allows no answer, or the grammar cannot express the schema of structured output.
    """
    form = form or AnswerForm()
    listed = list({tool.name: tool for tool in tools}.values())
    if form.must_call and (form.must_answer or not listed):
        raise EngineRefused("a tool call is required, but no tool may be called; allow a tool or drop the requirement")
    rules: dict[str, str] = dict(BASE_RULES)
    warnings: list[str] = []
    kinds: list[str] = []
    if listed and not form.must_answer:
        kinds.append("call")
        _add_calls(rules, listed, warnings, is_marked=form.answer_schema is not None)
    if not form.must_call:
        kinds.append("answer")
        if form.answer_schema is None:
            rules["answer"] = _plain_text(rules, form.max_chars, has_tools=bool(listed))
        else:
            rules |= schema_rules(dict(form.answer_schema), prefix="answer-", max_chars=MAX_ARGUMENT_CHARS)
            rules["answer"] = "answer-root"
    return ToolGrammar(format_rules({"root": " | ".join(kinds), **rules}), tuple(warnings))


def _add_calls(rules: dict[str, str], tools: list[ToolSignature], warnings: list[str], *, is_marked: bool) -> None:
    """Add the rule `call` and those of the arguments of each tool.

    If `is_marked`, a call needs its marks: without them it could not be told from an answer in JSON.
    """
    for number, tool in enumerate(tools):
        prefix = f"t{number}-"
        limits = {"max_chars": MAX_ARGUMENT_CHARS, "max_items": MAX_ARGUMENT_ITEMS}
        try:
            arguments = schema_rules(_object_schema(tool.schema), prefix=prefix, **limits)
        except EngineRefused as error:
            warnings.append(f"the arguments of the tool {tool.name} are not constrained: {error.message}")
            arguments = schema_rules(dict(ANY_OBJECT), prefix=prefix, **limits)
        rules |= arguments
        head = gbnf_literal(f'{{"name": {json.dumps(tool.name, ensure_ascii=False)}, "arguments": ')
        rules[f"t{number}"] = f'{head} {prefix}root "}}"'
    choices = " | ".join(f"t{number}" for number in range(len(tools)))
    marked = " ".join((gbnf_literal(CALL_START + "\n"), "body", gbnf_literal("\n" + CALL_END)))
    rules["body"] = choices
    # small models often leave the marks out, and mean a call all the same
    rules["call"] = marked if is_marked else f"{marked} | body"


def _object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of the arguments of a tool, without arguments that it does not declare."""
    if schema.get("type", "object") != "object":
        raise EngineRefused("the schema of a tool has another type than object")
    if not schema.keys().isdisjoint(("$ref", "anyOf", "oneOf", "allOf")):
        return dict(schema)
    closed: dict[str, Any] = {"type": "object", "properties": NO_PROPERTIES, "additionalProperties": False}
    closed |= schema
    if closed["properties"]:
        # a model gets no chance to invent arguments
        closed["additionalProperties"] = False
    return closed


def _plain_text(rules: dict[str, str], max_chars: int, *, has_tools: bool) -> str:
    """Add the rules of a text without the mark of a call, and return the expression for it.

    A text of a model with tools begins with a letter, a digit or another sign with which no call begins.

    Such a text is a row of units: a character other than `<`, or a `<` with what follows it as far as the mark agrees,
    and one more character that does not agree. The mark begins with its only `<`, so that nothing else is needed.
    """
    letters = CALL_START[1:]
    partial = ""
    for letter in reversed(letters[:-1]):
        partial = f'("{letter}" {partial})?'.replace(" )", ")")
    ends = " | ".join(
        f"{gbnf_literal(letters[:count]) + ' ' if count else ''}[^<{letters[count]}]" for count in range(len(letters))
    )
    rules["opening"] = f'"<" {partial}'
    rules["unit"] = f'[^<] | opening{{0,{MAX_OPENINGS - 1}}} "<" ({ends})'
    first = "start" if has_tools else "unit"
    if has_tools:
        rules["start"] = START_CHARACTERS
    return f"{first} {repeat(rules, 'unit', max(0, max_chars - 1))}"
