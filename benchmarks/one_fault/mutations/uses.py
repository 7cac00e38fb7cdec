"""The uses of the names of a text, and a use with another name in its place."""

from collections.abc import Callable, Iterator
from random import Random

from benchmarks.one_fault.case import Diagnostic
from benchmarks.one_fault.code import Code, Item
from benchmarks.one_fault.grammars import GRAMMARS, Grammar
from benchmarks.one_fault.registry import Candidate, Judge
from benchmarks.one_fault.typos import SHORTEST, edit_distance
from benchmarks.one_fault.wording import Wording
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode

Respell = Callable[[str, Random], str]
NEVER = frozenset({"self", "this", "super", "cls", "true", "false", "null", "None", "True", "False", "nil", "require"})


def find_grammar(code: Code) -> Grammar:
    return GRAMMARS[code.language.id]


def _is_in(item: Item, table: dict[str, str]) -> bool:
    fields = table.get(item.parent.type) if item.parent else None
    if fields is None or item.parent is None:
        return False
    if fields == "0":
        return item is item.parent.named()[0]
    return (fields == "*" and not item.field) or item.field in fields.split()


def _is_in_table(item: Item, table: dict[str, str]) -> bool:
    fields = table.get(item.parent.type, "") if item.parent else ""
    return fields == "*" or _is_in(item, table)


def find_variables(code: Code) -> list[Item]:
    """Return reads of names that also occur earlier in the text."""
    known = find_grammar(code)
    seen: set[str] = set()
    items: list[Item] = []
    for item in code.items:
        if item.type in known.names:
            if item.text in seen and _is_in_table(item, known.uses) and not (item.parent and item.field == "name"):
                items.append(item)
            seen.add(item.text)
    return items


def find_functions(code: Code) -> list[Item]:
    """Return called names without a receiver."""
    known = find_grammar(code)
    leaf = {"name"} if code.language.id == "php" else known.names
    found = [item for item in code.items if item.type in leaf and _is_in(item, known.calls)]
    if code.language.id in ("java", "ruby"):
        found = [
            one for one in found if one.parent and not (one.parent.child("object") or one.parent.child("receiver"))
        ]
    return found


def find_types(code: Code) -> list[Item]:
    known = find_grammar(code)
    return [item for item in code.items if item.type in known.type_names and _is_in_table(item, known.types)]


def find_members(code: Code) -> Iterator[tuple[Item, Item, bool]]:
    """Yield each member with its receiver, and whether it is called."""
    for item in code.items:
        if fields := find_grammar(code).members.get(item.type):
            receiver, name = item.child(fields[0]), item.child(fields[1])
            if receiver and name and not name.children:
                called = (
                    item.type in ("method_invocation", "member_call_expression", "call")
                    and code.language.id != "python"
                )
                called = called or bool(item.parent and item.field == "function")
                yield name, receiver, called


def find_owner(item: Item, known: Grammar) -> str:
    """Return the name of the enclosing class without type parameters, or an empty text."""
    around = item.ancestor(*known.classes)
    name = around.child(known.classes[around.type]) if around else None
    if name and name.type == "generic_type":
        name = name.child("type")
    return name.text if name else ""


def find_declared_type(item: Item, name: str, known: Grammar) -> str:
    """Return the declared type of a parameter or local variable, or an empty text."""
    function = item.ancestor(*known.functions)
    for place in function.walk() if function else ():
        if fields := known.typed.get(place.type):
            kind = place.child(fields[1])
            if kind and any(_declares_name(child, fields[0], name) for child in place.children):
                return kind.text.removeprefix(":").strip()
    return ""


def _declares_name(item: Item, field: str, name: str) -> bool:
    if item.type == "variable_declarator":
        inner = item.child("name")
        return bool(inner and inner.text == name)
    return item.field == field and item.text == name


def misspell_item(code: Code, item: Item, respell: Respell, rng: Random) -> str:
    """Return another spelling of a name that does not occur in the text, or an empty text."""
    old = item.text.lstrip("$")
    head = item.text[: len(item.text) - len(old)]
    if len(old) < SHORTEST or old in NEVER or old.startswith("__"):
        return ""
    for _ in range(6):
        new = respell(old, rng)
        if new != old and new not in code.words and new.isidentifier():
            return head + new
    return ""


def replace_name(code: Code, item: Item, new: str, wording: Wording, judge: Judge = "parses") -> Candidate:
    """Return a candidate in which a name is misspelt and has the diagnostic."""
    end = item.start + len(encode(new))
    diagnostic = Diagnostic(item.start, end, wording.message, wording.source, wording.code, wording.severity)
    return Candidate(Edit(item.start, item.end, encode(new)), judge, diagnostic, facts=describe_change(code, item, new))


def describe_change(code: Code, item: Item, new: str) -> dict[str, object]:
    """Return facts about the change: how often the name occurs elsewhere, and other names that are as similar."""
    old, wrong = item.text.lstrip("$"), new.lstrip("$")
    reach = edit_distance(wrong.lower(), old.lower())
    rivals = [
        word
        for word in code.words
        if word != old and abs(len(word) - len(wrong)) <= reach and edit_distance(word.lower(), wrong.lower()) <= reach
    ]
    return {"name": item.text, "wrote": new, "elsewhere": code.words[old] - 1, "rivals": sorted(rivals)}
