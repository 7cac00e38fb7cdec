"""The programs that only read, with the options and operands that keep them so.

Anything that is not in these lists is no reading: another option, a shortened one, a second file that is written. The
programs stand in `reader_table.py`. Programs with a language of their own have a function that reads it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lsp_harness.permission.shell.option_reading import Arguments, parse_options, read_arguments
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord, literal

Operands = Literal["files", "texts", "text files", "none"]
"""The meaning of operands: files that are read, texts, a text and then files, or nothing."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The files that a command may read, if it only reads.

    Attributes:
        files: The files and folders that its words name.
        trees: Folders that it searches with all files in them.
        problem: Why it does not only read; empty if it does.
        reads_objects: Whether it reads the contents of files in a repository of git.
        reads_history: Whether it may read contents that only the history of a repository has.
        reads_submodules: Whether git looks at the files of submodules, with their settings.
        follows_links: Whether it follows links within `trees`.
    """

    files: tuple[ShellWord, ...] = ()
    trees: tuple[ShellWord, ...] = ()
    problem: str = ""
    reads_objects: bool = False
    reads_history: bool = False
    reads_submodules: bool = False
    follows_links: bool = False

    def join(self, other: "Reading") -> "Reading":
        """Return what two commands read together."""
        return Reading(
            (*self.files, *other.files),
            (*self.trees, *other.trees),
            self.problem or other.problem,
            reads_objects=self.reads_objects or other.reads_objects,
            reads_history=self.reads_history or other.reads_history,
            reads_submodules=self.reads_submodules or other.reads_submodules,
            follows_links=self.follows_links or other.follows_links,
        )


Judge = Callable[[Sequence[ShellWord]], Reading]


@dataclass(frozen=True, slots=True)
class Reader:
    """A program that only reads.

    Attributes:
        options: The options with which it only reads (see `parse_options`).
        operands: What its operands are.
        text_options: Options that give the text in place of the first operand.
        tree_options: Options with which it searches folders with all files in them.
        max_operands: Most operands. Further ones would be written.
        permutes: Whether options may stand after operands.
        is_harmless: Whether it does no harm with any option, so that wildcards may become options.
        follows_links: Whether it follows links in the folders that it searches.
        searches_operands: Whether it searches an operand that is a folder without an option.
        takes_lists: Whether `@file` stands for the words in a file.
        has_clusters: Whether several options can stand in one word.
        is_program: Whether its text is a program, which must not come from the name of a file.
        judge: Judges the operands, too: returns why they do more than read.
    """

    options: str = ""
    operands: Operands = "files"
    text_options: tuple[str, ...] = ()
    tree_options: tuple[str, ...] = ()
    max_operands: int | None = None
    permutes: bool = True
    is_harmless: bool = False
    follows_links: bool = False
    searches_operands: bool = False
    takes_lists: bool = False
    has_clusters: bool = True
    is_program: bool = False
    judge: Callable[[Arguments], str] = field(default=lambda arguments: "")

    def read(self, words: Sequence[ShellWord]) -> Reading:
        """Return what a command with these arguments reads."""
        arguments = read_arguments(
            parse_options(self.options),
            words,
            permutes=self.permutes,
            wildcards_are_safe=self.is_harmless,
            shows_texts=self.is_harmless and self.operands == "texts",
            has_clusters=self.has_clusters,
        )
        if arguments.problem:
            return Reading(problem=arguments.problem)
        operands = arguments.operands
        if self.operands == "none" and operands:
            return Reading(problem=f"the argument {operands[0].display} is not understood")
        if self.max_operands is not None and (
            len(operands) > self.max_operands or not all(word.is_one for word in operands)
        ):
            return Reading(problem="it may write a second file")
        if self.takes_lists and any(word.loose.startswith(("@", UNKNOWN)) for word in operands):
            return Reading(problem="a word may be the name of a file with options")
        if problem := self.judge(arguments):
            return Reading(problem=problem)
        if self.is_program and _has_hidden_program(words, () if arguments.has(*self.text_options) else operands[:1]):
            return Reading(problem="the name of a file may be its program")
        files = list(operands) if self.operands in ("files", "text files") else []
        if self.operands == "text files" and not arguments.has(*self.text_options):
            files = files[1:]
        searched, files = tuple(files), [*files, *arguments.files]
        trees = tuple(word for word in searched if word.is_tree)
        ways = set(arguments.values("-d", "--directories"))
        if self.tree_options and not ways <= {"read", "skip", "recurse"}:
            return Reading(problem="the way to read folders is not clear")
        if arguments.has(*self.tree_options) or "recurse" in ways:
            follows = self.follows_links or arguments.has("-R", "--dereference-recursive")
            return Reading(tuple(files), searched or (literal("."),), follows_links=follows)
        if self.searches_operands:
            return Reading(tuple(files), searched, follows_links=True)
        # a program follows a link that it gets as a path
        return Reading(tuple(files), trees, follows_links=bool(trees))


def _has_hidden_program(words: Sequence[ShellWord], texts: Sequence[ShellWord]) -> bool:
    """Return whether the program of a command may come from the name of a file, by a wildcard or a list of files."""
    options = (word for word in words if word.text.startswith("-"))
    return any(not word.is_known for word in options) or not all(word.is_one for word in texts)


def judge_texts(words: Sequence[ShellWord]) -> Reading:
    """Judge a program whose words are all texts. A text that is not known may be that of the environment."""
    unknown = any(UNKNOWN in word.text and not word.is_harmless for word in words)
    return Reading(problem="an argument is not known" if unknown else "")


def judge_test(words: Sequence[ShellWord]) -> Reading:
    """Judge `test` and `[`, which look at files."""
    if any(not (word.is_known or word.is_harmless or (word.is_quoted and UNKNOWN not in word.text)) for word in words):
        return Reading(problem="an argument is not known")
    operands = [
        word
        for word in words
        if UNKNOWN not in word.text and not re.fullmatch(r"-\w+|[!=\]()<>]|!=|==|\d+|", word.text)
    ]
    return Reading(tuple(operands))


def judge_printf(words: Sequence[ShellWord]) -> Reading:
    """Judge `printf`, which sets a variable with `-v`."""
    if words and words[0].text.startswith("-") and words[0].text != "--":
        return Reading(problem=f"the option {words[0].display} may set a variable")
    if words and UNKNOWN in words[0].text:
        return Reading(problem="the format is not known")
    return judge_texts(words)


ADDRESS = r"(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)"
SUBSTITUTION = r"s(?P<d>[/|#,@!:%_~])(?:(?!(?P=d))[^\\\n]|\\.)*(?P=d)(?:(?!(?P=d))[^\\\n]|\\.)*(?P=d)[gpiI\d]*"
SED_COMMAND = re.compile(rf"(?:{ADDRESS}(?:\s*,\s*[+~]?{ADDRESS})?)?\s*!?\s*(?:{SUBSTITUTION}|[pdqQ=DnNhHgGxl]\d*)")


def is_plain_sed(script: str) -> bool:
    """Return whether a script of sed only substitutes, prints, deletes or quits."""
    text = script.strip()
    if SED_COMMAND.fullmatch(text):
        return True
    parts = text.split(";")
    return len(parts) > 1 and all(SED_COMMAND.fullmatch(part.strip()) for part in parts if part.strip())


def judge_sed(arguments: Arguments) -> str:
    """Return why a script of sed does more than print. Empty if it does not."""
    scripts = arguments.values("-e", "--expression") or [word.text for word in arguments.operands[:1]]
    if not scripts or not all(map(is_plain_sed, scripts)):
        return "the script may run commands or write files"
    return ""


AWK_EFFECTS = re.compile(r"system|getline|(?<!\|)\|(?!\|)|@|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|ARGV|print[\s\S]*>")
"""Words of a program of awk that run a command, write or read other files, or read the environment."""


def is_plain_awk(program: str) -> bool:
    """Return whether a program of awk only computes and prints."""
    return not AWK_EFFECTS.search(program)


def judge_awk(arguments: Arguments) -> str:
    """Return why a program of awk does more than compute and print. Empty if it does not."""
    if not arguments.operands or not is_plain_awk(arguments.operands[0].text):
        return "the program may run commands, write files or read the environment"
    if any(not re.match(r"\w+=", value) for value in arguments.values("-v", "--assign")):
        return "a variable is not clear"
    return ""


def judge_jq(arguments: Arguments) -> str:
    """Return why a filter of jq reads more than its input. Empty if it does not."""
    programs = [word.text for word in arguments.operands[:1]]
    if any(
        re.search(r"\benv\b|\$\s*(?:ENV|__|#)|\b(?:import|include|modulemeta|get_search_list)\b", text)
        for text in programs
    ):
        return "the filter may read the environment or other files"
    return ""


FIND_WORDS = frozenset(
    [
        "-print",
        "-print0",
        "-prune",
        "-o",
        "-or",
        "-a",
        "-and",
        "-not",
        "!",
        "(",
        ")",
        ",",
        "-ls",
        "-follow",
        "-depth",
        "-d",
        "-mount",
        "-xdev",
        "-nouser",
        "-nogroup",
        "-readable",
        "-writable",
        "-executable",
        "-true",
        "-false",
        "-quit",
        "-daystart",
        "-noleaf",
        "-warn",
        "-nowarn",
        "-empty",
        "-ignore_readdir_race",
        "-noignore_readdir_race",
        "-help",
        "-version",
        "--help",
        "--version",
    ]
)
FIND_VALUES = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-regextype",
        "-type",
        "-xtype",
        "-size",
        "-mtime",
        "-mmin",
        "-atime",
        "-amin",
        "-ctime",
        "-cmin",
        "-used",
        "-maxdepth",
        "-mindepth",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-links",
        "-inum",
        "-lname",
        "-ilname",
        "-fstype",
        "-printf",
        "-context",
    ]
)
FIND_FILES = re.compile(r"-(?:newer(?:[aBcmt][aBcmt])?|anewer|cnewer|samefile)$")


def find_roots(arguments: Sequence[str]) -> list[str]:
    """Return the folders in which find searches."""
    start = 0
    while start < len(arguments) and re.fullmatch(r"-[HLP]+|-O\d|-D", arguments[start]):
        start += 1
    end = next((p for p in range(start, len(arguments)) if re.match(r"[-!(),]", arguments[p])), len(arguments))
    return list(arguments[start:end]) or ["."]


def find_exec_end(words: Sequence[ShellWord], start: int, *, is_ok: bool) -> int:
    """Return the place of the word that ends the command of `find -exec`: `;`, or `+` directly after `{}`.

    Args:
        words: The arguments of find.
        start: The first word of the command.
        is_ok: Whether find asks before each command, so that `+` does not end it.
    """
    for place in range(start, len(words)):
        text = words[place].text
        if text == ";" or (text == "+" and not is_ok and place > start and words[place - 1].text == "{}"):
            return place
    return len(words)


def judge_find(words: Sequence[ShellWord]) -> Reading:
    """Judge `find`: its folders, and an expression of tests and prints. `-exec` is judged elsewhere."""
    roots, files, position = list[ShellWord](), list[ShellWord](), 0
    while position < len(words) and re.fullmatch(r"-[HLP]|-O[0-3]", words[position].text):
        position += 1
    while position < len(words) and not re.match(r"[-!(),]", words[position].text):
        if not words[position].is_known and words[position].loose.startswith(UNKNOWN):
            return Reading(problem=f"the wildcard {words[position].text} may become an option")
        roots.append(words[position])
        position += 1
    roots = roots or [literal(".")]
    while position < len(words):
        word = words[position]
        position += 1
        if not word.is_known:
            return Reading(problem="an argument is not known")
        if word.text in FIND_WORDS:
            continue
        if word.text in FIND_VALUES or FIND_FILES.match(word.text):
            if position >= len(words) or not words[position].is_known:
                return Reading(problem=f"the value of {word.text} is not known")
            if FIND_FILES.match(word.text):
                files.append(words[position])
            position += 1
            continue
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            position = find_exec_end(words, position, is_ok=word.text.startswith("-ok")) + 1
            continue
        return Reading(problem=f"the option {word.display} is not one of those that only read")
    return Reading((*roots, *files))


def judge_tar(words: Sequence[ShellWord]) -> Reading:
    """Judge `tar -tf FILE` in its usual spellings."""
    if (
        len(words) == 2
        and re.fullmatch(r"-?t[vzjJ]*f", words[0].text)
        and words[1].is_known
        and not re.search(r"^-|:", words[1].text)
    ):
        return Reading((words[1],))
    return Reading(problem="only the list of one archive is reading")


def judge_unzip(words: Sequence[ShellWord]) -> Reading:
    """Judge `unzip -l FILE`."""
    if len(words) == 2 and words[0].text in ("-l", "-v", "-t") and words[1].is_known and words[1].text[:1] != "-":
        return Reading((words[1],))
    return Reading(problem="only the list of one archive is reading")


def judge_pager(arguments: Arguments) -> str:
    """Return why a pager begins with a command. Empty if it does not."""
    return "it begins with a command" if any(word.text.startswith("+") for word in arguments.operands) else ""


def judge_date(arguments: Arguments) -> str:
    """Return why `date` does more than print a time. Empty if it does not."""
    return "" if all(word.text.startswith("+") for word in arguments.operands) else "it may set the clock"
