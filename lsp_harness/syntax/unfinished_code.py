"""A check whether inserting a text adds a syntax error.

It gates completions, which may stop in the middle of a statement.

A text that only lacks something at its end is not wrong: a person might have typed just `for x in range(` so far. So
the parser is asked about possible continuations, and the insertion is rejected only if the error remains with each of
them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from tree_sitter import Node

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.parse_budget import BUDGET, Allowance
from lsp_harness.syntax.syntax_errors import find_new_tree_faults, find_python_fault
from lsp_harness.syntax.tree import SyntaxTree, parse_within
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode

MAX_TAILS = 10
"""How many tails are generated. Each costs the caller a parse, and a text that is really wrong costs all of them."""
CLOSING_BRACKETS = {"(": ")", "[": "]", "{": "}"}
STATEMENT_WORDS = frozenset({"if", "unless", "while", "until", "case"})
"""Words that open a block only at the start of a statement. Elsewhere they are modifiers of what precedes them: `x if
y`."""
STATEMENT_START = re.compile(r"(?:=|;|\bthen|\belse|\bdo)\Z")
"""Text after which a statement starts on the same line."""
LOOKBACK_CHARS = 200
"""How far back on its line a word's context is searched: a line may be as long as a file."""
BLOCK_HEADER = re.compile(
    r"\s*(?:async\s+)?(if|elif|else|while|for|with|def|class|try|except|finally|match|case)\b(?!\s*=)"
)
INCOMPLETE_EXPRESSION = re.compile(
    r"(?:[-+*/%=<>&|^~!?:,.(\[{@]|(?<!\w)(?:return|in|of|and|or|not|is|if|elif|while|import|from|as|await|new|else|with"
    r"|yield|raise|throw|del|assert|lambda|case|match|switch|typeof|mut|let|const|var|for|def|class|extends|defer|go))"
    r"\s*$"
)
"""Operators and words at the end of a text that need an operand."""
OPEN_GENERIC = re.compile(r"\w<[^<>()]*$")
OPEN_ELEMENT = re.compile(r"(?:^|[\s(])<[A-Za-z][^<>()]*$")
TAG = re.compile(r"<(/?)([A-Za-z][\w.]*)?(?:\s[^<>]*?)?(/?)>")


@dataclass(slots=True)
class _OpenConstructs:
    """The brackets, blocks and strings that are open at the end of a text."""

    closers: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """The text that closes each open bracket or block, and the offset at which it was opened; the innermost last."""
    quote: str = ""
    """The text that ends the open string or block comment."""
    in_comment: bool = False
    surplus_closers: int = 0
    """How many brackets the new text closes that were opened before it."""
    has_mismatch: bool = False
    """Whether the new text closes a bracket with the closer of another kind."""


