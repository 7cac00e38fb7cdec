"""JSON schemas → GBNF, so that a model can write nothing but JSON which fits.

A schema that cannot be followed exactly is refused by the name of the keyword: an answer that only looks as if it had
been checked would be worse. Two things are narrower than JSON Schema: members come in the order the schema names them,
and names the schema does not mention appear only where it mentions none.

llama-cpp-python brings a converter, which is not used: it copies JSON escapes unescaped into GBNF, lets raw newlines
into strings, mixes up definitions whose pointers end alike, and passes silently over bounds it does not know.
"""

import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn, cast
from urllib.parse import unquote

from lsp_harness.engine.grammar.number_range import DIGITS, MOST, decimals, integers
from lsp_harness.errors import EngineRefused
from lsp_harness.inference.grammar import gbnf_literal

Schema = dict[str, Any]
DEEPEST = 64
"""Schemas within schemas."""
REPEATS = 2000
"""llama.cpp takes larger repetitions for endless ones."""
NESTED = 3
"""Containers within containers, where anything may be written and the answer must end by itself."""

ANNOTATIONS = frozenset(
    {
        *("$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default", "examples"),
        *("deprecated", "readOnly", "writeOnly", "discriminator"),
    }
)
BOUNDS = frozenset(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
KEYWORDS: dict[str, frozenset[str]] = {
    "object": frozenset(("properties", "required", "additionalProperties")),
    "array": frozenset(("items", "prefixItems", "minItems", "maxItems")),
    "string": frozenset(("minLength", "maxLength", "format")),
    "integer": BOUNDS,
    "number": BOUNDS,
    "boolean": frozenset(),
    "null": frozenset(),
}
KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}

PLAIN = {
    "ws": r'(" " | "\n" " "{0,16})?',
    # no control characters, no half of a surrogate pair, nothing beyond Unicode
    "char": r'[\x20-\x21\x23-\x5b\x5d-\ud7ff\ue000-\U0010ffff] | "\\" (["\\/bfnrt] | "u" ([0-9a-cA-CefEF] hex hex hex | [dD] [0-7] hex hex))',
    "hex": "[0-9a-fA-F]",
    "boolean": '"true" | "false"',
    "null": '"null"',
    "integer": f'"-"? ("0" | [1-9] [0-9]{{0,{DIGITS - 1}}})',
    "number": f'integer ("." [0-9]{{1,{DIGITS}}})? ([eE] [-+]? [0-9]{{1,2}})?',
    "day": '[0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | "1" [0-9] | "2" [0-8])',
    "clock": '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,6})? zone',
    "zone": '"Z" | [-+] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]',
}
FORMATS = {
    "date": "day",
    "time": "clock",
    "date-time": 'day "T" clock',
    "uuid": 'hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12}',
}


def from_json_schema(schema: Any, *, most_chars: int | None = 256, most_items: int | None = 16) -> str:
    """The grammar of the JSON that fits `schema`. Raises EngineRefused for what it cannot express.

    `most_chars` of a string and `most_items` of an array or map hold where the schema sets no maximum, so that every
    answer ends; None leaves that to the caller's token limit. A recursive schema may go on in any case.
    """
    return _Converter(schema, most_chars, most_items).grammar()


