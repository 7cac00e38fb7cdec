"""What the things may be whose members are used near a cursor, read off how they are declared: `ctx: Context`, `pool = Pool()`.

No types are inferred. What is written is enough to show the right members in most places, and what is shown in vain costs only
its tokens.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from lsp_harness.index.index_view import Symbol, View
from lsp_harness.syntax.symbols.declarations import TYPES

SAID, PARAMETERS = 200, 1_000
"""Characters at most of what a name is set to, or of a type, and of parameters: a file may be one line."""
OFTEN, CALLS = 200, 8
"""Places at which a name is set, and things that are called there, that are looked at."""
CHAINS = 8
"""Receivers that are looked at, the nearest first."""
FAR = 3
"""Members that are followed from the first."""
CALLED = 2
"""Types of one name in the workspace, at most, for one that no import leads to."""
TYPE = re.compile(r"\b[A-Z]\w+")
CALL = re.compile(r"\b([^\W\d]\w*)\s*\(")
NO_TYPES = frozenset({"None", "True", "False", "NULL", "Ok", "Err", "Some"})
SELF = frozenset({"self", "this", "cls", "super"})


def find_receiver_types(view: View, path: str, language: str, text: str, names: Iterable[str]) -> Iterator[Symbol]:
    """The types of other files that the receivers of these dotted names, and the names themselves, may have; some twice.

    `text` is that of the file at `path`.
    """
    chains = dict.fromkeys(one for name in names for one in _chains(name))
    for one in [*chains][:CHAINS]:
        yield from _of_chain(view, path, language, text, one)


def _chains(name: str) -> Iterator[tuple[str, ...]]:
    parts = tuple(part for part in name.split(".") if part not in SELF)
    if len(parts) > 1 or "." in name:
        yield parts[:-1][-FAR:]
    yield parts[-FAR:]


def _of_chain(view: View, path: str, language: str, text: str, chain: Sequence[str]) -> list[Symbol]:
    texts, found = [text], list[Symbol]()
    for part in chain:
        said = [name for each in texts for name in read_declared_types(each, part)]
        found = [one for name in dict.fromkeys(said) for one in _called(view, path, language, name)]
        found = found or _called(view, path, language, _camel(part))
        if not found:
            return []
        texts = [view.body(one) for one in found]
    return found


def read_declared_types(text: str, name: str) -> list[str]:
    """The types that are written where a name is declared or set, and those of what the functions give that it is set to."""
    word = re.escape(name)
    said = islice(re.finditer(rf"\b{word}\s*:?[:=]\s*(?!=)([^\n;]{{0,{SAID}}})", text), OFTEN)
    # the same is often said many times
    sides = [*dict.fromkeys(match[1] for match in said)]
    found = [(TYPE.findall(one), CALL.findall(one)) for one in sides]
    calls = dict.fromkeys(call for find_receiver_types, called in found if not find_receiver_types for call in called)
    gives = {call: _given(text, call) for call in [*calls][:CALLS]}
    named: list[str] = []
    for find_receiver_types, called in found:
        named += find_receiver_types or [one for call in called for one in gives.get(call, ())]
    # where the type comes before the name
    named += re.findall(rf"\b([A-Z]\w+)(?:<[^<>\n]{{0,{SAID}}}>)?[&*\s]+{word}\b", text)
    return [one for one in dict.fromkeys(named) if one not in NO_TYPES]


def _given(text: str, call: str) -> list[str]:
    """The types that are written behind the parameters of what is called so."""
    said = rf"\b{re.escape(call)}\s*\([^)]{{0,{PARAMETERS}}}\)\s*(?:->|:)\s*([^\n;{{]{{0,{SAID}}})"
    return [one for match in islice(re.finditer(said, text), OFTEN) for one in TYPE.findall(match[1])]


def _called(view: View, path: str, language: str, name: str) -> list[Symbol]:
    found = [one for one in view.defined(path, name) if one.kind in TYPES]
    if found:
        return found
    named = view.named(name, 10 * CALLED, TYPES - {"implementation"}, language)
    named = [one for one in named if one.path != path]
    return named if len(named) <= CALLED else []


def _camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