def generate_tails(
    text: str,
    language: LanguageSpec,
    *,
    new_start: int = 0,
    outer_brackets: int | None = None,
    line_continues: bool = False,
    has_body: bool = False,
) -> Iterator[str]:
    """Yield texts that could be appended to make a text complete, the most likely first.

    Args:
        text: The text up to the end of what was inserted.
        language: The language of the text.
        new_start: The offset in `text` at which the inserted part starts, in characters.
        outer_brackets: How many of the brackets that were open before `new_start` are closed. None means that the text
            behind the insertion closes them, so that the inserted text must not close them.
        line_continues: Whether more text follows on the line. The tails then only close what is open.
        has_body: Whether the lines below are indented like a body, so that the tails contain none.
    """
    state = _scan_open_constructs(text, language, new_start)
    count = sum(offset >= new_start for _, offset in state.closers)
    line = text[text.rfind("\n") + 1 :]
    # In `} else if (x` the brace closes a block, and the block of the new header is still to be opened.
    reopens = (
        outer_brackets is None
        and state.surplus_closers == 1
        and bool(re.match(r"\s*\}\s*[a-z]", line))
        and "{" not in line
    )
    count += (reopens - state.surplus_closers) if outer_brackets is None else outer_brackets
    if count < 0 or (state.has_mismatch and outer_brackets is None):
        return
    closers = [closer for closer, _ in reversed(state.closers)][:count]
    split = next((i for i, closer in enumerate(closers) if closer not in (")", "]")), len(closers))
    inner, rest = "".join(closers[:split]), closers[split:]
    indent = line[: len(line) - len(line.lstrip())]
    lead = "\n" + indent if state.in_comment else state.quote
    tails: list[str] = []
    if state.quote or line_continues:
        # `}` closes an expression inside of a string that is still open.
        tails += [f"{brace}{lead}{inner}{_join_closers(rest)}" for brace in ("", "}")]
    if not line_continues:
        for operand in _list_operands(language, text, bool(state.quote or state.in_comment)):
            tails += [f"{lead}{operand}{inner} {{"] * reopens
            tails += (lead + tail for tail in _list_endings(language, text, operand, inner, rest))
        if state.in_comment and language.block == "indent":
            tails += (f"{lead}pass", f"{lead}    pass")
    yielded = {""}
    for tail in tails:
        if has_body:
            tail = re.sub(r"(?:(?<! ) |[^\S ]|:) *pass$", lambda match: ":" * (match[0][0] == ":"), tail)
        if tail not in yielded and len(yielded) <= MAX_TAILS:
            yielded.add(tail)
            yield tail


def _list_operands(language: LanguageSpec, text: str, is_inert: bool) -> list[str]:
    """Return what may follow directly, before any closing bracket.

    `is_inert` says that the text ends in a string or comment.
    """
    operand = language.tokens.operand
    if is_inert:
        return [""]
    if language.block == "indent" and re.search(r"\bfor\s+(?:(?!\bin\b)[\w\s,()])+$", text[-LOOKBACK_CHARS:]):
        return [" in x"]
    if OPEN_GENERIC.search(text) and language.block == "braces":
        return [" x>", " x> x", ">"]
    if OPEN_ELEMENT.search(text) and language.tokens.has_jsx:
        return [" />", ""]
    if re.search(r"\b(?:from|import)\s*$", text) and language.block == "braces":
        return [' "x"', f" {operand}", ""]
    if language.block == "indent" and text.rstrip().endswith(":") and BLOCK_HEADER.match(text[text.rfind("\n") + 1 :]):
        return [""]
    if INCOMPLETE_EXPRESSION.search(text):
        return [f" {operand}", "", f" {operand}: {operand}", f" {operand}()"]
    return ["", f" {operand}"]


def _list_endings(language: LanguageSpec, text: str, operand: str, inner: str, rest: list[str]) -> list[str]:
    """Return the texts that may complete a statement from its operand on.

    Args:
        language: The language of the text.
        text: The text that is to be completed.
        operand: The operand that completes the last expression, or an empty string.
        inner: The closing brackets of the expression.
        rest: The closers of everything around the expression, the innermost first.
    """
    line = text[text.rfind("\n") + 1 :]
    if language.block == "indent":
        return _indented_endings(text, line, operand + inner, _join_closers(rest))
    if language.block == "braces":
        return _braced_endings(language, text, operand, inner, rest)
    expression, blocks = operand + inner, _join_closers(rest)
    if language.block == "end":
        condition_end, *loop_ends = language.tokens.header_ends
        is_loop = re.match(r"\s*(?:for|while|until)\b", line) and not re.search(r"\bdo\b", line)
        ends = [*(loop_ends if is_loop else [condition_end]), "()", " = x", *["()\nend"] * ("function" in line)]
        return [expression + blocks, *(expression + end + blocks for end in ends)]
    return [expression + blocks, f"{expression}: {language.tokens.operand}{blocks}"]


