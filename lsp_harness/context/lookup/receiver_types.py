"""The likely types of the values whose members are used near a cursor.

They are read from declarations such as `ctx: Context` and `pool = Pool()`. No types are inferred. Written declarations
are enough to show the right members in most places, and a type shown in vain costs only its tokens.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS

MAX_VALUE_CHARS, MAX_PARAMETER_CHARS = 200, 1_000
"""Most characters of an assigned value or a type, and of a parameter list: a whole file may be one line."""
MAX_ASSIGNMENTS, MAX_CALLS = 200, 8
"""Most assignments to a name to read, and most functions called in them to look up."""
MAX_CHAINS = 8
"""Most receivers to look up, the nearest first."""
MAX_CHAIN_PARTS = 3
"""Most parts of a receiver to follow: in `a.b.c.d.e()` these are the last ones before `e`."""
MAX_NAMESAKES = 2
"""A type that no import leads to is shown only if at most so many types of the workspace have its name."""
NAMESAKE_ROWS = 10 * MAX_NAMESAKES
"""Rows to read for them, as some are in the file itself."""
TYPE = re.compile(r"\b[A-Z]\w+")
CALL = re.compile(r"\b([^\W\d]\w*)\s*\(")
NOT_TYPES = frozenset({"None", "True", "False", "NULL", "Ok", "Err", "Some"})
SELF_NAMES = frozenset({"self", "this", "cls", "super"})


def find_receiver_types(view: IndexView, path: str, language: str, text: str, names: Iterable[str]) -> Iterator[Symbol]:
    """Yield the types of other files that the receivers of dotted names, and the names themselves, may have.

    Args:
        view: The index.
        path: The file that uses the names.
        language: The language of the file.
        text: The text of the file.
        names: The names, dotted ones included, the nearest to the cursor first.

    Yields:
        Types. The same type may come twice.
    """
    chains = dict.fromkeys(chain for name in names for chain in _chains(name))
    for chain in [*chains][:MAX_CHAINS]:
        yield from _types_of_chain(view, path, language, text, chain)


def _chains(name: str) -> Iterator[tuple[str, ...]]:
    """Yield the receiver of a dotted name and the name itself, each as the parts to follow."""
    parts = tuple(part for part in name.split(".") if part not in SELF_NAMES)
    if len(parts) > 1 or "." in name:
        yield parts[:-1][-MAX_CHAIN_PARTS:]
    yield parts[-MAX_CHAIN_PARTS:]


def _types_of_chain(view: IndexView, path: str, language: str, text: str, chain: Sequence[str]) -> list[Symbol]:
    """Follow the parts of a chain: each is searched in the bodies of the types of the part before it."""
    texts, types = [text], list[Symbol]()
    for part in chain:
        type_names = dict.fromkeys(name for body in texts for name in read_declared_types(body, part))
        types = [symbol for name in type_names for symbol in _find_types(view, path, language, name)]
        types = types or _find_types(view, path, language, _to_camel_case(part))
        if not types:
            return []
        texts = [view.texts.read_body(symbol) for symbol in types]
    return types


def read_declared_types(text: str, name: str) -> list[str]:
    """Return the names of the types in declarations of `name` and in values assigned to it.

    If a value is a call of a function, the result contains the type that the function is declared to return.
    """
    word = re.escape(name)
    assignments = islice(
        re.finditer(rf"\b{word}\s*:?[:=]\s*(?!=)([^\n;]{{0,{MAX_VALUE_CHARS}}})", text), MAX_ASSIGNMENTS
    )
    # many assignments are repeated
    values = [*dict.fromkeys(match[1] for match in assignments)]
    types_and_calls = [(TYPE.findall(value), CALL.findall(value)) for value in values]
    calls = dict.fromkeys(call for types, calls in types_and_calls if not types for call in calls)
    returned_types = {call: _read_return_types(text, call) for call in [*calls][:MAX_CALLS]}
    names: list[str] = []
    for types, calls_of_value in types_and_calls:
        names += types or [type_ for call in calls_of_value for type_ in returned_types.get(call, ())]
    # some languages write the type before the name
    names += re.findall(rf"\b([A-Z]\w+)(?:<[^<>\n]{{0,{MAX_VALUE_CHARS}}}>)?[&*\s]+{word}\b", text)
    return [type_ for type_ in dict.fromkeys(names) if type_ not in NOT_TYPES]


def _read_return_types(text: str, function: str) -> list[str]:
    """Return the types that follow the parameters of a function."""
    parameters = rf"\([^)]{{0,{MAX_PARAMETER_CHARS}}}\)"
    pattern = rf"\b{re.escape(function)}\s*{parameters}\s*(?:->|:)\s*([^\n;{{]{{0,{MAX_VALUE_CHARS}}})"
    matches = islice(re.finditer(pattern, text), MAX_ASSIGNMENTS)
    return [type_ for match in matches for type_ in TYPE.findall(match[1])]


def _find_types(view: IndexView, path: str, language: str, name: str) -> list[Symbol]:
    """Return the types that the file calls `name`, or types of other files with that name if there are few."""
    defined = [symbol for symbol in view.find_definitions(path, name) if symbol.kind in TYPE_KINDS]
    if defined:
        return defined
    namesakes = view.symbols.find_by_name(name, NAMESAKE_ROWS, TYPE_KINDS - {"implementation"}, language)
    namesakes = [symbol for symbol in namesakes if symbol.path != path]
    return namesakes if len(namesakes) <= MAX_NAMESAKES else []


def _to_camel_case(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
