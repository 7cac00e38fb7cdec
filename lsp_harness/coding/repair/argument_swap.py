"""Swapped arguments: two positional arguments of a call change places where that makes them fit the parameters.

The parameters must be known, from this file or the index. There must be evidence besides: an argument that is called as the
other's parameter is, or a literal of the type that the other's parameter has. Where one exchange fits as well as another,
neither is proposed.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from lsp_harness.coding.repair.foreign_names import indexed_parameters
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.coding.repair.spelling_cost import words
from lsp_harness.syntax.names.calls import Argument, Call, Parameter, find_calls_around, find_calls_in, find_parameters
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

KIND = "argument order"
SURE = 1.0
"""What an exchange must gain to be proposed; it costs nothing where it gains twice that."""
NAME = re.compile(r"[^\W\d]\w*")
QUOTED = re.compile(r"['\"]([^'\"]*)['\"]")
CLASS = re.compile(r"[:*&\s]*(?!Any\b|Object\b|Self\b)[A-Z]\w*[a-z]\w*")
NOTHING = frozenset({"null", "None", "nil", "undefined", "nullptr"})
MOST = 8
"""Arguments that are compared, and calls of one line."""
LISTS = re.compile(r"\b(\w+)\(([^()]*)\).{0,200}not applicable for the arguments \(([^()]*)\)", re.DOTALL)
"""A message that says the types of all parameters and of all arguments."""
TYPED = re.compile(
    r"rgument of type [\"'`](?P<found>.+?)[\"'`] (?:is not assignable|cannot be assigned) to parameter(?: [\"'`]\w+[\"'`])? of type [\"'`](?P<wanted>[^\"'`]+)"
    r"|(?:xpected type [\"'`](?P<wanted2>[^\"'`]+)[\"'`]\. Found [\"'`](?P<found2>[^\"'`]+)[\"'`])"
    r"|cannot use .+ \((?:untyped |.*of type )?(?P<found4>[^()]+)\) as (?P<wanted4>[^\s()]+) value in argument"
    r"|annot convert from [\"'`](?P<found3>[^\"'`]+)[\"'`] to [\"'`](?P<wanted3>[^\"'`]+)[\"'`]"
)
"""A message that says the type of one argument, and of its parameter."""
TYPES: dict[str, re.Pattern[str]] = {
    "string": re.compile(r"\b(?:str|string|String|CharSequence|char\s*\*|string_view|&str)\b|char\s*\*", re.IGNORECASE),
    "int": re.compile(
        r"\b(?:SupportsIndex|SupportsInt|u?int\d*|integer|Integer|long|short|byte|number|usize|isize|[iu]\d+|size_t|float\d*|double|f\d+)\b",
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
"""What a type that takes a literal of that kind is called."""


async def swapped_arguments(request: RepairRequest) -> list[Repair]:
    """The exchange of two arguments that makes a call fit the parameters of what it calls."""
    if request.subject.kind != "argument":
        return []
    calls = [*_calls(request)]
    for call in calls:
        if repair := _by_lists(call, request):
            return [repair]
    for call in calls:
        own = find_parameters(request.tree, call.name) if call.name else []
        listed = own or await indexed_parameters(request, call.name)
        known = {tuple(one.name for one in each): each for each in listed}
        if len(known) != 1:
            # overloads: what fits one of them may be right as it is
            continue
        if repair := _exchange(call, next(iter(known.values()))):
            return [repair]
    found = (_by_types(call, request) for call in calls)
    return [one for one in found if one][:1]


def _by_lists(call: Call, request: RepairRequest) -> Repair | None:
    """By a message that says all types: `f(int, String) … is not applicable for the arguments (String, int)`."""
    said = LISTS.search(request.finding.message)
    if not said or said[1] != call.name:
        return None
    taken, given = (re.split(r",\s*(?![^<]*>)", one) for one in said.groups()[1:])
    wrong = [n for n, (one, other) in enumerate(zip(taken, given, strict=False)) if one != other]
    if len(taken) != len(given) or len(given) != len(call.arguments) or len(wrong) != 2:
        return None
    m, n = wrong
    if any(_declared_as(request.tree.data, call.arguments[one].text, taken[one]) for one in wrong):
        # the message is about an earlier text: this argument has the type that is wanted
        return None
    return _swapped(call, m, n, 0.0) if (taken[m], taken[n]) == (given[n], given[m]) else None


def _declared_as(data: bytes, name: str, kind: str) -> bool:
    """Whether the text declares a name as of a type, as `byte[] name` does. Type parameters are not compared."""
    base = kind.split("<")[0].replace("[]", "").strip().rpartition(".")[2]
    if not NAME.fullmatch(name) or not base:
        return False
    array = r"\s*\[\s*\]" if kind.endswith("[]") else ""
    return re.search(rf"\b{re.escape(base)}(?:<[^;(){{}}]*>)?{array}\s+{name}\b", decode(data)) is not None


def _by_types(call: Call, request: RepairRequest) -> Repair | None:
    """By a message that says of one argument which type it should have: the one other argument that is called so."""
    said = TYPED.search(request.finding.message)
    if not said:
        return None
    found, wanted = next((said[f"found{n}"], said[f"wanted{n}"]) for n in ("", "2", "3", "4") if said[f"wanted{n}"])
    here = [n for n, one in enumerate(call.arguments) if one.span.start <= request.subject.span.start < one.span.end]
    if not here or call.arguments[here[0]].text in NOTHING:
        # nothing has no type of its own: the message is about an earlier text
        return None
    there = [n for n, one in enumerate(call.arguments) if n != here[0] and _is_of(one, wanted)]
    if len(there) != 1 or _is_of(call.arguments[here[0]], wanted):
        return None
    return _swapped(call, here[0], there[0], 0.3 if _is_of(call.arguments[here[0]], found) else 0.6)


def _is_of(argument: Argument, kind: str) -> bool:
    """Whether an argument is a literal of a type, or is called as the type is."""
    if argument.literal:
        return _type_fit(argument.literal, kind) > 0
    names = NAME.findall(argument.text.split("(")[0])
    mine, its = set(words(names[-1] if names else "")), set(words(re.split(r"[.\\\\]|::", kind)[-1]))
    return bool(mine) and mine <= its


def _swapped(call: Call, m: int, n: int, cost: float) -> Repair:
    one, other = call.arguments[m], call.arguments[n]
    return Repair(KIND, (Edit(*one.span, encode(other.text)), Edit(*other.span, encode(one.text))), cost)


def _calls(request: RepairRequest) -> Iterator[Call]:
    """The calls that the finding is in, the innermost first, then those of its line."""
    tree, span = request.tree, request.subject.span
    around = [*find_calls_around(tree, span)][:MOST]
    yield from around
    seen = {one.span for one in around}
    line = tree.document.line_span(tree.document.line_of(span.start))
    inside = (one for one in find_calls_in(tree, Span(*line)) if one.span not in seen)
    yield from [*inside][:MOST]


def _exchange(call: Call, parameters: Sequence[Parameter]) -> Repair | None:
    arguments = call.arguments[:MOST]
    gains: list[tuple[float, int, int]] = []
    for (m, one), (n, other) in combinations(enumerate(arguments), 2):
        if n >= len(parameters) or one.text == other.text:
            continue
        crossed = _fit(one, parameters[n]), _fit(other, parameters[m])
        straight = _fit(one, parameters[m]), _fit(other, parameters[n])
        # neither argument may fit worse than before
        if min(crossed) >= 0 and crossed[0] >= straight[0] and crossed[1] >= straight[1]:
            gains.append((sum(crossed) - sum(straight), m, n))
    gains.sort(key=lambda each: -each[0])
    if not gains or gains[0][0] < SURE or (len(gains) > 1 and gains[1][0] >= gains[0][0]):
        return None
    gain, m, n = gains[0]
    return _swapped(call, m, n, max(0.0, 2 * SURE - gain) / 4)


def _fit(argument: Argument, parameter: Parameter) -> float:
    """How well an argument agrees with a parameter: 1 for the same name or type, -1 for another type."""
    if argument.literal:
        # a union of literals has its own
        return (
            1.0
            if argument.text.strip("'\"`") in QUOTED.findall(parameter.type)
            else _type_fit(argument.literal, parameter.type)
        )
    names = NAME.findall(argument.text.split("(")[0])
    if not names:
        return 0.0
    mine = set(words(names[-1]))
    # `text.as_str()` says as much of its type as a name does
    return max(_alike(mine, parameter.name), 0.6 * _alike(mine, parameter.type))


def _alike(mine: set[str], name: str) -> float:
    its = set(words(name))
    if not mine or not its:
        return 0.0
    return 1.0 if mine == its else 0.7 * len(mine & its) / len(mine | its)


def _type_fit(literal: str, written: str) -> float:
    if not written:
        return 0.0
    if TYPES[literal].search(written):
        return 1.0
    if any(kind.search(written) for kind in TYPES.values()):
        return -1.0
    # a class of somebody's takes no literal, as long as it is no type parameter
    return -0.6 if CLASS.fullmatch(written) else 0.0