def _indented_endings(text: str, line: str, expression: str, blocks: str) -> list[str]:
    header = BLOCK_HEADER.match(line)
    indent = line[: len(line) - len(line.lstrip())]
    if not header:
        ends = [f"\n{try_indent}finally: pass" for try_indent in re.findall(r"(?m)^([ \t]*)try\s*:", text)[-1:]]
        ends += [f"\n{indent}def x(): pass"] * line.lstrip().startswith("@")
        ends += [" import x"] * line.lstrip().startswith("from")
        # The text may be an item of an open list, a part of an expression, or a whole statement.
        ends += [f"{blocks},", f"=x{blocks},", f"{blocks} else x", f" in x{blocks}"]
        return [expression + blocks, *(expression + end for end in ends)]
    if line.rstrip().endswith(":") and not expression:
        special = {"try": [f" pass\n{indent}finally: pass"], "match": [f"\n{indent}    case x: pass"]}
        return [*special.get(header[1], []), " pass", f"\n{indent}    pass", blocks]
    return [expression + end for end in (": pass", "(): pass" if header[1] == "def" else " in x: pass", blocks)]


def _braced_endings(language: LanguageSpec, text: str, operand: str, inner: str, rest: list[str]) -> list[str]:
    line = text[text.rfind("\n") + 1 :]
    expression, blocks = operand + inner, _join_closers(rest)
    ends = [blocks, f";{blocks}", f"{blocks};", f" {{}}{blocks}", f": x{blocks}", f"{blocks},", f" => x{blocks}"]
    if word := re.search(r"\b(try|do)\s*\{[^{}]*$", text) if rest else None:
        ends.insert(0, "}" + {"try": " finally {}", "do": " while (x);"}[word[1]] + _join_closers(rest[1:]))
    tails = [expression + end for end in ends]
    if re.match(r"\s*for\b", line) and inner.endswith(")"):
        tails[:0] = [f"{operand}{inner[:-1]}{end}) {{}}{blocks}" for end in ("; x", "; x; x")]
    if re.match(r"\s*for\b", line) and language.tokens.has_bare_for_header:
        tails.insert(0, f"{expression}; x {{}}{blocks}")
    if tags := _closing_tags(text) if language.tokens.has_jsx else "":
        tails[:0] = [expression + tags + blocks, expression + _join_closers(rest[:1]) + tags + _join_closers(rest[1:])]
    return tails


def _closing_tags(text: str) -> str:
    """Return the tags that close the open elements of JSX."""
    tags: list[str] = []
    for end, name, self_closing in TAG.findall(text):
        if end and tags:
            tags.pop()
        elif not end and not self_closing:
            tags.append(f"</{name}>")
    return "".join(reversed(tags))


def _join_closers(closers: list[str]) -> str:
    return "".join(f"\n{closer}" if closer[0].isalpha() else closer for closer in closers)


def _scan_open_constructs(text: str, language: LanguageSpec, new_start: int) -> _OpenConstructs:
    state = _OpenConstructs()
    end_words = language.tokens.block_closers
    loop_line = None
    line_start, previous = -1, 0
    for match in _token_pattern(language).finditer(text):
        token, kind, offset = match.group(), match.lastgroup, match.start()
        if kind == "open":
            state.closers.append((CLOSING_BRACKETS[token], offset))
        elif kind == "close":
            closer, opened_at = state.closers[-1] if state.closers else (token, -1)
            state.surplus_closers += opened_at < new_start <= offset
            state.has_mismatch |= closer != token and offset >= new_start
            if state.closers and closer == token:
                state.closers.pop()
        elif kind == "word":
            line_start, previous = max(line_start, text.rfind("\n", previous, offset)), offset
            before = text[max(line_start + 1, offset - LOOKBACK_CHARS) : offset].strip()
            starts_statement = not before or STATEMENT_START.search(before[-6:]) is not None
            if token in end_words and (
                starts_statement or token not in STATEMENT_WORDS or language.tokens.opens_blocks_in_expressions
            ):
                # `while x do` opens one block, not two.
                if token == "do" and loop_line == line_start and language.tokens.has_optional_loop_do:
                    continue
                loop_line = line_start if token in ("while", "until") else loop_line
                state.closers.append((end_words[token], offset))
            elif state.closers and state.closers[-1][0].split()[0] == token:
                state.closers.pop()
        elif match.end() == len(text):
            quote_sizes = {"triple": (3, 6), "quote": (1, 2)}.get(kind or "")
            if kind == "comment":
                state.in_comment = True
            elif kind == "block" and not token.endswith("*/"):
                state.quote = "*/"
            elif quote_sizes:
                quote, min_size = token[: quote_sizes[0]], quote_sizes[1]
                if len(token) < min_size or not token.endswith(quote) or _has_escaped_end(token):
                    state.quote = quote
    return state