class _Converter:
    """Collects rules; its methods return the name of a rule or a whole body."""

    def __init__(self, schema: Any, most_chars: int | None, most_items: int | None) -> None:
        self._schema = schema
        self._most_chars = most_chars
        self._most_items = most_items
        self._rules = dict(PLAIN)
        self._named: dict[str, str] = {}
        self._refs: dict[str, str] = {}
        self._depth = 0

    def grammar(self) -> str:
        root = self._rule(self._body(self._schema))
        return "\n".join(f"{name} ::= {body}" for name, body in {"root": root, **self._rules}.items()) + "\n"

    def _rule(self, body: str) -> str:
        if body not in self._named:
            self._named[body] = f"r{len(self._rules)}"
            self._rules[self._named[body]] = body
        return self._named[body]

    def _visit(self, schema: Any) -> str:
        return self._rule(self._body(schema))

    def _body(self, schema: Any) -> str:
        self._depth += 1
        if self._depth > DEEPEST:
            raise EngineRefused(f"the JSON schema is nested deeper than {DEEPEST} levels; make it flatter")
        try:
            return self._expression({} if schema is True else schema)
        finally:
            self._depth -= 1

    def _expression(self, schema: Any) -> str:
        if not isinstance(schema, dict):
            raise EngineRefused("a JSON schema must be an object; `true` is allowed within one")
        given = cast("Schema", schema)
        if "$ref" in given:
            self._only(given, "$ref")
            return self._reference(given["$ref"])
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in given:
                self._only(given, keyword)
                return self._combined(keyword, given[keyword])
        for keyword in ("enum", "const"):
            if keyword in given:
                self._only(given, keyword, "type")
                return self._values(given, given["enum"] if keyword == "enum" else [given["const"]])
        kinds = self._kinds(given)
        self._only(given, "type", *(keyword for kind in kinds for keyword in KEYWORDS[kind]))
        if not kinds:
            return self._anything(NESTED)
        return " | ".join(self._rule(self._typed(kind, given)) for kind in kinds)

    def _only(self, schema: Schema, *keywords: str) -> None:
        if unknown := sorted(schema.keys() - ANNOTATIONS - set(keywords)):
            beside = f" beside `{keywords[0]}`" if keywords[0] in schema else ""
            _refuse(f"`{unknown[0]}`{beside}")

    def _kinds(self, schema: Schema) -> list[str]:
        """The types a schema names, or that its keywords are about."""
        named = schema.get("type")
        if named is None:
            return [kind for kind in ("object", "array", "string", "number") if KEYWORDS[kind] & schema.keys()]
        kinds = cast("list[Any]", named) if isinstance(named, list) else [named]
        if not kinds or not all(isinstance(kind, str) and kind in KEYWORDS for kind in kinds):
            raise EngineRefused(f"the JSON schema's `type` must be one of {', '.join(KEYWORDS)}, or a list of them")
        return kinds

    def _typed(self, kind: str, schema: Schema) -> str:
        match kind:
            case "object":
                return self._object(schema)
            case "array":
                return self._array(schema)
            case "string":
                return self._string(schema)
            case "integer" | "number" if BOUNDS & schema.keys():
                return _number(schema, whole=kind == "integer")
            case _:
                return kind

    # -- references and combinations
    def _reference(self, pointer: Any) -> str:
        if not isinstance(pointer, str) or not (pointer == "#" or pointer.startswith("#/")):
            _refuse(f"`$ref` {pointer!r}, which is not within the schema")
        if pointer not in self._refs:
            name = self._refs[pointer] = f"d{len(self._refs)}"
            self._rules[name] = ""
            self._rules[name] = self._body(self._target(pointer))
        return self._refs[pointer]

    def _target(self, pointer: str) -> Any:
        target = self._schema
        for part in pointer.split("/")[1:]:
            step = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(target, dict) and step in target:
                target = cast("Schema", target)[step]
            elif isinstance(target, list) and step.isdecimal() and int(step) < len(cast("list[Any]", target)):
                target = cast("list[Any]", target)[int(step)]
            else:
                raise EngineRefused(f"the JSON schema's `$ref` {pointer!r} leads nowhere")
        return target

    def _combined(self, keyword: str, parts: Any) -> str:
        if not isinstance(parts, list) or not parts:
            raise EngineRefused(f"the JSON schema's `{keyword}` must be a list of schemas")
        schemas = cast("list[Any]", parts)
        if keyword == "allOf" and len(schemas) > 1:
            _refuse("`allOf` of several schemas")
        return " | ".join(self._visit(schema) for schema in schemas)

    def _values(self, schema: Schema, values: Any) -> str:
        if not isinstance(values, list) or not values:
            raise EngineRefused("the JSON schema's `enum` must be a list of values")
        kinds = self._kinds(schema) if "type" in schema else []
        if not all(any(_is(value, kind) for kind in kinds or KINDS) for value in cast("list[Any]", values)):
            raise EngineRefused("the JSON schema has a value in `enum` or `const` which is not of its `type`")
        return " | ".join(gbnf_literal(json.dumps(value, ensure_ascii=False)) for value in cast("list[Any]", values))

    # -- containers
    def _object(self, schema: Schema) -> str:
        properties, required, others = _members(schema)
        if not properties and not required:
            return '"{" ws "}"' if others is False else self._map(self._visit(others))
        if properties and not isinstance(others, bool):
            _refuse("`additionalProperties` with a schema beside `properties`")
        undeclared = [name for name in required if name not in properties]
        if undeclared and others is False:
            raise EngineRefused(f"the JSON schema requires `{undeclared[0]}` and forbids it")
        members: list[tuple[str, bool]] = []
        for name, value in (properties | dict.fromkeys(undeclared, others)).items():
            label = gbnf_literal(json.dumps(name, ensure_ascii=False) + ":")
            members.append((self._rule(f"{label} ws {self._visit(value)}"), name in required))
        starts: list[str] = []
        for at, (member, needed) in enumerate(members):
            tail = "".join(f' "," ws {m}' if n else f' ("," ws {m})?' for m, n in members[at + 1 :])
            starts.append(member + tail)
            if needed:
                break
        optional = "" if any(needed for _, needed in members) else "?"
        return f'"{{" ws (({" | ".join(starts)}) ws){optional} "}}"'

    def _map(self, value: str) -> str:
        member = self._rule(f'{self._string({})} ":" ws {value}')
        return f'"{{" ws {_list(member, 0, self._most_items)} "}}"'

    def _array(self, schema: Schema) -> str:
        least, most = _sizes(schema, "minItems", "maxItems")
        first, items = schema.get("prefixItems", []), schema.get("items", True)
        if not isinstance(first, list):
            raise EngineRefused("the JSON schema's `prefixItems` must be a list of schemas")
        if first:
            # a tuple: all of it, and nothing after
            heads = [self._visit(item) for item in cast("list[Any]", first)]
            if items not in (True, False) or least > len(heads) or (most is not None and most < len(heads)):
                _refuse("`prefixItems` with other `items` or other sizes than its own")
            return '"[" ws ' + ' "," ws '.join(heads) + ' ws "]"'
        if items is False and not least:
            return '"[" ws "]"'
        most = most if most is not None or self._most_items is None else max(least, self._most_items)
        return f'"[" ws {_list(self._visit(items), least, most)} "]"'

    def _anything(self, depth: int) -> str:
        """Any value. Where items are bounded, `depth` levels of containers are too."""
        name = f"any{depth}"
        if name not in self._rules:
            scalars = f"{self._rule(self._string({}))} | number | boolean | null"
            self._rules[name] = scalars
            if self._most_items is None or depth:
                inner = self._anything(depth - 1) if self._most_items is not None else name
                array = self._rule(f'"[" ws {_list(inner, 0, self._most_items)} "]"')
                self._rules[name] = f"{scalars} | {array} | {self._rule(self._map(inner))}"
        return name

    # -- scalars
    def _string(self, schema: Schema) -> str:
        least, most = _sizes(schema, "minLength", "maxLength")
        form = schema.get("format")
        if form is not None:
            if form not in FORMATS or "minLength" in schema or "maxLength" in schema:
                _refuse(f"`format` {form!r}" + (" with a length" if form in FORMATS else ""))
            return f'"\\"" {FORMATS[form]} "\\""'
        most = most if most is not None or self._most_chars is None else max(least, self._most_chars)
        return f'"\\"" char{{{least},{"" if most is None else most}}} "\\""'


