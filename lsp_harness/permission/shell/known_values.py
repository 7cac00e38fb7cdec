"""The values that variables and substitutions of a script may have, and the builtins that evaluate their arguments.

They only serve to see that a command reads: a rule that allows is never compared with such a value.

A subscript such as `a[$(x)]` runs its command even if it is quoted, when a builtin takes it for the name of a variable.
So a text that nobody sees must not stand where such a name may stand.
"""

import itertools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lsp_harness.permission.shell.readers import find_roots
from lsp_harness.syntax.shell.shell_script import INPUT_BUILTINS, INTEGER_VARIABLES, ShellCommand, read_script
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord, TextSource, literal

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


MAX_VARIANTS = 16
MAX_DEPTH = 4
HARMLESS_NAMES = frozenset(
    {
        "HOME",
        "PATH",
        "PWD",
        "OLDPWD",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "TERM",
        "HOSTNAME",
        "TZ",
        "UID",
        "EUID",
        "PPID",
    }
    | {"RANDOM", "SECONDS", "LINENO", "BASH_VERSION", "OSTYPE", "HOSTTYPE", "COLUMNS", "LINES", "VIRTUAL_ENV", "EDITOR"}
    | {"?", "#", "$", "!", "-"}
)
"""Variables whose value is no secret, although the script does not set them."""
FILTER = re.compile(
    r"(?:grep|egrep|fgrep)(?: -[ivEFwx]+)*(?: -e)? [^ -][^ ]*"
    r"|sort(?: -[urnfVz]+)*|uniq|(?:head|tail)(?: -\d+| -n ?\d+)?"
)
"""Matches programs that print some whole lines of those which they read, and read no file."""
LISTING_GIT: Mapping[str, tuple[str, frozenset[str]]] = {
    "ls-files": ("", frozenset({"-z", "-c", "-o", "-m", "-d", "--cached", "--others", "--exclude-standard", "--"})),
    "grep": ("-l", frozenset({"-l", "-i", "-w", "-E", "-F", "-z", "-e", "--"})),
    "diff": ("--name-only", frozenset({"--name-only", "--cached", "--staged", "-z", "--"})),
}
"""Subcommand of git that lists files → the option that it needs for that, and all that it may have."""
LS_OPTION = re.compile(r"-[1aAdtrS]+")
WILDCARD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class KnownValues:
    """The values that a script gives to its variables.

    Attributes:
        values: Name → all values that the script may give to it.
    """

    values: Mapping[str, Sequence[ShellWord]] = field(default_factory=dict[str, Sequence[ShellWord]])

    @classmethod
    def of(cls, commands: Sequence[ShellCommand]) -> "KnownValues":
        """Return the values that the commands of a script give to variables."""
        found = dict[str, list[ShellWord]]()
        if any(map(_sets_unseen, commands)):
            # any variable may have any value
            return cls()
        for command in commands:
            for name, value in command.assignments:
                found.setdefault(name, []).append(value)
            if command.words and command.words[0].text in INPUT_BUILTINS:
                for word in command.words[1:]:
                    if re.fullmatch(r"[A-Za-z_]\w*", word.text):
                        found.setdefault(word.text, []).append(
                            ShellWord(UNKNOWN, UNKNOWN, sources=(TextSource("output"),))
                        )
        return cls(found)

    def list_shown(self, names: Iterable[str]) -> list[str]:
        """Return why variables that are shown by other parts of a script than the words of commands may be secrets."""
        shown = sorted(name for name in names if not self._is_harmless(TextSource("variable", name)))
        return [f"it may show the variable {name}" for name in shown[:1]]

    def variants(self, words: Sequence[ShellWord]) -> list[tuple[ShellWord, ...]]:
        """Return the ways in which the words of a command may look, with the values in place of the variables.

        What is not known stays as it is. Of very many ways, none is taken.
        """
        choices = [self._list_choices(word) for word in words]
        count = 1
        for choice in choices:
            count *= len(choice)
        if count > MAX_VARIANTS:
            return [tuple(words)]
        return [tuple(itertools.chain(*variant)) for variant in itertools.product(*choices)]

    def _list_choices(self, word: ShellWord) -> list[tuple[ShellWord, ...]]:
        """Return the words that may stand in place of a word: several if the shell makes several words of it."""
        is_other = len(word.sources) == 1 and word.text == UNKNOWN and word.sources[0].kind == "other"
        if is_other and (words := expand_braces(word.sources[0].text)):
            return [tuple(words)]
        return [(choice,) for choice in self._list_values(word)]

    def _list_values(self, word: ShellWord) -> list[ShellWord]:
        if UNKNOWN not in word.text:
            return [word]
        if len(word.sources) == 1 and word.text == UNKNOWN:
            # a shell splits the output of a command
            is_split = word.is_split or word.sources[0].kind == "output"
            if listed := _listed_words(word.sources[0], is_split=is_split):
                return listed
        if len(word.sources) == 1 and word.text.count(UNKNOWN) == 1 and word.sources[0].kind == "variable":
            name = word.sources[0].text
            values = self.values.get(name, ())
            if values and name not in os.environ and all(UNKNOWN not in value.text for value in values):
                return [self._put(word, value) for value in values]
        is_harmless = bool(word.sources) and all(map(self._is_harmless, word.sources))
        return [replace(word, is_harmless=True)] if is_harmless else [word]

    @staticmethod
    def _put(word: ShellWord, value: ShellWord) -> ShellWord:
        # a wildcard in the value of a variable that is not quoted stands for files, too
        inner = value.loose if word.is_quoted else WILDCARD.sub(UNKNOWN, value.loose)
        text, loose = word.text.replace(UNKNOWN, value.text), word.loose.replace(UNKNOWN, inner)
        if re.search(r"\s", value.text) and not word.is_quoted:
            # a shell makes several words of it
            return ShellWord(UNKNOWN, UNKNOWN)
        # so it does of the name of a file
        is_split = UNKNOWN in value.loose and not word.is_quoted
        return ShellWord(text, loose, word.is_quoted, is_split=is_split)

    def _is_harmless(self, source: TextSource, depth: int = 0) -> bool:
        """Return whether a text of a source may be shown: it comes from the script, or is no secret."""
        match source.kind:
            case "variable" | "part":
                if source.text in HARMLESS_NAMES:
                    return source.text not in self.values
                values = self.values.get(source.text, ())
                return (
                    depth < MAX_DEPTH
                    and bool(values)
                    and source.text not in os.environ
                    and all(
                        self._is_harmless(inner, depth + 1)
                        for value in values
                        for inner in value.sources or (TextSource("other" if UNKNOWN in value.text else "number"),)
                    )
                )
            case "output" | "number" | "stream" | "files":
                # the command is judged for itself
                return True
            case "added" | "other":
                return False


