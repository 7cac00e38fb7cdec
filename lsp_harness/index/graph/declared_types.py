"""Types of names as the text writes them: in a declaration (`till: Till`, `Till till`), by a constructor call
(`Till(1)`), or as the result of a function.

Only unambiguous types are returned: `rows: list[Till]` yields none.
"""

import re

from lsp_harness.languages.language_table import find_language
from lsp_harness.syntax.symbols.name_uses import UNKNOWN_RECEIVER, split_chain

WRAPPER_TYPES = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Box", "Rc", "Arc", "Readonly", "Required"})
"""Types whose members are those of their type argument."""
DOTTED_NAME = r"[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)*"
TYPE_PATTERN = re.compile(
    rf"(?:[&*?]|'\w+\s|mut\s|dyn\s|const\s)*({DOTTED_NAME})\s*(?:[\[<](.*)[\]>])?[\s&*?]*", re.DOTALL
)
MAX_EXPRESSION_CHARS = 1_000
"""Number of characters of an expression or type that are read."""
MAX_GAP_CHARS = 200
"""Limit for each part of the patterns with an open end, as a file may be a single line."""
NULL_TYPES = frozenset({"None", "null", "undefined", "nil"})
NON_TYPE_WORDS = frozenset(
    {"return", "new", "else", "await", "case", "throw", "yield", "in", "is", "not", "and", "or", "echo", "var", "auto"}
)
"""Words that may be before a name and are not types."""


def find_written_types(text: str, name: str, language: str) -> list[tuple[str, ...]]:
    """Return the types that a text writes for a name.

    Each type is a chain of names. A name that is called has brackets: `("Till",)`, or `("shop", "Till()")`.
    """
    word = rf"(?<![\w.]){re.escape(name)}"
    types: list[tuple[str, ...]] = []
    traits = find_language(language).declarations
    if traits.types_follow_colon:
        types += [
            type_
            for match in re.findall(rf"{word}\??\s*:(?![:=])\s*([^\n=;{{]+)", text)
            for type_ in _parse_type(_cut_parameter(match))
        ]
    if traits.types_come_first:
        types += [
            type_
            for match in re.findall(
                rf"(?<![\w.])([^\W\d][\w.:]{{0,{MAX_GAP_CHARS}}}(?:<[^;(){{}}]{{0,{MAX_GAP_CHARS}}}?>)?)"
                rf"[&*\s]+\$?{re.escape(name)}\b(?!\s*\()",
                text,
            )
            if match not in NON_TYPE_WORDS
            for type_ in _parse_type(match)
        ]
    if traits.types_follow_name:
        types += [
            type_ for match in re.findall(rf"{word}\s+(\*?{DOTTED_NAME})\b", text) for type_ in _parse_type(match)
        ]
    # A declared type counts more than the value, which may have a narrower type.
    assignments = () if types else re.finditer(rf"{word}(?:\s*:[^=\n]{{0,{MAX_GAP_CHARS}}})?\s*:?=(?![=>])\s*", text)
    types += [
        constructed
        for match in assignments
        if (constructed := _constructed_type(_cut_expression(text[match.end() : match.end() + MAX_EXPRESSION_CHARS])))
    ]
    return [*dict.fromkeys(types)]


def find_return_types(signature: str, name: str, language: str) -> list[tuple[str, ...]]:
    """Return the types that a function returns, by its signature, as chains of names."""
    match = re.search(r"\)\s*(?:->|:)\s*(.+)", signature, re.DOTALL)
    if match:
        return _parse_type(_cut_parameter(match[1].rstrip(" :{;")))
    traits = find_language(language).declarations
    if traits.types_follow_name:
        match = re.search(rf"\)\s*\(?\s*(\*?{DOTTED_NAME})\b", signature.partition(name)[2])
        return _parse_type(match[1]) if match else []
    if traits.types_come_first:
        type_ = rf"([^\W\d][\w.:]{{0,{MAX_GAP_CHARS}}}(?:<.{{0,{MAX_GAP_CHARS}}}?>)?)"
        match = re.search(rf"{type_}[&*\s]+{re.escape(name)}\s*\(", signature, re.DOTALL)
        return _parse_type(match[1]) if match else []
    return []


def _cut_expression(text: str) -> str:
    """Return the text up to the first line end outside of brackets; empty if the text starts inside of round
    brackets."""
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
    """Return the called names if an expression is nothing but a call."""
    text = text.strip().removesuffix(",")
    chain = split_chain(text)
    if chain[-1] == "new":
        # Ruby calls `new` without brackets.
        return (*chain[:-1], "new()")
    return chain if chain != (UNKNOWN_RECEIVER,) and chain[-1].endswith("()") else _constructed_literal(text)


def _constructed_literal(text: str) -> tuple[str, ...] | None:
    """Return the type of a literal of Go or Rust, as in `&Till{…}`."""
    match = re.match(rf"&?({DOTTED_NAME})\s*\{{", text)
    return (*_split_chain(match[1])[:-1], f"{_split_chain(match[1])[-1]}()") if match else None


def _parse_type(text: str) -> list[tuple[str, ...]]:
    """Return the names of a type, of a union the names of all its members."""
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
    """Return the text up to the next parameter or the end of the parameters."""
    return _split_outside_brackets(re.split(r"\)(?![\]>])|\s#|\s//", text)[0], ",")[0].rstrip(" :")


def _split_outside_brackets(text: str, separator: str) -> list[str]:
    """Split a text at separators outside of brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "[<(") - (char in "]>)")
        if char == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts
