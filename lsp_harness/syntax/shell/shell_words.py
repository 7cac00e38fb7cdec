"""Words of a shell script after quoting: what a program would get as an argument, as far as it can be seen.

Text that only a running shell knows, such as the value of a variable, becomes the character `UNKNOWN`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from tree_sitter import Node

BASH_NODES = frozenset(
    {"ansi_c_string", "translated_string", "herestring_redirect", "process_substitution", "array", "subscript"}
    | {"c_style_for_statement", "extglob_pattern", "regex", "brace_expression"}
)
"""Nodes of the grammar of bash that POSIX does not have."""


def foreign_to_posix(node: Node, text: str) -> str:
    """Return the part of a node that a shell of POSIX reads in another way than bash; empty if there is none.

    Args:
        node: A node of the grammar of bash.
        text: The text of the node.
    """
    if node.type in BASH_NODES:
        return node.type.replace("_", " ")
    match node.type:
        case "test_command" if text.startswith(("[[", "((")):
            return text[:2]
        case "compound_statement" if text.startswith("(("):
            return "(("
        case "for_statement" if text.startswith("select"):
            return "select"
        case "function_definition" if text.startswith("function"):
            return "function"
        case "expansion" if not re.fullmatch(r"\$\{#?\w+(?:(?::?[-+?=]|##?|%%?)[^}]*)?\}", text):
            return text
        case "pipeline" if any(child.type == "|&" for child in node.children):
            return "|&"
        case "case_item" if re.search(r";;?&\s*$", text):
            return ";&"
        case "file_redirect" if found := re.search(r"&>>?|<>|>&(?![\d-])", text):
            return found[0]
        case "variable_assignment" if "+=" in text.partition("=")[0] + "=":
            return "+="
        case "word" | "concatenation" if "{" in text and ("," in text or ".." in text):
            return "a list in braces"
        case _:
            return ""


UNKNOWN = "\ue000"
"""Stands for text that a parser cannot see. It may be empty, and it may be several words."""
EXPANSIONS = frozenset(
    {"simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)
ANSI_ESCAPES = {
    **dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True)),
    "e": "\x1b",
    "E": "\x1b",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}
ANSI_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(.)|(.))", re.DOTALL
)
UNQUOTED_GLOB = re.compile(r"[*?\[]|[@!+]\(")


@dataclass(frozen=True, slots=True)
class TextSource:
    """The origin of a text that only the running shell knows.

    Attributes:
        kind: The value of a variable, a part of one, the output of a command, a number, a stream that a command writes
            or reads, the paths that a command lists, an argument that a program adds, or something else.
        text: The name of the variable, the command, or the folder in which listed paths are.
    """

    kind: Literal["variable", "part", "output", "number", "stream", "files", "added", "other"]
    text: str = ""


@dataclass(frozen=True, slots=True)
class ShellWord:
    """One word of a command.

    Attributes:
        text: The word without its quotes. Unknown text is `UNKNOWN`; unquoted wildcards stay as they are written.
        loose: The same with `UNKNOWN` for wildcards too, which stand for the names of files.
        is_quoted: Whether a part of it is quoted, so that it is not a reserved word or an alias.
        sources: Where its unknown texts come from, in order.
        is_harmless: Whether an unknown text in it may be shown, because it is no text of the environment.
        is_tree: Whether it stands for any files in the folder that it names.
        is_split: Whether blanks and quotes in the names of these files make other words of them.
    """

    text: str
    loose: str
    is_quoted: bool = False
    sources: tuple["TextSource", ...] = ()
    is_harmless: bool = False
    is_tree: bool = False
    is_split: bool = False

    @property
    def is_stream(self) -> bool:
        """Return whether the word is only a stream that another command writes or reads."""
        return self.text == UNKNOWN and [source.kind for source in self.sources] == ["stream"]

    @property
    def is_known(self) -> bool:
        """Return whether the program gets exactly this text."""
        return UNKNOWN not in self.loose

    @property
    def is_one(self) -> bool:
        """Return whether the program gets exactly this text as one word, and not the names of several files."""
        return self.is_known and not (self.is_tree or self.is_split)

    @property
    def display(self) -> str:
        """Return the word for people. Unknown text is an ellipsis."""
        return self.text.replace(UNKNOWN, "…")


UNKNOWN_WORD = ShellWord(UNKNOWN, UNKNOWN)
"""A word of which nothing is known."""


def literal(text: str) -> ShellWord:
    """Return a word that a shell does not change."""
    return ShellWord(text, text)


def read_word(node: Node, source: bytes) -> ShellWord:
    """Return the word of a node of the bash grammar."""
    raw = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    text, loose, is_quoted = _read(node, source)
    if _has_braces(raw):
        # a list in braces is several words
        text = loose = UNKNOWN
    if raw.startswith("~") and not raw.startswith("~/") and raw != "~":
        # the folder before, one of the stack, or the home of another user
        text = loose = UNKNOWN
    return ShellWord(text, loose, is_quoted, tuple(_find_sources(node, source)) if UNKNOWN in text else ())


def _find_sources(node: Node, source: bytes) -> Iterator[TextSource]:
    """Yield the origin of each unknown text of a word."""
    text = _cut_text(source, node.start_byte, node.end_byte)
    match node.type:
        case "simple_expansion":
            yield TextSource("variable", text[1:])
        case "expansion":
            # an operator may put another text in its place, or only a part
            match = re.fullmatch(r"\$\{(#?)(\w+|[@*#?!$-])(.*)\}", text, re.DOTALL)
            if match is None or re.match(r":?[-+?=]", match[3]):
                yield TextSource("other")
            elif match[1]:
                yield TextSource("number")
            else:
                yield TextSource("variable", match[2]) if not match[3] else TextSource("part", match[2])
        case "command_substitution":
            inner = text[2:-1] if text.startswith("$(") else text[1:-1]
            yield TextSource("output", inner.strip())
        case "process_substitution":
            yield TextSource("stream")
        case "arithmetic_expansion":
            yield TextSource("number")
        case "ansi_c_string" | "brace_expression":
            yield TextSource("other")
        case _ if _has_braces(text):
            yield TextSource("other", text)
        case _:
            for child in node.named_children:
                yield from _find_sources(child, source)


def _has_braces(raw: str) -> bool:
    """Return whether a word may contain a list such as `{a,b}` or `{1..3}`. Quoting is judged roughly."""
    unquoted = re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", "", raw, flags=re.DOTALL)
    unquoted = re.sub(r"\$\{[^{}]*\}", "", unquoted)
    return "{" in unquoted and ("," in raw or ".." in raw)


def _read(node: Node, source: bytes) -> tuple[str, str, bool]:
    match node.type:
        case "raw_string":
            text = _cut_text(source, node.start_byte + 1, node.end_byte - 1)
            return text, text, True
        case "ansi_c_string":
            text = decode_ansi(_cut_text(source, node.start_byte + 2, node.end_byte - 1))
            return text, text, True
        case "string" | "translated_string":
            start = source.index(b'"', node.start_byte) + 1
            text = _join(node, source, (start, node.end_byte - 1), _unescape_quoted)
            return text, text, True
        case "concatenation":
            return _concatenate(node, source)
        case "word" | "number" | "variable_name" | "command_name" | "file_descriptor":
            if node.type == "command_name" and node.named_child_count:
                inner = node.named_children
                if len(inner) == 1 and (inner[0].start_byte, inner[0].end_byte) == (node.start_byte, node.end_byte):
                    return _read(inner[0], source)
                return UNKNOWN, UNKNOWN, False
            if node.named_child_count:
                return _concatenate(node, source)
            return _read_plain(_cut_text(source, node.start_byte, node.end_byte))
        case _:
            return UNKNOWN, UNKNOWN, False


def _concatenate(node: Node, source: bytes) -> tuple[str, str, bool]:
    texts, is_quoted, place = list[tuple[str, str]](), False, node.start_byte
    for child in node.children:
        if child.start_byte > place:
            texts.append(_read_plain(_cut_text(source, place, child.start_byte))[:2])
        if child.is_named:
            text, loose, quoted = _read(child, source)
        else:
            text, loose, quoted = _read_plain(_cut_text(source, child.start_byte, child.end_byte))
        texts.append((text, loose))
        is_quoted = is_quoted or quoted
        place = child.end_byte
    if place < node.end_byte:
        texts.append(_read_plain(_cut_text(source, place, node.end_byte))[:2])
    return "".join(text for text, _ in texts), "".join(loose for _, loose in texts), is_quoted


def _read_plain(raw: str) -> tuple[str, str, bool]:
    """Return an unquoted piece of a word: a backslash quotes the next character."""
    pieces = re.findall(r"\\.|[^\\]+|\\", raw, flags=re.DOTALL)
    text = "".join(
        "" if piece == "\\\n" else piece[1:] if piece[0] == "\\" and piece[1:] else piece for piece in pieces
    )
    loose = "".join(
        ("" if piece == "\\\n" else piece[1:]) if piece[0] == "\\" else UNQUOTED_GLOB.sub(UNKNOWN, piece)
        for piece in pieces
    )
    if "[" in raw:
        # a set of characters ends somewhere later, so the rest is unknown
        loose = loose.split(UNKNOWN, 1)[0] + UNKNOWN if UNKNOWN in loose else loose
    return text, loose, "\\" in raw


def _join(node: Node, source: bytes, span: tuple[int, int], unescape: Callable[[str], str]) -> str:
    """Return the text between two bytes, in which each expansion is unknown."""
    pieces, (place, end) = list[str](), span
    for child in node.named_children:
        if child.type not in EXPANSIONS:
            if child.type not in ("string_content", "heredoc_content"):
                return UNKNOWN
            continue
        pieces += [unescape(_cut_text(source, place, child.start_byte)), UNKNOWN]
        place = child.end_byte
    return "".join([*pieces, unescape(_cut_text(source, place, end))])


def _unescape_quoted(raw: str) -> str:
    return re.sub(r"\\([$`\"\\\n])", lambda match: "" if match[1] == "\n" else match[1], raw)


def decode_ansi(raw: str) -> str:
    """Return the text of a string in the form `$'…'`, whose escapes are those of C."""

    def decode(match: re.Match[str]) -> str:
        hexadecimal, octal, short, long, control, other = match.groups()
        if control is not None:
            return UNKNOWN
        if other is not None:
            # an escape that is not in the list, such as `\\x{…}`, depends on the version of the shell
            return ANSI_ESCAPES.get(other, UNKNOWN)
        number = int(octal, 8) if octal else int(hexadecimal or short or long, 16)
        # a NUL ends the string, and single bytes are no characters
        limit = 0x110000 if short or long else 0x80
        return chr(number) if 0 < number < limit and not 0xD800 <= number < 0xE000 else UNKNOWN

    return ANSI_ESCAPE.sub(decode, raw)


def _cut_text(source: bytes, start: int, end: int) -> str:
    return source[start:end].decode("utf-8", "replace")
