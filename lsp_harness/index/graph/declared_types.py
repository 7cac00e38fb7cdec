"""The types that a text says a name has: where it is declared (`till: Till`, `Till till`), or set to what a type makes (`Till(1)`) or
a function gives. Only what can mean nothing else is taken: of `rows: list[Till]` nothing is said."""

import re

from lsp_harness.syntax.symbols.name_uses import UNKNOWN_RECEIVER, split_chain

HOLDS = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Box", "Rc", "Arc", "Readonly", "Required"})
"""Whose members are those of what is in them."""
BEFORE = frozenset({"c", "cpp", "csharp", "java", "php"})
"""Languages in which a type comes before the name."""
BEHIND = frozenset({"python", "typescript", "tsx", "rust"})
"""Those in which it comes after the name and a colon."""
NAMED = r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*"
PLAIN = re.compile(rf"(?:[&*?]|'\w+\s|mut\s|dyn\s|const\s)*({NAMED})\s*(?:[\[<](.*)[\]>])?[\s&*?]*", re.DOTALL)
LONG = 1_000
"""Bytes of an expression, or of a type, that are looked at."""
SHORT = 200
"""Characters at most of what is between a name and what it is set to, and of what a type is of: a file may be one line."""
NOTHING = frozenset({"None", "null", "undefined", "nil"})
WORDS = frozenset(
    {"return", "new", "else", "await", "case", "throw", "yield", "in", "is", "not", "and", "or", "echo", "var", "auto"}
)
"""Before a name these are no types."""


def written(text: str, name: str, language: str) -> list[tuple[str, ...]]:
    """Each as a chain of names, one of a call with brackets: `Till`, or `shop` and `Till()`."""
    word = rf"(?<![\w.]){re.escape(name)}"
    said: list[tuple[str, ...]] = []
    if language in BEHIND:
        said += [
            one for each in re.findall(rf"{word}\??\s*:(?![:=])\s*([^\n=;{{]+)", text) for one in _named(_until(each))
        ]
    if language in BEFORE:
        said += [
            one
            for each in re.findall(
                rf"(?<![\w.])([^\W\d][\w.:]{{0,{SHORT}}}(?:<[^;(){{}}]{{0,{SHORT}}}?>)?)[&*\s]+\$?{re.escape(name)}\b(?!\s*\()",
                text,
            )
            if each not in WORDS
            for one in _named(each)
        ]
    if language == "go":
        said += [one for each in re.findall(rf"{word}\s+(\*?{NAMED})\b", text) for one in _named(each)]
    # what is set to something may be declared as less
    made = () if said else re.finditer(rf"{word}(?:\s*:[^=\n]{{0,{SHORT}}})?\s*:?=(?![=>])\s*", text)
    said += [found for each in made if (found := _made(_expression(text[each.end() : each.end() + LONG])))]
    return [*dict.fromkeys(said)]


def given(signature: str, name: str, language: str) -> list[tuple[str, ...]]:
    """What a function gives, by its signature."""
    after = re.search(r"\)\s*(?:->|:)\s*(.+)", signature, re.DOTALL)
    if after:
        return _named(_until(after[1].rstrip(" :{;")))
    if language == "go":
        after = re.search(rf"\)\s*\(?\s*(\*?{NAMED})\b", signature.partition(name)[2])
        return _named(after[1]) if after else []
    if language in BEFORE:
        type_ = rf"([^\W\d][\w.:]{{0,{SHORT}}}(?:<.{{0,{SHORT}}}?>)?)"
        before = re.search(rf"{type_}[&*\s]+{re.escape(name)}\s*\(", signature, re.DOTALL)
        return _named(before[1]) if before else []
    return []


def _expression(text: str) -> str:
    """As far as the end of a line that is in no brackets; nothing where it is itself within some."""
    text = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", "0", text)
    depth = 0
    for n, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return "" if letter == ")" else text[:n]
        if depth == 0 and letter in "\n;":
            return text[:n]
    return text


def _made(text: str) -> tuple[str, ...] | None:
    """What the call at the beginning of an expression is of, where that is all of it."""
    text = text.strip().removesuffix(",")
    found = split_chain(text)
    if found[-1] == "new":
        # Ruby makes things without brackets
        return (*found[:-1], "new()")
    return found if found != (UNKNOWN_RECEIVER,) and found[-1].endswith("()") else _literal(text)


def _literal(text: str) -> tuple[str, ...] | None:
    """Go and Rust make things as `&Till{…}`."""
    found = re.match(rf"&?({NAMED})\s*\{{", text)
    return (*_chain(found[1])[:-1], f"{_chain(found[1])[-1]}()") if found else None


def _named(text: str) -> list[tuple[str, ...]]:
    """The names of a type, those of either where it is one of two."""
    found: list[tuple[str, ...]] = []
    for part in _outside(text, "|"):
        plain = PLAIN.fullmatch(part.strip().strip("\"'")) if len(part) <= LONG else None
        if not plain:
            return []
        chain = _chain(plain[1])
        if chain[-1] in HOLDS and plain[2]:
            found += _named(_outside(plain[2], ",")[0])
        elif chain[-1] not in NOTHING:
            found.append(chain)
    return found


def _chain(name: str) -> tuple[str, ...]:
    return tuple(re.split(r"\.|::", name))


def _until(text: str) -> str:
    """As far as the next parameter, or the end of them."""
    return _outside(re.split(r"\)(?![\]>])|\s#|\s//", text)[0], ",")[0].rstrip(" :")


def _outside(text: str, sign: str) -> list[str]:
    """Split where the sign is in no brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "[<(") - (letter in "]>)")
        if letter == sign and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found
