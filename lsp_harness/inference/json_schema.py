"""Grammars (GBNF) from JSON schemas, so that a model can only write JSON that fits the schema.

A schema that the grammar cannot follow exactly is refused with the name of the keyword: an answer that only seems to be
checked would be worse. The grammar is narrower than JSON Schema in two points: members come in the order of the schema,
and undeclared members appear only where the schema declares none.

The converter of llama-cpp-python is not used. It copies JSON escapes unescaped into GBNF, allows raw newlines in
strings, mixes up definitions whose pointers have the same end, and silently ignores bounds that it does not know.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast
from urllib.parse import unquote

from lsp_harness.errors import EngineRefused
from lsp_harness.inference.grammar import gbnf_literal

MAX_DIGITS = 15
"""Digits of an integer part. A double holds this many exactly."""
MAX_MAGNITUDE = 10**MAX_DIGITS - 1
FRACTION = f'("." [0-9]{{1,{MAX_DIGITS}}})?'
ZERO_FRACTION = f'("." "0"{{1,{MAX_DIGITS}}})?'


def integer_range(minimum: int | None, maximum: int | None) -> str:
    """Return the rule for the integers from `minimum` to `maximum`. A missing bound is `MAX_MAGNITUDE` in size."""
    minimum, maximum = _clamp_bounds(minimum, maximum)
    signed: list[str] = []
    if minimum < 0:
        signed.append(f'"-" ({_natural_range(max(1, -maximum), -minimum)})')
    if maximum >= 0:
        signed.append(_natural_range(max(0, minimum), maximum))
    return " | ".join(signed)


def decimal_range(minimum: int | None, maximum: int | None) -> str:
    """Return the rule for the decimal fractions from `minimum` to `maximum`, see `integer_range`."""
    minimum, maximum = _clamp_bounds(minimum, maximum)
    signed: list[str] = []
    if minimum < 0:
        signed.append(f'"-" ({_magnitude_range(max(0, -maximum), -minimum)})')
    if maximum >= 0:
        signed.append(_magnitude_range(max(0, minimum), maximum))
    return " | ".join(signed)


def _clamp_bounds(minimum: int | None, maximum: int | None) -> tuple[int, int]:
    return (
        -MAX_MAGNITUDE if minimum is None else max(minimum, -MAX_MAGNITUDE),
        MAX_MAGNITUDE if maximum is None else min(maximum, MAX_MAGNITUDE),
    )


def _magnitude_range(minimum: int, maximum: int) -> str:
    """Return the rule for decimal fractions that are not negative."""
    upper_end = f'"{maximum}" {ZERO_FRACTION}'
    return f"({_natural_range(minimum, maximum - 1)}) {FRACTION} | {upper_end}" if minimum < maximum else upper_end


def _natural_range(minimum: int, maximum: int) -> str:
    """Return the rule for integers that are not negative, without leading zeros."""
    if maximum == MAX_MAGNITUDE and minimum <= 1:
        positive = f"[1-9] [0-9]{{0,{MAX_DIGITS - 1}}}"
        return positive if minimum else f'"0" | {positive}'
    alternatives: list[str] = []
    for size in range(len(str(minimum)), len(str(maximum)) + 1):
        low = max(minimum, 10 ** (size - 1) if size > 1 else 0)
        alternatives.append(_digit_range(str(low), str(min(maximum, 10**size - 1))))
    return " | ".join(alternatives)


def _digit_range(minimum: str, maximum: str) -> str:
    """Return the rule for the digit strings from `minimum` to `maximum`, which have the same length."""
    if not minimum:
        return ""
    rest = len(minimum) - 1
    tail = f" [0-9]{{{rest}}}" if rest else ""
    if minimum[0] == maximum[0]:
        return f'"{minimum[0]}" {_digit_range(minimum[1:], maximum[1:])}'.rstrip()
    low, high = int(minimum[0]), int(maximum[0])
    alternatives: list[str] = []
    if minimum[1:].strip("0"):
        alternatives.append(f'"{low}" {_digit_range(minimum[1:], "9" * rest)}')
        low += 1
    if maximum[1:].strip("9"):
        alternatives.append(f'"{high}" {_digit_range("0" * rest, maximum[1:])}')
        high -= 1
    if low <= high:
        alternatives.append(f"[{low}-{high}]{tail}")
    return alternatives[0] if len(alternatives) == 1 else f"({' | '.join(alternatives)})"


Schema = dict[str, Any]
MAX_SCHEMA_DEPTH = 64
"""Levels of schemas within schemas."""
MAX_REPETITIONS = 2000
"""llama.cpp treats larger repetitions as endless."""
MAX_STRING_CHARS = 1_000_000
"""The largest `maxLength`. More than `MAX_REPETITIONS` characters are a repetition of blocks of that size."""
MAX_ANY_DEPTH = 3
"""Levels of containers in a value of any type, if the answer must end by itself."""

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
"""The keywords of each type."""
PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
"""The types that `json.loads` returns for each type."""

BASE_RULES = {
    "ws": r'(" " | "\n" " "{0,16})?',
    # A string has no control characters, no half of a surrogate pair and nothing beyond Unicode.
    "char": r"[\x20-\x21\x23-\x5b\x5d-\ud7ff\ue000-\U0010ffff] | "
    r'"\\" (["\\/bfnrt] | "u" ([0-9a-cA-CefEF] hex hex hex | [dD] [0-7] hex hex))',
    "hex": "[0-9a-fA-F]",
    "boolean": '"true" | "false"',
    "null": '"null"',
    "integer": f'"-"? ("0" | [1-9] [0-9]{{0,{MAX_DIGITS - 1}}})',
    "number": f'integer ("." [0-9]{{1,{MAX_DIGITS}}})? ([eE] [-+]? [0-9]{{1,2}})?',
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


def from_json_schema(schema: Any, *, max_chars: int | None = 256, max_items: int | None = 16) -> str:
    """Return the grammar of the JSON that fits `schema`.

    The two limits apply where the schema sets no maximum, so that every answer ends. With None only the token limit of
    the request ends an answer. An answer to a recursive schema may be endless in any case.

    Args:
        schema: The schema.
        max_chars: Number of characters of a string.
        max_items: Number of items of an array or members of a map.

    Raises:
        EngineRefused: The grammar cannot express the schema.
    """
    return format_rules(schema_rules(schema, max_chars=max_chars, max_items=max_items))


def schema_rules(
    schema: Any, *, prefix: str = "", max_chars: int | None = 256, max_items: int | None = 16
) -> dict[str, str]:
    """Return the rules of the JSON that fits `schema`, by their names. The first one is named `root` after the prefix.

    The rules of several schemas fit in one grammar if their prefixes differ: the rules without the prefix are the same
    in all of them. The arguments `schema`, `max_chars` and `max_items` are those of `from_json_schema`.

    Args:
        prefix: Letters, digits and hyphens with which the names of the rules begin.

    Raises:
        EngineRefused: The grammar cannot express the schema.
    """
    return _Converter(schema, max_chars, max_items, prefix).convert()


def format_rules(rules: Mapping[str, str]) -> str:
    """Return the grammar with these rules."""
    return "\n".join(f"{name} ::= {body}" for name, body in rules.items()) + "\n"


def repeat(rules: dict[str, str], rule: str, maximum: int) -> str:
    """Return the expression for up to `maximum` repetitions of a rule, in parentheses if it has alternatives.

    llama.cpp cannot count further than `MAX_REPETITIONS`. A larger number is made of blocks of that size and a rest.
    Their rules are added to `rules`.
    """
    blocks, rest = divmod(maximum, MAX_REPETITIONS)
    if maximum <= MAX_REPETITIONS:
        return f"{rule}{{0,{maximum}}}"
    rules[f"{rule}-block"] = f"{rule}{{{MAX_REPETITIONS}}}"
    rules[f"{rule}-rest"] = f"{rule}{{0,{MAX_REPETITIONS}}}"
    short = f"{rule}-block{{0,{blocks - 1}}} {rule}-rest"
    return f"({short} | {rule}-block{{{blocks}}} {rule}{{0,{rest}}})" if rest else short


class _Converter:
    """A collection of rules. Methods whose name ends in `_rule` return the name of a rule, the others an expression."""

    def __init__(self, schema: Any, max_chars: int | None, max_items: int | None, prefix: str) -> None:
        self._schema = schema
        self._prefix = prefix
        self._max_chars = max_chars
        self._max_items = max_items
        self._rules = dict(BASE_RULES)
        self._names: dict[str, str] = {}
        """Name of the rule by its expression."""
        self._reference_names: dict[str, str] = {}
        """Name of the rule by the JSON pointer of its schema."""
        self._depth = 0

    def convert(self) -> dict[str, str]:
        """Return the rules, the root first."""
        root = self._add_rule(self._schema_expression(self._schema))
        return {f"{self._prefix}root": root, **self._rules}

    def _add_rule(self, expression: str) -> str:
        """Return the name of the rule with this expression."""
        if expression not in self._names:
            self._names[expression] = f"{self._prefix}r{len(self._rules)}"
            self._rules[self._names[expression]] = expression
        return self._names[expression]

    def _schema_rule(self, schema: Any) -> str:
        return self._add_rule(self._schema_expression(schema))

    def _schema_expression(self, schema: Any) -> str:
        self._depth += 1
        if self._depth > MAX_SCHEMA_DEPTH:
            raise EngineRefused(f"the JSON schema is nested deeper than {MAX_SCHEMA_DEPTH} levels; make it flatter")
        try:
            return self._keyword_expression({} if schema is True else schema)
        finally:
            self._depth -= 1

    def _keyword_expression(self, schema: Any) -> str:
        if not isinstance(schema, dict):
            raise EngineRefused('a JSON schema must be an object, like {"type": "object"}, or `true` for any value')
        schema = cast("Schema", schema)
        if "$ref" in schema:
            self._check_keywords(schema, "$ref")
            return self._reference_rule(schema["$ref"])
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in schema:
                self._check_keywords(schema, keyword)
                return self._convert_combination(keyword, schema[keyword])
        for keyword in ("enum", "const"):
            if keyword in schema:
                self._check_keywords(schema, keyword, "type")
                return self._convert_literals(schema, schema["enum"] if keyword == "enum" else [schema["const"]])
        types = self._find_types(schema)
        self._check_keywords(schema, "type", *(keyword for kind in types for keyword in KEYWORDS[kind]))
        if not types:
            return self._any_value_rule(MAX_ANY_DEPTH)
        return " | ".join(self._add_rule(self._typed_value(kind, schema)) for kind in types)

    def _check_keywords(self, schema: Schema, *keywords: str) -> None:
        """Refuse a schema that has other keywords than these and annotations."""
        if unknown := sorted(schema.keys() - ANNOTATIONS - set(keywords)):
            other_keyword = f" beside `{keywords[0]}`" if keywords[0] in schema else ""
            _raise_unsupported(f"`{unknown[0]}`{other_keyword}")

    def _find_types(self, schema: Schema) -> list[str]:
        """Return the types that a schema names, or those to which its keywords belong."""
        value = schema.get("type")
        if value is None:
            return [kind for kind in ("object", "array", "string", "number") if KEYWORDS[kind] & schema.keys()]
        types = cast("list[Any]", value) if isinstance(value, list) else [value]
        if not types or not all(isinstance(kind, str) and kind in KEYWORDS for kind in types):
            raise EngineRefused(f"the JSON schema's `type` must be one of {', '.join(KEYWORDS)}, or a list of them")
        return types

    def _typed_value(self, kind: str, schema: Schema) -> str:
        match kind:
            case "object":
                return self._convert_object(schema)
            case "array":
                return self._convert_array(schema)
            case "string":
                return self._convert_string(schema)
            case "integer" | "number" if BOUNDS & schema.keys():
                return _bounded_number(schema, is_integer=kind == "integer")
            case _:
                return kind

    # -- references and combinations
    def _reference_rule(self, pointer: Any) -> str:
        if not isinstance(pointer, str) or not (pointer == "#" or pointer.startswith("#/")):
            _raise_unsupported(f"`$ref` {pointer!r}, which is not within the schema")
        if pointer not in self._reference_names:
            name = self._reference_names[pointer] = f"{self._prefix}d{len(self._reference_names)}"
            self._rules[name] = ""
            self._rules[name] = self._schema_expression(self._resolve(pointer))
        return self._reference_names[pointer]

    def _resolve(self, pointer: str) -> Any:
        target = self._schema
        for part in pointer.split("/")[1:]:
            step = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(target, dict) and step in target:
                target = cast("Schema", target)[step]
            elif isinstance(target, list) and step.isdecimal() and int(step) < len(cast("list[Any]", target)):
                target = cast("list[Any]", target)[int(step)]
            else:
                raise EngineRefused(f"the JSON schema's `$ref` {pointer!r} points to nothing")
        return target

    def _convert_combination(self, keyword: str, parts: Any) -> str:
        if not isinstance(parts, list) or not parts:
            raise EngineRefused(f"the JSON schema's `{keyword}` must be a list of schemas")
        schemas = cast("list[Any]", parts)
        if keyword == "allOf" and len(schemas) > 1:
            _raise_unsupported("`allOf` of several schemas")
        return " | ".join(self._schema_rule(schema) for schema in schemas)

    def _convert_literals(self, schema: Schema, values: Any) -> str:
        if not isinstance(values, list) or not values:
            raise EngineRefused("the JSON schema's `enum` must be a list of values")
        types = self._find_types(schema) if "type" in schema else []
        if not all(
            any(_has_type(value, kind) for kind in types or PYTHON_TYPES) for value in cast("list[Any]", values)
        ):
            raise EngineRefused("the JSON schema has a value in `enum` or `const` that is not of its `type`")
        return " | ".join(gbnf_literal(json.dumps(value, ensure_ascii=False)) for value in cast("list[Any]", values))

    # -- containers
    def _convert_object(self, schema: Schema) -> str:
        properties, required, additional = _read_members(schema)
        if not properties and not required:
            return '"{" ws "}"' if additional is False else self._map(self._schema_rule(additional))
        if properties and not isinstance(additional, bool):
            _raise_unsupported("`additionalProperties` with a schema beside `properties`")
        undeclared = [name for name in required if name not in properties]
        if undeclared and additional is False:
            raise EngineRefused(f"the JSON schema requires `{undeclared[0]}` and forbids it")
        members: list[tuple[str, bool]] = []
        for name, value in (properties | dict.fromkeys(undeclared, additional)).items():
            label = gbnf_literal(json.dumps(name, ensure_ascii=False) + ":")
            members.append((self._add_rule(f"{label} ws {self._schema_rule(value)}"), name in required))
        # There is one alternative for each member that can be the first.
        starts: list[str] = []
        for index, (member, is_required) in enumerate(members):
            tail = "".join(
                f' "," ws {later}' if is_needed else f' ("," ws {later})?' for later, is_needed in members[index + 1 :]
            )
            starts.append(member + tail)
            if is_required:
                break
        optional = "" if any(is_required for _, is_required in members) else "?"
        return f'"{{" ws (({" | ".join(starts)}) ws){optional} "}}"'

    def _map(self, value: str) -> str:
        member = self._add_rule(f'{self._convert_string({})} ":" ws {value}')
        return f'"{{" ws {_list(member, 0, self._max_items)} "}}"'

    def _convert_array(self, schema: Schema) -> str:
        minimum, maximum = _read_sizes(schema, "minItems", "maxItems")
        prefix, items = schema.get("prefixItems", []), schema.get("items", True)
        if not isinstance(prefix, list):
            raise EngineRefused("the JSON schema's `prefixItems` must be a list of schemas")
        if prefix:
            # A tuple has all of these items and no others.
            heads = [self._schema_rule(item) for item in cast("list[Any]", prefix)]
            if items not in (True, False) or minimum > len(heads) or (maximum is not None and maximum < len(heads)):
                _raise_unsupported("`prefixItems` with other `items` or other sizes than its own")
            return '"[" ws ' + ' "," ws '.join(heads) + ' ws "]"'
        if items is False and not minimum:
            return '"[" ws "]"'
        maximum = maximum if maximum is not None or self._max_items is None else max(minimum, self._max_items)
        return f'"[" ws {_list(self._schema_rule(items), minimum, maximum)} "]"'

    def _any_value_rule(self, depth: int) -> str:
        """Return the rule for any value. If the number of items is limited, so are the `depth` levels of containers."""
        name = f"{self._prefix}any{depth}"
        if name not in self._rules:
            scalars = f"{self._add_rule(self._convert_string({}))} | number | boolean | null"
            self._rules[name] = scalars
            if self._max_items is None or depth:
                inner = self._any_value_rule(depth - 1) if self._max_items is not None else name
                array = self._add_rule(f'"[" ws {_list(inner, 0, self._max_items)} "]"')
                self._rules[name] = f"{scalars} | {array} | {self._add_rule(self._map(inner))}"
        return name

    # -- scalars
    def _convert_string(self, schema: Schema) -> str:
        minimum, maximum = _read_sizes(schema, "minLength", "maxLength", MAX_STRING_CHARS)
        name = schema.get("format")
        if name is not None:
            if name not in FORMATS or "minLength" in schema or "maxLength" in schema:
                _raise_unsupported(f"`format` {name!r}" + (" with a length" if name in FORMATS else ""))
            return f'"\\"" {FORMATS[name]} "\\""'
        maximum = maximum if maximum is not None or self._max_chars is None else max(minimum, self._max_chars)
        if maximum is None or maximum <= MAX_REPETITIONS:
            return f'"\\"" char{{{minimum},{"" if maximum is None else maximum}}} "\\""'
        first = f"char{{{minimum}}} " if minimum else ""
        return f'"\\"" {first}{repeat(self._rules, "char", maximum - minimum)} "\\""'


def _list(item: str, minimum: int, maximum: int | None) -> str:
    """Return the expression for `minimum` to `maximum` items with commas between them and blanks after the last one."""
    if maximum == 0:
        return ""
    upper = "" if maximum is None else maximum - 1
    more = "" if maximum == 1 else f' ("," ws {item}){{{max(0, minimum - 1)},{upper}}}'
    return f"({item}{more} ws)" + ("" if minimum else "?")


def _read_members(schema: Schema) -> tuple[Schema, Sequence[str], Any]:
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


def _read_sizes(
    schema: Schema, min_keyword: str, max_keyword: str, limit: int = MAX_REPETITIONS
) -> tuple[int, int | None]:
    low, high = schema.get(min_keyword, 0), schema.get(max_keyword)
    for name, value, highest in ((min_keyword, low, MAX_REPETITIONS), (max_keyword, high or 0, limit)):
        if type(value) is not int or not 0 <= value <= highest:
            raise EngineRefused(f"the JSON schema's `{name}` must be a number from 0 to {highest}")
    if high is not None and high < low:
        raise EngineRefused(f"the JSON schema's `{max_keyword}` is below its `{min_keyword}`")
    return low, high


def _bounded_number(schema: Schema, *, is_integer: bool) -> str:
    lows = [_read_bound(schema, keyword, is_integer=is_integer) for keyword in ("minimum", "exclusiveMinimum")]
    highs = [_read_bound(schema, keyword, is_integer=is_integer) for keyword in ("maximum", "exclusiveMaximum")]
    minimum = max((low for low in lows if low is not None), default=None)
    maximum = min((high for high in highs if high is not None), default=None)
    if minimum is not None and maximum is not None and minimum > maximum:
        raise EngineRefused("the JSON schema allows no number: its minimum is above its maximum")
    return integer_range(minimum, maximum) if is_integer else decimal_range(minimum, maximum)


def _read_bound(schema: Schema, keyword: str, *, is_integer: bool) -> int | None:
    """Return a bound as an inclusive integer."""
    value = schema.get(keyword)
    if value is None:
        return None
    if not _has_type(value, "number") or not math.isfinite(value) or abs(value) > MAX_MAGNITUDE:
        raise EngineRefused(f"the JSON schema's `{keyword}` must be a number of up to {MAX_DIGITS} digits")
    exclusive = keyword.startswith("exclusive")
    if not is_integer and (exclusive or value != int(value)):
        _raise_unsupported(f"`{keyword}` {value} of a number that need not be an integer")
    if keyword.endswith("inimum"):
        return math.floor(value) + 1 if exclusive else math.ceil(value)
    return math.ceil(value) - 1 if exclusive else math.floor(value)


def _has_type(value: Any, kind: str) -> bool:
    return isinstance(value, PYTHON_TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _raise_unsupported(subject: str) -> NoReturn:
    raise EngineRefused(f"{subject} in a JSON schema cannot be turned into a grammar; leave it out")
