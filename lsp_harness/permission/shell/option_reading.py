"""The options and operands of a command, read as its program reads them: by a list of the options that are allowed.

An option that is not in the list, a shortened long option and an option that a wildcard may become are problems. So a
command whose arguments can be read has only the effects of the options in the list.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord

NO_VALUE, TEXT, FILE, OPTIONAL = "", "=", "@", "?"
"""The signs for the value of an option: none, a text, a file that is read, or a text in the same word."""
COMMON_OPTIONS = "--help --version"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a program that are allowed.

    Attributes:
        short: Letter → what follows.
        long: Whole name → what follows.
        words: Options of several letters with one hyphen, which cannot be put together.
        takes_numbers: Whether `-5` is an option.
    """

    short: dict[str, str] = field(default_factory=dict[str, str])
    long: dict[str, str] = field(default_factory=dict[str, str])
    words: dict[str, str] = field(default_factory=dict[str, str])
    takes_numbers: bool = False


@lru_cache(maxsize=512)
def parse_options(text: str) -> Options:
    """Return the options of a text such as `-abc -n= -f@ -U? --long --file@ -# ~name=`.

    Letters after one hyphen are options without a value, or one option with the sign of what follows: `=` a text, `@` a
    file, `?` an optional text in the same word. `-#` are numbers. `~name` is an option of several letters after one
    hyphen.

    Raises:
        ValueError: A sign stands after several letters.
    """
    options = Options(takes_numbers="-#" in text.split())
    for item in f"{text} {COMMON_OPTIONS}".split():
        if item == "-#":
            continue
        sign = item[-1] if item[-1] in "=@?" else NO_VALUE
        name = item.removesuffix(sign) if sign else item
        if name.startswith("--"):
            options.long[name] = sign
        elif name.startswith("~"):
            options.words["-" + name[1:]] = sign
        elif sign and len(name) != 2:
            raise ValueError(f"{item} has several letters before {sign}; give each option its own entry")
        else:
            options.short.update(dict.fromkeys(name[1:], sign))
    return options


@dataclass(slots=True)
class Arguments:
    """The arguments of a command.

    Attributes:
        operands: The words that are no options.
        options: Each option with its value, in order.
        files: The files that values of options name.
        problem: Why they cannot be read; empty if they can.
    """

    operands: list[ShellWord] = field(default_factory=list[ShellWord])
    options: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    files: list[ShellWord] = field(default_factory=list[ShellWord])
    problem: str = ""

    def has(self, *names: str) -> bool:
        """Return whether one of some options is there."""
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> list[str]:
        """Return the values of some options."""
        return [value for name, value in self.options if name in names]


def read_arguments(
    options: Options,
    words: Sequence[ShellWord],
    *,
    permutes: bool = True,
    wildcards_are_safe: bool = False,
    shows_texts: bool = False,
    has_clusters: bool = True,
) -> Arguments:
    """Return the options and operands of a command.

    Args:
        options: The options that are allowed.
        words: The words after the program.
        permutes: Whether options may stand after operands.
        wildcards_are_safe: Whether a file name that is taken for an option does no harm.
        shows_texts: Whether operands that are not known may be shown, and do no harm as options.
        has_clusters: Whether several options, or an option and its value, can stand in one word after one hyphen.
    """
    found, position = Arguments(), 0
    while position < len(words):
        word = words[position]
        position += 1
        if UNKNOWN in word.text and not _is_operand(word, shows_texts=shows_texts):
            found.problem = "an argument is not known"
            return found
        if word.text == "--" and word.is_known:
            found.operands += words[position:]
            if any(
                UNKNOWN in item.text and not _is_operand(item, shows_texts=shows_texts) for item in words[position:]
            ):
                found.problem = "an argument is not known"
            return found
        if word.is_stream:
            found.operands.append(word)
            continue
        if not (word.is_known or wildcards_are_safe) and may_become_option(word):
            found.problem = f"the wildcard {word.text} may become an option"
            return found
        if not word.text.startswith("-") or word.text == "-":
            found.operands.append(word)
            if not permutes:
                rest = words[position:]
                found.operands += rest
                if any(UNKNOWN in item.text and not _is_operand(item, shows_texts=shows_texts) for item in rest):
                    found.problem = "an argument is not known"
                return found
            continue
        if not has_clusters and re.match(r"-[^-]..*", word.text) and word.text not in options.words:
            found.problem = f"the options {word.text} stand in one word"
            return found
        name, sign, value = _split_option(options, word.text, found)
        if found.problem:
            return found
        if not word.is_known and not (sign == TEXT and value and word.loose.startswith(word.text[: -len(value)])):
            # a wildcard in the value of an option is a text, and elsewhere another option
            found.problem = f"the option {word.text} has a wildcard"
            return found
        if sign in (TEXT, FILE) and value is None:
            if position >= len(words) or UNKNOWN in words[position].text or not words[position].is_known:
                found.problem = f"the value of {name} is not known"
                return found
            value = words[position].text
            position += 1
        found.options.append((name, value or ""))
        if sign == FILE:
            found.files.append(ShellWord(value or "", value or ""))
    return found


