"""The types that a text says a name has: where it is declared (`till: Till`, `Till till`), or set to what a type makes (`Till(1)`) or
a function gives. Only what can mean nothing else is taken: of `rows: list[Till]` nothing is said."""

import re

from lsp_harness.syntax.symbols.name_uses import UNKNOWN, parts

WRAPPER_TYPES = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Box", "Rc", "Arc", "Readonly", "Required"})
"""Whose members are those of what is in them."""
TYPE_FIRST_LANGUAGES = frozenset({"c", "cpp", "csharp", "java", "php"})
"""Languages in which a type comes before the name."""
TYPE_LAST_LANGUAGES = frozenset({"python", "typescript", "tsx", "rust"})
"""Those in which it comes after the name and a colon."""
DOTTED_NAME = r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*"
TYPE_PATTERN = re.compile(
    rf"(?:[&*?]|'\w+\s|mut\s|dyn\s|const\s)*({DOTTED_NAME})\s*(?:[\[<](.*)[\]>])?[\s&*?]*", re.DOTALL
)
MAX_EXPRESSION_CHARS = 1_000
"""Bytes of an expression, or of a type, that are looked at."""
MAX_GAP_CHARS = 200
"""Characters at most of what is between a name and what it is set to, and of what a type is of: a file may be one line."""
NULL_TYPES = frozenset({"None", "null", "undefined", "nil"})
NON_TYPE_WORDS = frozenset(
    {"return", "new", "else", "await", "case", "throw", "yield", "in", "is", "not", "and", "or", "echo", "var", "auto"}
)
"""Before a name these are no types."""


def find_written_types(text: str, name: str, language: str) -> list[tuple[str, ...]]:
    """Each as a chain of names, one of a call with brackets: `Till`, or `shop` and `Till()`."""
    word = rf"(?<![\w.]){re.escape(name)}"
    types: list[tuple[str, ...]] = []
    if language in TYPE_LAST_LANGUAGES:
        types += [
            type_
            for match in re.findall(rf"{word}\??\s*:(?![:=])\s*([^\n=;{{]+)", text)
            for type_ in _parse_type(_cut_parameter(match))
        ]
    if language in TYPE_FIRST_LANGUAGES:
        types += [
            type_
            for match in re.findall(
                rf"(?<![\w.])([^\W\d][\w.:]{{0,{MAX_GAP_CHARS}}}(?:<[^;(){{}}]{{0,{MAX_GAP_CHARS}}}?>)?)[&*\s]+\$?{re.escape(name)}\b(?!\s*\()",
                text,
            )
            if match not in NON_TYPE_WORDS
            for type_ in _parse_type(match)
        ]
    if language == "go":
        types += [
            type_ for match in re.findall(rf"{word}\s+(\*?{DOTTED_NAME})\b", text) for type_ in _parse_type(match)
        ]
    # what is set to something may be declared as less
    assignments = () if types else re.finditer(rf"{word}(?:\s*:[^=\n]{{0,{MAX_GAP_CHARS}}})?\s*:?=(?![=>])\s*", text)
    types += [
        constructed
        for match in assignments
        if (constructed := _constructed_type(_cut_expression(text[match.end() : match.end() + MAX_EXPRESSION_CHARS])))
    ]
    return [*dict.fromkeys(types)]


def find_return_types(signature: str, name: str, language: str) -> list[tuple[str, ...]]:
    """What a function gives, by its signature."""
    match = re.search(r"\)\s*(?:->|:)\s*(.+)", signature, re.DOTALL)
    if match:
        return _parse_type(_cut_parameter(match[1].rstrip(" :{;")))
    if language == "go":
        match = re.search(rf"\)\s*\(?\s*(\*?{DOTTED_NAME})\b", signature.partition(name)[2])
        return _parse_type(match[1]) if match else []
    if language in TYPE_FIRST_LANGUAGES:
        type_ = rf"([^\W\d][\w.:]{{0,{MAX_GAP_CHARS}}}(?:<.{{0,{MAX_GAP_CHARS}}}?>)?)"
        match = re.search(rf"{type_}[&*\s]+{re.escape(name)}\s*\(", signature, re.DOTALL)
        return _parse_type(match[1]) if match else []
    return []


def _cut_expression(text: str) -> str:
    """As far as the end of a line that is in no brackets; nothing where it is itself within some."""
    text = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", "0", text)
    depth = 0
    for n, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth < 0:
            return "" if char == ")" else text[:n]
        if depth == 0 and char in "\n;":
            return text[:n]
    return text


def _constructed_type(text: str) -> tuple[str, ...] | None:
    """What the call at the beginning of an expression is of, where that is all of it."""
    text = text.strip().removesuffix(",")
    chain = parts(text)
    if chain[-1] == "new":
        # Ruby makes things without brackets
        return (*chain[:-1], "new()")
    return chain if chain != (UNKNOWN,) and chain[-1].endswith("()") else _constructed_literal(text)


def _constructed_literal(text: str) -> tuple[str, ...] | None:
    """Go and Rust make things as `&Till{…}`."""
    match = re.match(rf"&?({DOTTED_NAME})\s*\{{", text)
    return (*_split_chain(match[1])[:-1], f"{_split_chain(match[1])[-1]}()") if match else None


def _parse_type(text: str) -> list[tuple[str, ...]]:
    """The names of a type, those of either where it is one of two."""
    chains: list[tuple[str, ...]] = []
    for part in _split_outside_brackets(text, "|"):
        match = TYPE_PATTERN.fullmatch(part.strip().strip("\"'")) if len(part) <= MAX_EXPRESSION_CHARS else None
        if not match:
            return []
        chain = _split_chain(match[1])
        if chain[-1] in WRAPPER_TYPES and match[2]:
            chains += _parse_type(_split_outside_brackets(match[2], ",")[0])
        elif chain[-1] not in NULL_TYPES:
            chains.append(chain)
    return chains


def _split_chain(name: str) -> tuple[str, ...]:
    return tuple(re.split(r"\.|::", name))


def _cut_parameter(text: str) -> str:
    """As far as the next parameter, or the end of them."""
    return _split_outside_brackets(re.split(r"\)(?![\]>])|\s#|\s//", text)[0], ",")[0].rstrip(" :")


def _split_outside_brackets(text: str, separator: str) -> list[str]:
    """Split where the sign is in no brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "[<(") - (char in "]>)")
        if char == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts
