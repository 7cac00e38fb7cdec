"""Ways a text that stops in the middle could go on: closers, operands and bodies that would make it whole.

These are guesses from the text alone, cheap and often wrong. Whoever asks has the parser judge them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from lsp_harness.syntax.languages import Language

MOST = 10
"""How many ways are tried: each costs a parse, and what is really wrong costs them all."""
CLOSERS = {"(": ")", "[": "]", "{": "}"}
# What begins a block that a word ends, where words do that. `do` is counted, not the loop it belongs to.
WORDS: dict[str, dict[str, str]] = {
    "lua": {"function": "end", "if": "end", "do": "end", "repeat": "until x"},
    "ruby": dict.fromkeys(("def", "class", "module", "begin", "do", "if", "unless", "case", "while", "until"), "end"),
    "bash": {"if": "fi", "do": "done", "case": "esac"},
}
# Words that open a block only where a statement begins; elsewhere they follow what they are about: `x if y`.
LEADING = frozenset({"if", "unless", "while", "until", "case"})
BEGINS = re.compile(r"(?:=|;|\bthen|\belse|\bdo)\Z")
"""After these a statement begins on the same line."""
REACH = 200
"""How far back from a word that is looked for, and what a `for` is of: a line may be as long as a file."""
OPERAND = {"php": "$x", "bash": ":", "json": "0"}
HEADER = re.compile(r"\s*(?:async\s+)?(if|elif|else|while|for|with|def|class|try|except|finally|match|case)\b(?!\s*=)")
# After these something must follow.
WANTING = re.compile(
    r"(?:[-+*/%=<>&|^~!?:,.(\[{@]|(?<!\w)(?:return|in|of|and|or|not|is|if|elif|while|import|from|as|await|new|else|with"
    r"|yield|raise|throw|del|assert|lambda|case|match|switch|typeof|mut|let|const|var|for|def|class|extends|defer|go))"
    r"\s*$"
)
GENERIC = re.compile(r"\w<[^<>()]*$")
ELEMENT = re.compile(r"(?:^|[\s(])<[A-Za-z][^<>()]*$")
TAG = re.compile(r"<(/?)([A-Za-z][\w.]*)?(?:\s[^<>]*?)?(/?)>")


@dataclass(slots=True)
class _State:
    """What is open at the end of a text, and where it was opened."""

    open: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    quote: str = ""
    comment: bool = False
    surplus: int = 0
    """How many brackets the new text closes that it did not open."""
    crossed: bool = False
    """The new text closes a bracket with another's closer."""


def complete_tail(
    text: str,
    language: Language,
    *,
    since: int = 0,
    outer: int | None = None,
    within_line: bool = False,
    has_body: bool = False,
) -> Iterator[str]:
    """What could be appended to `text`, of which what is before offset `since` was there already; likeliest first.

    `outer` says how many of the brackets that were open before are to be closed. None means that what comes after
    closes them already, so that the new text cannot. With `within_line` there is more on the line, which the text had
    better fit: what is open is closed and nothing added. With `has_body` the lines below are indented as a body is.
    """
    state = _read(text, language, since)
    own = sum(at >= since for _, at in state.open)
    line = text[text.rfind("\n") + 1 :]
    # `} else if (x`: what the first bracket was taken from is still to be opened
    reopens = outer is None and state.surplus == 1 and bool(re.match(r"\s*\}\s*[a-z]", line)) and "{" not in line
    own += (reopens - state.surplus) if outer is None else outer
    if own < 0 or (state.crossed and outer is None):
        return
    closers = [closer for closer, _ in reversed(state.open)][:own]
    run = next((i for i, closer in enumerate(closers) if closer not in (")", "]")), len(closers))
    inner, rest = "".join(closers[:run]), closers[run:]
    indent = line[: len(line) - len(line.lstrip())]
    lead = "\n" + indent if state.comment else state.quote
    tails: list[str] = []
    if state.quote or within_line:
        # an expression inside of a string that is itself open
        tails += [f"{brace}{lead}{inner}{_ended(rest)}" for brace in ("", "}")]
    if not within_line:
        for pre in _operands(language, text, bool(state.quote or state.comment)):
            tails += [f"{lead}{pre}{inner} {{"] * reopens
            tails += (lead + tail for tail in _endings(language, text, line, indent, pre, inner, rest))
        if state.comment and language.block == "indent":
            tails += (f"{lead}pass", f"{lead}    pass")
    seen = {""}
    for tail in tails:
        tail = (
            re.sub(r"(?:(?<! ) |[^\S ]|:) *pass$", lambda match: ":" * (match[0][0] == ":"), tail) if has_body else tail
        )
        if tail not in seen and len(seen) <= MOST:
            seen.add(tail)
            yield tail


