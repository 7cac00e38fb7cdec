"""The places in the documentation of a function that name one of its parameters.

These forms are known: Sphinx and Epydoc (`:param name:`), Google (`Args:`), NumPy (`Parameters` with a line below), and
`@param`, which JSDoc, TSDoc and Javadoc have.
"""

import re
from collections.abc import Iterator

from lsp_harness.syntax import scope
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, encode

FIELD = r"[:@](?:param|parameter|arg|argument|key|keyword|kwarg|type)[ \t]+(?:[^:\n]*[ \t*])?"
"""The beginning of a field of Sphinx up to the name."""
TAG = r"[@\\]param(?:eter)?[ \t]+(?:\{[^\n]*?\}[ \t]+)?\[?"
"""The beginning of a tag up to the name: a type in braces, and a bracket before an optional parameter."""
GOOGLE_HEAD = re.compile(
    rb"(?:[rRuU]?(?:\"\"\"|'''))?(?:Args|Params|(?:(?:Keyword|Other) )?(?:Arguments|Parameters)|(?:Keyword|Other) Args)"
    rb"[ \t]*:[ \t]*"
)
NUMPY_HEAD = re.compile(rb"(?:(?:Other |Keyword )?Parameters|(?:Other |Keyword )?Arguments)[ \t]*")
UNDERLINE = re.compile(rb"-{3,}[ \t]*")
NUMPY_NAME = re.compile(rb"\*{0,2}([^\W\d]\w*)")


def find_documented_parameters(tree: SyntaxTree, name_start: int, name: str) -> list[Span]:
    """Return the places where the documentation of a function names a parameter.

    A constructor may be documented with its class.

    Args:
        tree: The tree of the file.
        name_start: The offset of the name of the function.
        name: The name of the parameter.
    """
    return sorted({place for text in _find_documentation(tree, name_start) for place in _find_names(tree, text, name)})


def _find_documentation(tree: SyntaxTree, name_start: int) -> Iterator[Span]:
    """Yield the bytes that document the function with a name: a string inside of it, or the comments above it."""
    style, function = tree.language.declarations.documentation, scope.declared_function(tree, name_start)
    if style is None or function is None:
        return
    if not style.is_inside:
        if span := scope.function_text_span(tree, function.start):
            yield Span(span.start, max(span.start, min(function.start, name_start)))
        return
    places = [function.body_start]
    if function.name in tree.language.packages.constructor_names:
        class_ = scope.enclosing_class(tree, function.start)
        places += [class_.body_start] if class_ else []
    for place in places:
        statement = scope.statement_at(tree, place, place + 1)
        if statement and tree.data[statement.start : statement.end].lstrip(b"rRuU").startswith((b'"', b"'")):
            yield statement


def _find_names(tree: SyntaxTree, text: Span, name: str) -> Iterator[Span]:
    word = rf"({re.escape(name)})(?![\w$])"
    for pattern in (FIELD + word + r"[ \t]*:", TAG + word):
        for match in re.compile(encode(pattern)).finditer(tree.data, *text):
            yield Span(*match.span(1))
    yield from _find_in_sections(tree.data, text, encode(name))


def _find_in_sections(data: bytes, text: Span, name: bytes) -> Iterator[Span]:
    """Yield the places of a name in the sections of Google and NumPy, by the indentation of their lines."""
    google = re.compile(rb"\*{0,2}(%s)(?!\w)[ \t]*(?:\([^\n]*\))?[ \t]*:" % re.escape(name))
    lines = [*_split_lines(data, text)]
    head, entry, is_numpy = -1, -1, False
    for number, (start, line) in enumerate(lines):
        words = line.lstrip()
        indent, place = len(line) - len(words), start + len(line) - len(words)
        following = lines[number + 1][1].strip() if number + 1 < len(lines) else b""
        if not words or UNDERLINE.fullmatch(words):
            continue
        if UNDERLINE.fullmatch(following):
            head, is_numpy = (indent, True) if NUMPY_HEAD.fullmatch(words) else (-1, False)
        elif GOOGLE_HEAD.fullmatch(words):
            head, entry, is_numpy = indent, -1, False
        elif is_numpy and indent == head:
            names = NUMPY_NAME.finditer(words.split(b":")[0])
            yield from (Span(place + match.start(1), place + match.end(1)) for match in names if match[1] == name)
        elif not is_numpy and head >= 0:
            if indent <= head:
                head = -1
                continue
            entry = indent if entry < 0 else entry
            if indent == entry and (match := google.match(words)):
                yield Span(place + match.start(1), place + match.end(1))


def _split_lines(data: bytes, text: Span) -> Iterator[tuple[int, bytes]]:
    """Yield the start of each line of a text, and the line without its end."""
    start = data.rfind(b"\n", 0, text.start) + 1
    for line in data[start : text.end].split(b"\n"):
        yield start, line.rstrip(b"\r \t")
        start += len(line) + 1