def _is_operand(word: ShellWord, *, shows_texts: bool) -> bool:
    """Return whether a word that is not known does no harm as an operand."""
    return word.is_stream or (shows_texts and word.is_harmless)


def may_become_option(word: ShellWord) -> bool:
    """Return whether the first character of a word may become a hyphen."""
    return word.loose.startswith((UNKNOWN, "-"))


def _split_option(options: Options, text: str, found: Arguments) -> tuple[str, str, str | None]:
    """Return the last option of a word, what follows it, and its value in the same word. Report what is not allowed."""
    if text.startswith("--"):
        name, has_value, value = text.partition("=")
        sign = options.long.get(name)
        if sign is None:
            found.problem = f"the option {name} is not one of those that only read"
            return name, NO_VALUE, None
        if has_value and sign == NO_VALUE:
            found.problem = f"the option {name} has no value"
        return name, sign, value if has_value else None
    whole, has_value, value = text.partition("=")
    if whole in options.words:
        sign = options.words[whole]
        if has_value and sign == NO_VALUE:
            found.problem = f"the option {whole} has no value"
        return whole, sign, value if has_value else None
    if options.takes_numbers and re.fullmatch(r"-\d+", text):
        return text, NO_VALUE, None
    for place, letter in enumerate(text[1:], 1):
        sign = options.short.get(letter)
        if sign is None:
            if options.takes_numbers and letter.isdigit():
                continue
            found.problem = f"the option -{letter} is not one of those that only read"
            return text, NO_VALUE, None
        if sign != NO_VALUE:
            rest = text[place + 1 :]
            return f"-{letter}", sign, rest or None
        if place < len(text) - 1:
            found.options.append((f"-{letter}", ""))
    return f"-{text[-1]}", NO_VALUE, None


def matches_option(pattern: str, text: str) -> bool:
    """Return whether a word is one of the options of a pattern, also if a long option is shortened.

    Args:
        pattern: A regular expression for the beginning of words. Long options in it stand as they are written.
        text: A word of a command.
    """
    if re.match(pattern, text):
        return True
    name = text.partition("=")[0]
    return len(name) > 2 and name.startswith("--") and any(option.startswith(name) for option in _long_options(pattern))


@lru_cache(maxsize=512)
def _long_options(pattern: str) -> tuple[str, ...]:
    """Return the long options in a pattern, with those of alternatives in parentheses."""
    found = re.findall(r"--[a-z][a-z-]*", pattern)
    for start, group in re.findall(r"--([a-z-]*)\(([a-z|-]+)\)", pattern):
        found += [f"--{start}{end}" for end in group.split("|")]
    return tuple(found)
