"""Slips of one token: an operator, a number, a truth value, or a function with a sister of a similar name."""

from collections.abc import Iterator, Mapping

from lsp_harness.syntax.slips.code_parts import SlipPlace
from lsp_harness.syntax.tokens import Token, read_tokens
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode

QUOTES = b"\"'`"
OTHER_FORMS: Mapping[str, tuple[str, ...]] = {
    "<": (">", "<=", ">="),
    ">": ("<", ">=", "<="),
    "<=": ("<", ">=", ">"),
    ">=": (">", "<=", "<"),
    "==": ("!=", "is", ">=", "<=", "in"),
    "!=": ("==", "is not", "<", ">"),
    "===": ("!==",),
    "!==": ("===",),
    "and": ("or",),
    "or": ("and",),
    "&&": ("||",),
    "||": ("&&",),
    "not": ("",),
    "!": ("",),
    "is": ("is not", "=="),
    "is not": ("is", "!="),
    "in": ("not in", "=="),
    "not in": ("in", "!="),
    "+": ("-",),
    "-": ("+",),
    "*": ("/", "//", "+", "**"),
    "**": ("*",),
    "/": ("*", "//"),
    "//": ("/", "%", "*"),
    "%": ("//", "/", "+"),
    "+=": ("-=", "="),
    "-=": ("+=", "="),
    "*=": ("/=", "+="),
    "/=": ("*=", "//="),
    "&": ("|", "^"),
    "|": ("&", "^"),
    "^": ("&", "|"),
    "&=": ("|=", "^="),
    "|=": ("&=", "^="),
    "^=": ("&=", "|="),
    "<<": (">>",),
    ">>": ("<<",),
    "True": ("False", "None"),
    "False": ("True", "None"),
    "true": ("false",),
    "false": ("true",),
    "break": ("continue",),
    "continue": ("break",),
}
"""Text of a token → what may have been meant, the likeliest first. What does not parse fails the first check."""
SISTERS: tuple[tuple[str, ...], ...] = (
    ("min", "max"),
    ("any", "all"),
    ("some", "every"),
    ("append", "extend"),
    ("append", "appendleft"),
    ("pop", "popleft"),
    ("push", "unshift"),
    ("pop", "shift"),
    ("add", "discard"),
    ("startswith", "endswith"),
    ("startsWith", "endsWith"),
    ("lower", "upper"),
    ("toLowerCase", "toUpperCase"),
    ("strip", "lstrip", "rstrip"),
    ("find", "rfind", "index"),
    ("indexOf", "lastIndexOf"),
    ("split", "rsplit"),
    ("partition", "rpartition"),
    ("keys", "values", "items"),
    ("keys", "values", "entries"),
    ("floor", "ceil"),
    ("union", "intersection", "difference"),
    ("issubset", "issuperset"),
    ("isdigit", "isalpha", "isalnum"),
    ("isupper", "islower"),
    ("int", "float", "str"),
    ("list", "tuple", "set"),
    ("match", "search", "fullmatch"),
    ("ValueError", "TypeError", "KeyError", "IndexError", "AttributeError"),
)
"""Functions and classes of which one is easily written for another."""


def change_tokens(place: SlipPlace) -> Iterator[tuple[float, tuple[Edit, ...]]]:
    """Yield the changes of one token, with the number of likelier ones for the same token."""
    tree, statement = place.tree, place.statement
    tokens = [
        token
        for token in read_tokens(tree, *statement)
        if token.start >= statement.start and token.end <= statement.end and token.kind != "comment"
    ]
    # `is not` and `not in` may be two tokens: without `not`, both are the other operator
    texts = [token.text for token in tokens]
    doubled = {
        tokens[index + (texts[index] == "not")].start
        for index in range(len(texts) - 1)
        if (texts[index], texts[index + 1]) in (("is", "not"), ("not", "in"))
    }
    for token in tokens:
        if token.start in doubled:
            continue
        for rank, text in enumerate(_find_forms(place, token)):
            end = token.end
            while not text and tree.data[end : end + 1] == b" ":
                # a negation goes with the blank behind it
                end += 1
            yield rank, (Edit(token.start, end, encode(text)),)


def _find_forms(place: SlipPlace, token: Token) -> tuple[str, ...]:
    data = place.tree.data
    if token.kind == "literal" and token.text.isdecimal():
        is_in_string = data[token.start - 1 : token.start] in QUOTES if token.start else False
        number = int(token.text)
        is_plain = str(number) == token.text and not is_in_string
        return (str(number + 1), *([str(number - 1)] if number else [])) if is_plain else ()
    if token.kind == "name":
        if data[token.end : token.end + 1] != b"(" and not token.text.endswith("Error"):
            return ()
        return tuple(dict.fromkeys(name for row in SISTERS if token.text in row for name in row if name != token.text))
    return OTHER_FORMS.get(token.text, ())
