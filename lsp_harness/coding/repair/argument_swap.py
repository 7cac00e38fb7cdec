"""A repair that swaps two positional arguments of a call, if they then fit the parameters.

The parameters must be known from this file, from the index or from the message of the tool. There must be evidence: an
argument that has the name of the other argument's parameter, or a literal of that parameter's type. If two swaps fit
equally well, none is proposed.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from lsp_harness.coding.repair.foreign_names import find_indexed_parameters
from lsp_harness.coding.repair.repair import Repair, RepairRequest
from lsp_harness.coding.repair.spelling_cost import split_words
from lsp_harness.syntax.names.calls import Argument, Call, Parameter, find_calls_around, find_calls_in, find_parameters
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

KIND = "argument order"
MIN_GAIN = 1.0
"""Minimum gain of a swap. A swap that gains twice as much costs nothing."""
NAME_PATTERN = re.compile(r"[^\W\d]\w*")
QUOTED_TEXT = re.compile(r"['\"]([^'\"]*)['\"]")
CLASS_NAME = re.compile(r"[:*&\s]*(?!Any\b|Object\b|Self\b)[A-Z]\w*[a-z]\w*")
NULL_LITERALS = frozenset({"null", "None", "nil", "undefined", "nullptr"})
MAX_CANDIDATES = 8
"""Maximum number of arguments that are compared, and of calls in one line."""
TYPE_LISTS_MESSAGE = re.compile(r"\b(\w+)\(([^()]*)\).{0,200}not applicable for the arguments \(([^()]*)\)", re.DOTALL)
"""A message with the types of all parameters and of all arguments."""
TYPE_MESSAGE = re.compile(
    r"rgument of type [\"'`](?P<actual>.+?)[\"'`] (?:is not assignable|cannot be assigned)"
    r" to parameter(?: [\"'`]\w+[\"'`])? of type [\"'`](?P<expected>[^\"'`]+)"
    r"|(?:xpected type [\"'`](?P<expected2>[^\"'`]+)[\"'`]\. Found [\"'`](?P<actual2>[^\"'`]+)[\"'`])"
    r"|cannot use .+ \((?:untyped |.*of type )?(?P<actual4>[^()]+)\) as (?P<expected4>[^\s()]+) value in argument"
    r"|annot convert from [\"'`](?P<actual3>[^\"'`]+)[\"'`] to [\"'`](?P<expected3>[^\"'`]+)[\"'`]"
)
"""A message with the type of one argument and the type of its parameter."""
TYPE_NAMES: dict[str, re.Pattern[str]] = {
    "string": re.compile(r"\b(?:str|string|String|CharSequence|char\s*\*|string_view|&str)\b|char\s*\*", re.IGNORECASE),
    "int": re.compile(
        r"\b(?:SupportsIndex|SupportsInt|u?int\d*|integer|Integer|long|short|byte|number|usize|isize|[iu]\d+|size_t"
        r"|float\d*|double|f\d+)\b",
        re.IGNORECASE,
    ),
    "float": re.compile(r"\b(?:float\d*|double|number|f\d+|decimal)\b", re.IGNORECASE),
    "number": re.compile(r"\b(?:number|u?int\d*(?:_t)?|long|short|size_t|float|double|unsigned)\b"),
    "bool": re.compile(r"\bbool(?:ean)?\b", re.IGNORECASE),
    "list": re.compile(r"(?:\b(?:list|sequence|iterable|array|collection|vec)\b)|\[\]", re.IGNORECASE),
    "dict": re.compile(r"\b(?:dict|mapping|record|map|object)\b|\{", re.IGNORECASE),
    "char": re.compile(r"\b(?:char|rune)\b"),
    "function": re.compile(r"\b(?:callable|function|func|fn|action|predicate|runnable)\b|=>|->", re.IGNORECASE),
}
"""The names of the types that accept a literal of each kind."""


async def swap_arguments(request: RepairRequest) -> list[Repair]:
    """Return the swap of two arguments that makes a call fit the parameters of its function."""
    if request.subject.kind != "argument":
        return []
    calls = [*_find_calls(request)]
    for call in calls:
        if repair := _swap_by_type_lists(call, request):
            return [repair]
    for call in calls:
        signatures = find_parameters(request.tree, call.name) if call.name else []
        signatures = signatures or await find_indexed_parameters(request, call.name)
        signatures_by_names = {tuple(parameter.name for parameter in signature): signature for signature in signatures}
        if len(signatures_by_names) != 1:
            # One of several overloads may accept the arguments as they are.
            continue
        if repair := _swap_by_parameters(call, next(iter(signatures_by_names.values()))):
            return [repair]
    repairs = (_swap_by_type(call, request) for call in calls)
    return [repair for repair in repairs if repair][:1]


def _swap_by_type_lists(call: Call, request: RepairRequest) -> Repair | None:
    """Swap by a message with all types: `f(int, String) … is not applicable for the arguments (String, int)`."""
    message = TYPE_LISTS_MESSAGE.search(request.finding.message)
    if not message or message[1] != call.name:
        return None
    parameter_types, argument_types = (re.split(r",\s*(?![^<]*>)", types) for types in message.groups()[1:])
    mismatches = [
        index
        for index, (parameter_type, argument_type) in enumerate(zip(parameter_types, argument_types, strict=False))
        if parameter_type != argument_type
    ]
    if (
        len(parameter_types) != len(argument_types)
        or len(argument_types) != len(call.arguments)
        or len(mismatches) != 2
    ):
        return None
    first, second = mismatches
    if any(
        _is_declared_as(request.tree.data, call.arguments[index].text, parameter_types[index]) for index in mismatches
    ):
        # The message is about an earlier text, because this argument already has the expected type.
        return None
    if (parameter_types[first], parameter_types[second]) != (argument_types[second], argument_types[first]):
        return None
    return _make_repair(call, first, second, 0.0)


def _is_declared_as(data: bytes, name: str, kind: str) -> bool:
    """Return whether the text declares a name with a type, as `byte[] name` does. Type arguments are not compared."""
    base = kind.split("<")[0].replace("[]", "").strip().rpartition(".")[2]
    if not NAME_PATTERN.fullmatch(name) or not base:
        return False
    array = r"\s*\[\s*\]" if kind.endswith("[]") else ""
    return re.search(rf"\b{re.escape(base)}(?:<[^;(){{}}]*>)?{array}\s+{name}\b", decode(data)) is not None


def _swap_by_type(call: Call, request: RepairRequest) -> Repair | None:
    """Swap by a message with the expected type of one argument, if exactly one other argument has that type."""
    message = TYPE_MESSAGE.search(request.finding.message)
    if not message:
        return None
    actual, expected = next(
        (message[f"actual{suffix}"], message[f"expected{suffix}"])
        for suffix in ("", "2", "3", "4")
        if message[f"expected{suffix}"]
    )
    reported = [
        index
        for index, argument in enumerate(call.arguments)
        if argument.span.start <= request.subject.span.start < argument.span.end
    ]
    if not reported or call.arguments[reported[0]].text in NULL_LITERALS:
        # A null literal has no type of its own, so the message is about an earlier text.
        return None
    candidates = [
        index for index, argument in enumerate(call.arguments) if index != reported[0] and _has_type(argument, expected)
    ]
    if len(candidates) != 1 or _has_type(call.arguments[reported[0]], expected):
        return None
    return _make_repair(
        call, reported[0], candidates[0], 0.3 if _has_type(call.arguments[reported[0]], actual) else 0.6
    )


def _has_type(argument: Argument, kind: str) -> bool:
    """Return whether an argument is a literal of a type, or has the name of the type."""
    if argument.literal:
        return _type_score(argument.literal, kind) > 0
    names = NAME_PATTERN.findall(argument.text.split("(")[0])
    argument_words = set(split_words(names[-1] if names else ""))
    type_words = set(split_words(re.split(r"[.\\\\]|::", kind)[-1]))
    return bool(argument_words) and argument_words <= type_words


def _make_repair(call: Call, first: int, second: int, cost: float) -> Repair:
    left, right = call.arguments[first], call.arguments[second]
    return Repair(KIND, (Edit(*left.span, encode(right.text)), Edit(*right.span, encode(left.text))), cost)


def _find_calls(request: RepairRequest) -> Iterator[Call]:
    """Yield the calls around the finding, the innermost first, then the other calls of its line."""
    tree, span = request.tree, request.subject.span
    enclosing = [*find_calls_around(tree, span)][:MAX_CANDIDATES]
    yield from enclosing
    spans = {call.span for call in enclosing}
    line = tree.document.line_span(tree.document.line_of(span.start))
    line_calls = (call for call in find_calls_in(tree, Span(*line)) if call.span not in spans)
    yield from [*line_calls][:MAX_CANDIDATES]


def _swap_by_parameters(call: Call, parameters: Sequence[Parameter]) -> Repair | None:
    """Swap the two arguments that fit each other's parameter best."""
    arguments = call.arguments[:MAX_CANDIDATES]
    gains: list[tuple[float, int, int]] = []
    for (first, left), (second, right) in combinations(enumerate(arguments), 2):
        if second >= len(parameters) or left.text == right.text:
            continue
        crossed = _fit_score(left, parameters[second]), _fit_score(right, parameters[first])
        straight = _fit_score(left, parameters[first]), _fit_score(right, parameters[second])
        # Neither argument may fit worse than before.
        if min(crossed) >= 0 and crossed[0] >= straight[0] and crossed[1] >= straight[1]:
            gains.append((sum(crossed) - sum(straight), first, second))
    gains.sort(key=lambda gain: -gain[0])
    if not gains or gains[0][0] < MIN_GAIN or (len(gains) > 1 and gains[1][0] >= gains[0][0]):
        return None
    gain, first, second = gains[0]
    return _make_repair(call, first, second, max(0.0, 2 * MIN_GAIN - gain) / 4)