def _has_escaped_end(token: str) -> bool:
    body = token[:-1]
    return (len(body) - len(body.rstrip("\\"))) % 2 == 1


@cache
def _token_pattern(language: LanguageSpec) -> re.Pattern[str]:
    has_char_literals = language.tokens.has_character_literals
    parts = [
        r"(?P<triple>(?P<t>\"\"\"|''')(?:\\.|[^\\])*?(?:(?P=t)|\Z))" if language.tokens.has_triple_quotes else "",
        r"(?P<block>/\*.*?(?:\*/|\Z))" if language.tokens.has_block_comments else "",
        rf"(?P<comment>(?<!\S){re.escape(language.comment)}[^\n]*)" if language.comment else "",
        # In these languages ' encloses characters or marks lifetimes, so that an unclosed one does not open a string.
        r"(?P<char>'(?:\\[^\n]{1,10}?|[^'\\\n])')" if has_char_literals else "",
        r"(?P<quote>\"(?:\\.|[^\"\\\n])*\"?|`(?:\\.|[^`\\])*`?"
        + (")" if has_char_literals else r"|'(?:\\.|[^'\\\n])*'?)"),
        r"(?P<open>[(\[{])|(?P<close>[)\]}])",
        r"(?P<word>(?<![\w.:@$])[a-z]+\b(?![:?]))" if language.tokens.block_closers else "",
    ]
    return re.compile("|".join(part for part in parts if part), re.DOTALL)


LOOKBACK_BYTES = 2_000
"""How far before the insertion an unclosed bracket is searched for, if the text had errors already."""
MAX_COMPILED_BYTES = 50_000
"""Longer statements are not compiled: the compiler takes a second for a megabyte and cannot be interrupted."""
MAX_OUTER_BRACKETS = 3
"""How many brackets that were open before the insertion may be closed. The number is raised by one at a time."""


def adds_error(
    before: SyntaxTree, after: SyntaxTree, span: tuple[int, int], allowance: Allowance | None = None
) -> bool:
    """Return whether an insertion adds a syntax error that no text typed behind it could remove.

    Args:
        before: The tree before the insertion.
        after: The tree after it. The insertion may also replace some text.
        span: Start and end of the inserted text in `after`, in bytes.
        allowance: The processor time for all parses, by default that of one text.

    Raises:
        ParseBudgetExceeded: The check takes longer than the allowance.
    """
    allowance = allowance or Allowance(BUDGET.text_s)
    start, end = span
    edit = Edit(start, len(before.data) - (len(after.data) - end), after.data[start:end])
    if _is_sound(before, after, edit):
        return False
    had_errors = before.root.has_error
    first = max(0, start - LOOKBACK_BYTES) if had_errors else start
    line_start = after.data.rfind(b"\n", 0, first) + 1
    text = decode(after.data[line_start:end])
    new_start = len(decode(after.data[line_start:start]))
    line_end = after.data.find(b"\n", end)
    # A closing bracket may follow anything that is typed next.
    below = after.data[line_end:].lstrip(b"\r\n") if line_end >= 0 else b""
    last_line = after.data[after.data.rfind(b"\n", 0, end) + 1 : end]
    has_body = len(below) - len(below.lstrip()) > len(last_line) - len(last_line.lstrip())
    line_continues = bool(after.data[end : line_end if line_end >= 0 else None].strip(b" \t\r)]},;:"))
    offset, excerpt = _cut_excerpt(before, edit, allowance)
    for outer_brackets in range(MAX_OUTER_BRACKETS + 1) if had_errors else (None,):
        tails = generate_tails(
            text,
            after.language,
            new_start=new_start,
            outer_brackets=outer_brackets,
            line_continues=line_continues,
            has_body=has_body,
        )
        for tail in tails:
            allowance.check()
            tail_bytes = encode(tail)
            if excerpt:
                part = excerpt.apply_edit(_shift_edit(edit, tail_bytes, offset), allowance)
                if part and part.root.has_error:
                    continue
            whole = after.apply_edit(Edit(end, end, tail_bytes), allowance)
            if whole and _is_sound(before, whole, edit._replace(new=edit.new + tail_bytes)):
                return False
    return True


