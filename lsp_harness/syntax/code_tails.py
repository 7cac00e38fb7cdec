"""Guesses how an incomplete text could continue: closing brackets, operands and bodies that complete it.

The guesses come from the text alone. They are cheap and often wrong, so that the caller must check them with the
parser.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from lsp_harness.languages.language_spec import LanguageSpec

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
        for operand in _operands(language, text, bool(state.quote or state.in_comment)):
            tails += [f"{lead}{operand}{inner} {{"] * reopens
            tails += (lead + tail for tail in _endings(language, text, operand, inner, rest))
        if state.in_comment and language.block == "indent":
            tails += (f"{lead}pass", f"{lead}    pass")
    yielded = {""}
    for tail in tails:
        if has_body:
            tail = re.sub(r"(?:(?<! ) |[^\S ]|:) *pass$", lambda match: ":" * (match[0][0] == ":"), tail)
        if tail not in yielded and len(yielded) <= MAX_TAILS:
            yielded.add(tail)
            yield tail


def _operands(language: LanguageSpec, text: str, is_inert: bool) -> list[str]:
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


def _endings(language: LanguageSpec, text: str, operand: str, inner: str, rest: list[str]) -> list[str]:
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