def _fit_score(argument: Argument, parameter: Parameter) -> float:
    """Return how well an argument fits a parameter: 1 for the same name or type, -1 for another type."""
    if argument.literal:
        # The type of a parameter may be a union of literals.
        return (
            1.0
            if argument.text.strip("'\"`") in QUOTED_TEXT.findall(parameter.type)
            else _type_score(argument.literal, parameter.type)
        )
    names = NAME_PATTERN.findall(argument.text.split("(")[0])
    if not names:
        return 0.0
    argument_words = set(split_words(names[-1]))
    # The name in `text.as_str()` is evidence of a type, too.
    return max(_name_similarity(argument_words, parameter.name), 0.6 * _name_similarity(argument_words, parameter.type))


def _name_similarity(argument_words: set[str], name: str) -> float:
    other_words = set(split_words(name))
    if not argument_words or not other_words:
        return 0.0
    return (
        1.0
        if argument_words == other_words
        else 0.7 * len(argument_words & other_words) / len(argument_words | other_words)
    )


def _type_score(literal: str, written: str) -> float:
    if not written:
        return 0.0
    if TYPE_NAMES[literal].search(written):
        return 1.0
    if any(kind.search(written) for kind in TYPE_NAMES.values()):
        return -1.0
    # A user's class accepts no literal, unless it is a type parameter.
    return -0.6 if CLASS_NAME.fullmatch(written) else 0.0