def _is_sound(before: SyntaxTree, after: SyntaxTree, edit: Edit) -> bool:
    if find_new_tree_faults(before, after, [edit], thorough=False):
        return False
    return not after.language.compiles_in_process or _does_compile(before, after, edit)


def _shift_edit(edit: Edit, tail: bytes, offset: int) -> Edit:
    return Edit(edit.start + offset, edit.end + offset, edit.new + tail)


def _cut_excerpt(before: SyntaxTree, edit: Edit, allowance: Allowance) -> tuple[int, SyntaxTree | None]:
    """Return the statements around an edit as a separate text, and the shift from document offsets to its offsets.

    A tail that fails in the excerpt also fails in the whole text, where the parse costs ten times as much. The excerpt
    is None if it would not be much smaller than the text, or has errors itself.
    """
    opening, start, end = _statements_around(before, edit.start, edit.end)
    if 2 * (end - start) > len(before.data):
        return 0, None
    document = before.document
    text = opening + before.data[start:end]
    part = parse_within(Document.from_text(document.uri, text, language=document.language), allowance)
    return len(opening) - start, part if part and not part.root.has_error else None


def _does_compile(before: SyntaxTree, after: SyntaxTree, edit: Edit) -> bool:
    """Return whether the Python compiler accepts the edit: it checks the indentation, which the grammar does not.

    Only the statements around the edit are compiled, those of the module or the innermost class. The edit is accepted
    if they did not compile before either, with a placeholder instead of the edit.
    """
    opening, start, end = _statements_around(after, edit.start, edit.start + len(edit.new))
    if end - start > MAX_COMPILED_BYTES or find_python_fault(opening + after.data[start:end]) is None:
        return True
    left = opening + before.data[start : edit.start]
    right = before.data[edit.end : end - len(after.data) + len(before.data)]
    return not any(find_python_fault(left + filler + right) is None for filler in (b"", b"pass", b"x"))


def _statements_around(tree: SyntaxTree, start: int, end: int) -> tuple[bytes, int, int]:
    """Return the statements of the file, or in Python of a class, that a range touches.

    Returns:
        The text that must stand before them to make them valid on their own, and their start and end in bytes.
    """
    block = _class_body(tree.root, start, end) if tree.language.block == "indent" else tree.root
    # `Point.column` is not used: in tree-sitter 0.26.0 `row` and `column` release a reference that they do not own,
    # which crashes.
    column = block.start_point[1] if block.parent else 0
    starts = [n.start_byte - column for n in block.children if not n.is_extra and n.start_point[1] == column]
    first = max((at for at in starts if at <= start), default=block.start_byte - column if column else 0)
    last = min((at for at in starts if at > end), default=block.end_byte if column else len(tree.data))
    # The body of a class compiles as the body of any other block.
    return (b"if x:\n" if column else b""), first, last


def _class_body(module: Node, start: int, end: int) -> Node:
    """Return the innermost class body around a range that is outside of functions, or else the module."""
    body, node = module, module
    while node := next((n for n in node.children if n.start_byte <= start and end <= n.end_byte), None):
        if node.type == "function_definition":
            break
        if node.type == "block" and node.parent and node.parent.type == "class_definition":
            body = node
    return body