def _operands(language: Language, text: str, inert: bool) -> list[str]:
    """What may follow directly, inside of all brackets: nothing, or what the last word or operator wants."""
    operand = OPERAND.get(language.id, "x")
    if inert:
        return [""]
    if language.block == "indent" and re.search(r"\bfor\s+(?:(?!\bin\b)[\w\s,()])+$", text[-REACH:]):
        return [" in x"]
    if GENERIC.search(text) and language.block == "braces":
        return [" x>", " x> x", ">"]
    if ELEMENT.search(text) and language.id in ("javascript", "tsx"):
        return [" />", ""]
    if re.search(r"\b(?:from|import)\s*$", text) and language.block == "braces":
        return [' "x"', f" {operand}", ""]
    if language.block == "indent" and text.rstrip().endswith(":") and HEADER.match(text[text.rfind("\n") + 1 :]):
        return [""]
    if WANTING.search(text):
        return [f" {operand}", "", f" {operand}: {operand}", f" {operand}()"]
    return ["", f" {operand}"]


def _endings(language: Language, text: str, line: str, indent: str, pre: str, inner: str, rest: list[str]) -> list[str]:
    """What may come after an operand: brackets, the rest of a header, a body, what closes blocks."""
    if language.block == "indent":
        return _indented(text, line, indent, pre + inner, _ended(rest))
    if language.block == "braces":
        return _braced(language, text, line, pre, inner, rest)
    plain, blocks = pre + inner, _ended(rest)
    if language.block == "end":
        words = {"lua": (" then", " do\nend", ", x do\nend"), "bash": ("; then :", "; do :\ndone", " in x; do :\ndone")}
        loop = re.match(r"\s*(?:for|while|until)\b", line) and not re.search(r"\bdo\b", line)
        missing = words.get(language.id, ("", "\nend"))[1:] if loop else words.get(language.id, ("",))[:1]
        ends = [*missing, "()", " = x", *["()\nend"] * ("function" in line)]
        return [plain + blocks, *(plain + end + blocks for end in ends)]
    return [plain + blocks, f"{plain}: {OPERAND.get(language.id, 'x')}{blocks}"]


def _indented(text: str, line: str, indent: str, plain: str, blocks: str) -> list[str]:
    header = HEADER.match(line)
    if not header:
        ends = [f"\n{at}finally: pass" for at in re.findall(r"(?m)^([ \t]*)try\s*:", text)[-1:]]
        ends += [f"\n{indent}def x(): pass"] * line.lstrip().startswith("@")
        ends += [" import x"] * line.lstrip().startswith("from")
        # an item of a list that is open, one part of an expression, or all of a statement
        return [
            plain + blocks,
            *(plain + end for end in (*ends, f"{blocks},", f"=x{blocks},", f"{blocks} else x", f" in x{blocks}")),
        ]
    if line.rstrip().endswith(":") and not plain:
        more = {"try": [f" pass\n{indent}finally: pass"], "match": [f"\n{indent}    case x: pass"]}
        return [*more.get(header[1], []), " pass", f"\n{indent}    pass", blocks]
    return [plain + end for end in (": pass", "(): pass" if header[1] == "def" else " in x: pass", blocks)]


