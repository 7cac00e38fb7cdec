"""One operator, constant or truth value of a statement in another form: the faults that need no model to be mended.

`<` for `>`, one too many, `and` for `or`: the tests judge each of them before a model has read its prompt.
"""

from collections.abc import Iterator, Mapping, Sequence

from lsp_harness.syntax.tokens import Token, read_tokens
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, encode

MAX_STATEMENT_CHANGES = 16
"""Most changes of one statement."""
QUOTES = b"\"'`"
OTHER_FORMS: Mapping[str, tuple[str, ...]] = {
    "<": (">", "<=", ">="),
    ">": ("<", ">=", "<="),
    "<=": ("<", ">=", ">"),
    ">=": (">", "<=", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "===": ("!==",),
    "!==": ("===",),
    "and": ("or",),
    "or": ("and",),
    "&&": ("||",),
    "||": ("&&",),
    "not": ("",),
    "!": ("",),
    "is": ("is not",),
    "is not": ("is",),
    "in": ("not in",),
    "not in": ("in",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/", "//", "+"),
    "/": ("*", "//"),
    "//": ("/", "%", "*"),
    "%": ("//", "/"),
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
    "True": ("False",),
    "False": ("True",),
    "true": ("false",),
    "false": ("true",),
    "break": ("continue",),
    "continue": ("break",),
    "min": ("max",),
    "max": ("min",),
    "any": ("all",),
    "all": ("any",),
}
"""Text of a token → what may have been meant, the likeliest first. What does not parse fails the first check."""


def change_operators(tree: SyntaxTree, statements: Sequence[Span], limit: int) -> list[Edit]:
    """Return edits that each change one token of a statement.

    Args:
        tree: The syntax tree of the text.
        statements: The statements, the most suspicious first.
        limit: Most edits.
    """
    edits: dict[Edit, None] = {}
    for statement in statements:
        edits |= dict.fromkeys([*_change_statement(tree, statement)][:MAX_STATEMENT_CHANGES])
    return [*edits][:limit]


def _change_statement(tree: SyntaxTree, statement: Span) -> Iterator[Edit]:
    """Yield the changes of one statement: first the likeliest of each token, then the next."""
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
    forms = [(token, _find_forms(tree, token)) for token in tokens if token.start not in doubled]
    for rank in range(max((len(other) for _, other in forms), default=0)):
        for token, other in forms:
            if rank < len(other):
                end = token.end
                while not other[rank] and tree.data[end : end + 1] == b" ":
                    # a negation goes with the blank behind it
                    end += 1
                yield Edit(token.start, end, encode(other[rank]))


def _find_forms(tree: SyntaxTree, token: Token) -> tuple[str, ...]:
    if token.kind == "literal" and token.text.isdecimal():
        is_in_string = tree.data[token.start - 1 : token.start] in QUOTES if token.start else False
        number = int(token.text)
        is_plain = str(number) == token.text and not is_in_string
        return (str(number + 1), *([str(number - 1)] if number else [])) if is_plain else ()
    return OTHER_FORMS.get(token.text, ())
