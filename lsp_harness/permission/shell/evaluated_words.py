"""The builtins of bash that evaluate their arguments: names with subscripts, and arithmetic.

A subscript such as `a[$(x)]` runs its command even if it is quoted, when a builtin takes it for the name of a variable.
So a text that nobody sees must not stand where such a name may stand.
"""

import re
from collections.abc import Sequence

from lsp_harness.syntax.shell.shell_script import INTEGER_VARIABLES
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord

DECLARATIONS = frozenset({"declare", "typeset", "local", "readonly", "export"})
NAMING_BUILTINS = DECLARATIONS | {"read", "unset", "getopts", "mapfile", "readarray"}
"""Builtins whose arguments are names of variables."""
VALUE_OPTION = re.compile(r"-[a-zA-Z]*[dnNpti]$")
"""Matches an option of `read` whose value is the next word and no name."""
OPERATOR = re.compile(r"-[a-zA-Z]{1,2}|={1,2}|!=|<|>")
"""Matches an operator of `test`."""
LET = re.compile(r"[A-Za-z_]\w*(?:[-+*]?=\d+)")
"""Matches an argument of `let` that evaluates no text of a variable but a number that it sets itself."""
NUMBER_SOURCES = frozenset("#?$!")
COUNT = re.compile(r"(?:[^;&|\n]+\| *)*(?:wc -[clmw](?: *< *[\w./\"'$-]+)?|(?<=[| ])grep -c [\w'\"]+)")
"""Matches a command whose output is one number."""


def evaluation_reason(name: str, variants: Sequence[Sequence[ShellWord]]) -> str:
    """Return why a builtin may run a command in its arguments; empty if it does not.

    Args:
        name: The name of the builtin.
        variants: The ways in which the command may look, the program first.
    """
    for words in variants:
        if name in NAMING_BUILTINS and (reason := _name_reason(name, words[1:])):
            return reason
        if name in ("test", "[") and (reason := _test_reason(words[1:])):
            return reason
        if name == "let" and not all(LET.fullmatch(word.text) for word in words[1:]):
            return "let evaluates the texts of variables"
        if name in ("wait", "printf") and _has_option(words[1:]) and _may_be_subscript(words[1:]):
            return "a subscript may run a command"
    return ""


def _name_reason(name: str, words: Sequence[ShellWord]) -> str:
    if name in DECLARATIONS and any(re.match(r"[-+][a-zA-Z]*i", word.text) for word in words):
        return "a declaration evaluates texts as arithmetic"
    names, position = list[ShellWord](), 0
    while position < len(words):
        text = words[position].text
        if name == "read" and VALUE_OPTION.match(text):
            position += 1
        elif name != "read" or not text.startswith("-"):
            names.append(words[position])
        position += 1
    return "a subscript may run a command" if _may_be_subscript(names) else ""


def _may_be_subscript(words: Sequence[ShellWord]) -> bool:
    """Return whether a name has a subscript, or is not known."""
    # a wildcard stands for the names of files
    names = [re.split(r"\+?=", word.loose, maxsplit=1)[0] for word in words]
    return any("[" in name or UNKNOWN in name for name in names)


def _has_option(words: Sequence[ShellWord]) -> bool:
    """Return whether the first argument is an option that names a variable, or may become one."""
    return bool(words) and words[0].text.startswith(("-v", "-p", "-n", UNKNOWN)) and len(words) > 1


def _test_reason(words: Sequence[ShellWord]) -> str:
    """Return why `test` may get the operator `-v`, which evaluates the subscript of a name."""
    if words and words[-1].text == "]":
        words = words[:-1]
    while words and words[0].text == "!":
        words = words[1:]
    if any(word.text in ("-v", "-R") for word in words):
        return "a subscript may run a command"
    for place, word in enumerate(words):
        if word.is_known or _is_number(word):
            continue
        if not word.is_quoted:
            return "a text that nobody sees may be several words, and an operator of test"
        sides = [*words[max(place - 1, 0) : place], *words[place + 1 : place + 2]]
        if len(words) > 1 and not any(OPERATOR.fullmatch(side.text) for side in sides):
            return "a text that nobody sees may be an operator of test"
    return ""


def _is_number(word: ShellWord) -> bool:
    """Return whether a text that only the running shell knows is a number."""
    return bool(word.sources) and all(
        source.kind == "number"
        or (source.kind == "variable" and source.text in NUMBER_SOURCES)
        or (source.kind == "output" and COUNT.fullmatch(source.text.strip()) is not None)
        for source in word.sources
    )


def is_evaluated(name: str) -> bool:
    """Return whether bash evaluates each text that a variable gets."""
    return name in INTEGER_VARIABLES