def _sets_unseen(command: ShellCommand) -> bool:
    """Return whether a command may set a variable that it does not name."""
    for place, word in enumerate(command.words):
        if word.text in INPUT_BUILTINS:
            names = [item.text for item in command.words[place + 1 :] if not item.text.startswith("-")]
            return place > 0 or not all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in names)
    return False


def listed_folders(commands: Sequence[ShellCommand], *, has_nul: bool = False) -> tuple[str, ...]:
    """Return the folders in which all paths are that a pipeline prints, or nothing if it may print others.

    An empty name is the current folder, if the paths do not begin with it.

    Args:
        commands: The commands of the pipeline.
        has_nul: Whether the reader of the paths expects a NUL after each.
    """
    if not commands or not commands[0].words or any(not word.is_known for word in commands[0].words[:1]):
        return ()
    for command in commands[1:]:
        words = " ".join(word.text for word in command.words)
        if command.assignments or not FILTER.fullmatch(words):
            return ()
    name, *arguments = (word.text for word in commands[0].words)
    if commands[0].assignments or any(UNKNOWN in text for text in arguments):
        return ()
    options = {text for text in arguments if text.startswith("-")}
    if name == "find":
        if any(text.startswith(("-printf", "-exec", "-ok", "-fprint", "-ls")) for text in arguments):
            return ()
        # a link may lead out of the folder, and names after a NUL are other words for a shell
        if {"-L", "-H", "-follow"} & options or has_nul != ("-print0" in options):
            return ()
        return tuple(find_roots(arguments))
    if name == "git":
        subcommand = next(iter(arguments), "")
        needed, allowed = LISTING_GIT.get(subcommand, (None, frozenset[str]()))
        if needed is None or needed not in {"", *options} or not options <= allowed or has_nul != ("-z" in options):
            return ()
        return ("",)
    operands = [text for text in arguments if not text.startswith("-")]
    is_inside = not any(text.startswith(("/", "~")) or ".." in text for text in operands)
    lists = {"-l", "--files", "--files-with-matches"}
    is_list = (name in ("fd", "fdfind") and not options) or (name == "rg" and lists & options and options <= lists)
    if not has_nul and is_inside and (is_list or (name == "ls" and all(LS_OPTION.fullmatch(text) for text in options))):
        return ("",)
    return ()


def _listed_words(source: TextSource, *, is_split: bool) -> list[ShellWord]:
    """Return words for the paths that a source stands for, or nothing."""
    folders = tuple(source.text.split("\0")) if source.kind == "files" else _output_folders(source)
    # a path without its folder may begin with a hyphen
    return [ShellWord(folder or ".", folder or UNKNOWN, is_tree=True, is_split=is_split) for folder in folders]


def _output_folders(source: TextSource) -> tuple[str, ...]:
    if source.kind != "output":
        return ()
    script = read_script(source.text)
    if script.opaque or script.redirections or not script.commands:
        return ()
    last = script.commands[-1]
    is_pipeline = len(script.commands) == len(last.before) + 1
    return listed_folders((*last.before, last)) if is_pipeline else ()


def expand_braces(text: str) -> list[ShellWord] | None:
    """Return the words of a simple list in braces, or None if it is not simple."""
    match = re.fullmatch(r"([\w./-]*)\{([\w./-]*(?:,[\w./-]*)+)\}([\w./-]*)", text)
    return [literal(f"{match[1]}{item}{match[3]}") for item in match[2].split(",")] if match else None