def _list(item: str, least: int, most: int | None) -> str:
    """`least` to `most` items with commas between them, and blanks after the last."""
    if most == 0:
        return ""
    more = "" if most == 1 else f' ("," ws {item}){{{max(0, least - 1)},{"" if most is None else most - 1}}}'
    return f"({item}{more} ws)" + ("" if least else "?")


def _members(schema: Schema) -> tuple[Schema, Sequence[str], Any]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict):
        raise EngineRefused("the JSON schema's `properties` must be an object of schemas")
    if not isinstance(required, list) or not all(isinstance(name, str) for name in cast("list[Any]", required)):
        raise EngineRefused("the JSON schema's `required` must be a list of names")
    return (
        cast("Schema", properties),
        cast("list[str]", required),
        schema.get("additionalProperties", True),
    )


def _sizes(schema: Schema, least: str, most: str) -> tuple[int, int | None]:
    low, high = schema.get(least, 0), schema.get(most)
    for name, value in ((least, low), (most, high if high is not None else 0)):
        if type(value) is not int or not 0 <= value <= REPEATS:
            raise EngineRefused(f"the JSON schema's `{name}` must be a number from 0 to {REPEATS}")
    if high is not None and high < low:
        raise EngineRefused(f"the JSON schema's `{most}` is below its `{least}`")
    return low, high


def _number(schema: Schema, *, whole: bool) -> str:
    lows = [_bound(schema, "minimum", whole=whole), _bound(schema, "exclusiveMinimum", whole=whole)]
    highs = [_bound(schema, "maximum", whole=whole), _bound(schema, "exclusiveMaximum", whole=whole)]
    least = max((low for low in lows if low is not None), default=None)
    most = min((high for high in highs if high is not None), default=None)
    if least is not None and most is not None and least > most:
        raise EngineRefused("the JSON schema allows no number: its minimum is above its maximum")
    return integers(least, most) if whole else decimals(least, most)


def _bound(schema: Schema, keyword: str, *, whole: bool) -> int | None:
    """A bound as an integer that is included."""
    value = schema.get(keyword)
    if value is None:
        return None
    if not _is(value, "number") or not math.isfinite(value) or abs(value) > MOST:
        raise EngineRefused(f"the JSON schema's `{keyword}` must be a number of up to {DIGITS} digits")
    exclusive = keyword.startswith("exclusive")
    if not whole and (exclusive or value != int(value)):
        _refuse(f"`{keyword}` {value} of a number that need not be an integer")
    if keyword.endswith("inimum"):
        return math.floor(value) + 1 if exclusive else math.ceil(value)
    return math.ceil(value) - 1 if exclusive else math.floor(value)


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _refuse(what: str) -> NoReturn:
    raise EngineRefused(f"{what} in a JSON schema cannot be turned into a grammar; leave it out")