def _braced(language: Language, text: str, line: str, pre: str, inner: str, rest: list[str]) -> list[str]:
    plain, blocks = pre + inner, _ended(rest)
    ends = [blocks, f";{blocks}", f"{blocks};", f" {{}}{blocks}", f": x{blocks}", f"{blocks},", f" => x{blocks}"]
    if word := re.search(r"\b(try|do)\s*\{[^{}]*$", text) if rest else None:
        ends.insert(0, "}" + {"try": " finally {}", "do": " while (x);"}[word[1]] + _ended(rest[1:]))
    tails = [plain + end for end in ends]
    if re.match(r"\s*for\b", line) and inner.endswith(")"):
        tails[:0] = [f"{pre}{inner[:-1]}{end}) {{}}{blocks}" for end in ("; x", "; x; x")]
    if re.match(r"\s*for\b", line) and language.id == "go":
        tails.insert(0, f"{plain}; x {{}}{blocks}")
    if tags := _tags(text) if language.id in ("javascript", "tsx") else "":
        tails[:0] = [pre + inner + tags + blocks, pre + inner + _ended(rest[:1]) + tags + _ended(rest[1:])]
    return tails


def _tags(text: str) -> str:
    """What closes the elements that are open."""
    tags: list[str] = []
    for end, name, closed in TAG.findall(text):
        if end and tags:
            tags.pop()
        elif not end and not closed:
            tags.append(f"</{name}>")
    return "".join(reversed(tags))


def _ended(closers: list[str]) -> str:
    return "".join(f"\n{closer}" if closer[0].isalpha() else closer for closer in closers)


def _read(text: str, language: Language, since: int) -> _State:
    state = _State()
    words = WORDS.get(language.id, {})
    looped = None
    line, seen = -1, 0
    for match in _tokens(language).finditer(text):
        token, kind, at = match.group(), match.lastgroup, match.start()
        if kind == "open":
            state.open.append((CLOSERS[token], at))
        elif kind == "close":
            last, opened = state.open[-1] if state.open else (token, -1)
            state.surplus += opened < since <= at
            state.crossed |= last != token and at >= since
            if state.open and last == token:
                state.open.pop()
        elif kind == "word":
            line, seen = max(line, text.rfind("\n", seen, at)), at
            before = text[max(line + 1, at - REACH) : at].strip()
            begins = not before or BEGINS.search(before[-6:]) is not None
            if token in words and (begins or token not in LEADING or language.id == "lua"):
                # `while x do`: one block, not two
                if token == "do" and looped == line and language.id == "ruby":
                    continue
                looped = line if token in ("while", "until") else looped
                state.open.append((words[token], at))
            elif state.open and state.open[-1][0].split()[0] == token:
                state.open.pop()
        elif match.end() == len(text):
            closed = {"triple": (3, 6), "quote": (1, 2)}.get(kind or "")
            if kind == "comment":
                state.comment = True
            elif kind == "block" and not token.endswith("*/"):
                state.quote = "*/"
            elif closed and (len(token) < closed[1] or not token.endswith(token[: closed[0]]) or _escaped(token)):
                state.quote = token[: closed[0]]
    return state


def _escaped(token: str) -> bool:
    body = token[:-1]
    return (len(body) - len(body.rstrip("\\"))) % 2 == 1


@cache
def _tokens(language: Language) -> re.Pattern[str]:
    braces = language.block == "braces" and language.id not in ("javascript", "typescript", "tsx", "php")
    parts = [
        r"(?P<triple>(?P<t>\"\"\"|''')(?:\\.|[^\\])*?(?:(?P=t)|\Z))" if language.id == "python" else "",
        r"(?P<block>/\*.*?(?:\*/|\Z))" if language.block == "braces" or language.id == "css" else "",
        rf"(?P<comment>(?<!\S){re.escape(language.comment)}[^\n]*)" if language.comment else "",
        # Where ' is for characters (or lifetimes), one that is not closed is not a string.
        r"(?P<char>'(?:\\[^\n]{1,10}?|[^'\\\n])')" if braces else "",
        r"(?P<quote>\"(?:\\.|[^\"\\\n])*\"?|`(?:\\.|[^`\\])*`?" + (")" if braces else r"|'(?:\\.|[^'\\\n])*'?)"),
        r"(?P<open>[(\[{])|(?P<close>[)\]}])",
        r"(?P<word>(?<![\w.:@$])[a-z]+\b(?![:?]))" if language.id in WORDS else "",
    ]
    return re.compile("|".join(part for part in parts if part), re.DOTALL)
