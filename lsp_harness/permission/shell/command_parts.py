"""The parts of a shell command that need a decision each: its simple commands and the files that it writes.

Wrappers such as `sudo` and `timeout` are removed, and literal scripts of `sh -c` are parsed too. A part whose effect
nobody can see is opaque. The parser only decides what is asked; it does not protect by itself.
"""

import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lsp_harness.permission.shell.command_wrappers import (
    SHELLS,
    WRAPPERS,
    base_name,
    inner_commands,
    opaque_reason,
    shell_script,
    unwrap,
)
from lsp_harness.permission.shell.known_values import KnownValues, evaluation_reason, is_evaluated, listed_folders
from lsp_harness.process.code_variables import chooses_code, is_harmless
from lsp_harness.process.command_shell import find_shell
from lsp_harness.syntax.shell.shell_script import READING_BUILTINS, Redirection, ShellCommand, read_script
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord, TextSource, literal

MAX_DEPTH = 8
RESERVED_WORDS = frozenset(
    {"!", "{", "}", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in"}
    | {"select", "function", "coproc", "[[", "]]"}
)
"""Words of the grammar of a shell. If one is read as the name of a program, the text was understood in another way than
by a shell."""
SETTING_BUILTINS = READING_BUILTINS | {"unset", "export", "readonly", "let", "wait", "set", "shopt"}
"""Builtins of bash that set variables which they name among their arguments."""
FOLDER_PROGRAMS = frozenset({"cd", "pushd", "popd", "chdir"})
STREAM_DEVICES = frozenset({"/dev/stdin", "/dev/stdout", "/dev/stderr"})
SYSTEM_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/")
DEVICES = STREAM_DEVICES | {"/dev/null", "/dev/tty"}


@dataclass(frozen=True, slots=True)
class CommandPart:
    """A simple command of a shell command.

    Attributes:
        words: The program and its arguments. Empty if even the program is not known.
        opaque: Why nobody can see what it does; empty if its words say it.
        is_wrapper: Whether it only runs another part, so that it needs no permission of its own.
        variants: The ways in which its words may look, with the values that the script gives to its variables.
    """

    words: tuple[ShellWord, ...] = ()
    opaque: str = ""
    is_wrapper: bool = False
    variants: tuple[tuple[ShellWord, ...], ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the program without its folder."""
        return base_name(self.words[0].text) if self.words else ""

    @property
    def text(self) -> str:
        """Return the command without quotes. Unknown text is `UNKNOWN`."""
        return " ".join(word.text for word in self.words)

    @property
    def loose(self) -> str:
        """Return the command with `UNKNOWN` for each wildcard too."""
        return " ".join(word.loose for word in self.words)

    @property
    def display(self) -> str:
        """Return the command for people."""
        return self.text.replace(UNKNOWN, "…")


@dataclass(frozen=True, slots=True)
class CommandSplit:
    """A shell command in parts.

    Attributes:
        parts: The simple commands.
        redirections: The files that redirections read or write.
        opaque: Why the command as a whole cannot be seen; empty if it can.
        folders: The folders to which it changes, in order. Each is relative to the one before.
    """

    parts: tuple[CommandPart, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    opaque: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @property
    def opaque_reasons(self) -> tuple[str, ...]:
        """Return all reasons why something cannot be seen."""
        return tuple(dict.fromkeys([*self.opaque, *(part.opaque for part in self.parts if part.opaque)]))


@dataclass(slots=True)
class _Splitting:
    parts: list[CommandPart] = field(default_factory=list[CommandPart])
    redirections: list[Redirection] = field(default_factory=list[Redirection])
    opaque: list[str] = field(default_factory=list[str])
    values: KnownValues = field(default_factory=KnownValues)

    def add(self, part: CommandPart) -> None:
        """Add a part, with the values of its variables."""
        self.parts.append(replace(part, variants=tuple(self.values.variants(part.words))))


def split_command(text: str) -> CommandSplit:
    """Return the parts of a command for a shell. Never raises: what cannot be read is opaque."""
    splitting = _Splitting()
    _split_text(text, splitting, 0)
    if not splitting.parts and not splitting.opaque and not splitting.redirections:
        splitting.opaque.append("it runs no command that can be seen")
    return _finish(splitting)


def split_arguments(argv: Sequence[str]) -> CommandSplit:
    """Return the parts of a program that runs without a shell."""
    splitting = _Splitting()
    if not argv:
        splitting.opaque.append("there is no program")
    else:
        _split_words(ShellCommand(tuple(map(literal, argv))), splitting, 0)
    return _finish(splitting)


def is_found_by_name(program: str) -> bool:
    """Return whether a program is found by its name alone, or is one of the system by its path."""
    if "/" not in program:
        return True
    return program.startswith(SYSTEM_FOLDERS) and ".." not in program and program.count("/") <= 4


def _finish(splitting: _Splitting) -> CommandSplit:
    writes = {item.target.text for item in splitting.redirections if item.access == "write"} & STREAM_DEVICES
    if "/dev/stdin" in writes or (writes and any(item.target.text not in DEVICES for item in splitting.redirections)):
        splitting.opaque.append("it writes to a stream that may be a file")
    redirections = tuple(item for item in splitting.redirections if item.target.text not in DEVICES)
    opaque = list(splitting.opaque)
    opaque += ["a redirection goes to a file that is not known" for item in redirections if not item.target.is_known]
    changes = [part for part in splitting.parts if part.name in FOLDER_PROGRAMS and not part.opaque]
    folders = [_changed_folder(part) for part in changes]
    if None in folders:
        opaque.append("it changes to a folder that is not known")
    # in quotes, `~` is a name like others
    quoted = [
        f"./{word.text}" for part in changes for word in part.words[1:] if word.text[:1] == "~" and word.is_quoted
    ]
    known = (*(folder for folder in folders if folder is not None), *quoted)
    return CommandSplit(tuple(splitting.parts), redirections, tuple(dict.fromkeys(opaque)), known)


def _changed_folder(part: CommandPart) -> str | None:
    """Return the folder to which a command changes, or None if it is not known."""
    arguments = [word for word in part.words[1:] if not re.fullmatch(r"-[LPe@]+|--", word.text)]
    if part.name == "cd" and not arguments:
        return "~"
    if part.name == "popd" or len(arguments) != 1 or not arguments[0].is_known or arguments[0].text[:1] in "-+":
        return None
    return arguments[0].text


def _split_text(text: str, splitting: _Splitting, depth: int, *, is_posix: bool = False) -> None:
    script = read_script(text, is_posix=is_posix or find_shell().dialect == "posix")
    splitting.opaque += script.opaque
    splitting.redirections += script.redirections
    outer = splitting.values
    splitting.values = KnownValues.of(script.commands)
    splitting.opaque += splitting.values.list_shown(script.shown_variables)
    for command in script.commands:
        _split_words(command, splitting, depth)
    splitting.values = outer


def _split_words(command: ShellCommand, splitting: _Splitting, depth: int) -> None:
    if depth > MAX_DEPTH:
        splitting.opaque.append("commands are nested too deeply")
        return
    words = command.words
    splitting.opaque += _assignment_reasons(command)
    if not words:
        return
    is_declaration = words[0].text in ("export", "declare", "typeset", "local", "readonly")
    if is_declaration and any(word.text.startswith("-") and "n" in word.text for word in words[1:]):
        splitting.opaque.append("a name refers to another one")
    variants = splitting.values.variants(words)
    if words[0].text in SETTING_BUILTINS and any(_sets_shell(word.text) for found in variants for word in found[1:]):
        splitting.opaque.append(f"{words[0].text} changes the commands after it")
    if reason := evaluation_reason(words[0].text, variants):
        splitting.opaque.append(reason)
    if reason := _program_reason(words[0]):
        splitting.add(CommandPart(words, reason))
        return
    # a program of the workspace may have the name of a wrapper or a shell
    name = base_name(words[0].text) if is_found_by_name(words[0].text) else ""
    part = CommandPart(words)
    unwrapped = unwrap(name, words)
    if unwrapped is not None:
        needs_permission = WRAPPERS[name].needs_permission
        if unwrapped.opaque or (not unwrapped.words and name not in ("exec", "env", "time", "nice")):
            reason = unwrapped.opaque or f"{name} runs nothing that can be seen"
            splitting.add(replace(part, opaque=reason))
            return
        splitting.add(replace(part, is_wrapper=bool(unwrapped.words) and not needs_permission))
        inner_words = unwrapped.words
        has_nul = any(re.fullmatch(r"-[rt]*0[rt]*|--null", word.text) for word in words[1:])
        if folders := listed_folders(command.before, has_nul=has_nul):
            files = TextSource("files", "\0".join(folders))
            inner_words = tuple(
                replace(word, sources=(files,), is_split=True) if _is_added(word) else word for word in inner_words
            )
        inner = ShellCommand(inner_words, unwrapped.assignments)
        if unwrapped.is_shell_text:
            if all(word.is_known for word in unwrapped.words):
                text = " ".join(word.text for word in unwrapped.words)
                _split_text(text, splitting, depth + 1, is_posix=True)
            else:
                splitting.opaque.append(f"{name} runs a text that is not known")
        else:
            _split_words(inner, splitting, depth + 1)
        return
    if name in SHELLS:
        _split_shell(part, splitting, depth)
        return
    reasons = (opaque_reason(name, found) for found in (words, *variants))
    splitting.add(replace(part, opaque=next(filter(None, reasons), "")))
    # the value of a variable may be the option before another command
    inner = itertools.chain.from_iterable(inner_commands(name, found) for found in (words, *variants))
    for inner_words in dict.fromkeys(inner):
        _split_words(ShellCommand(inner_words), splitting, depth + 1)
    if name == "eval" and all(word.is_known for word in words):
        # a denied command in it is denied at once and not only asked
        _split_text(" ".join(word.text for word in words[1:]), splitting, depth + 1)


def _is_added(word: ShellWord) -> bool:
    """Return whether a word is what `xargs` adds from its input."""
    return [source.kind for source in word.sources] == ["added"]


def _sets_shell(text: str) -> bool:
    """Return whether a word names a variable that changes the later commands of a script."""
    name = re.split(r"[=\[+]", text.removeprefix("-v"), maxsplit=1)[0]
    return chooses_code(name) or is_evaluated(name)


def _changes_programs(name: str) -> bool:
    """Return whether programs get a variable that a script sets without `export`, and may do something else then."""
    return chooses_code(name) or (name in os.environ and not is_harmless(name))


def _split_shell(part: CommandPart, splitting: _Splitting, depth: int) -> None:
    script = shell_script(part.words)
    if script == "hidden":
        splitting.add(replace(part, opaque=f"{part.name} reads a script that nobody sees"))
    elif script == "file":
        splitting.add(part)
    else:
        is_bash = part.name in ("bash", "rbash")
        is_posix = part.name in ("sh", "dash", "ash")
        reason = "" if is_bash or is_posix else f"{part.name} has a grammar of its own"
        splitting.add(replace(part, is_wrapper=not reason, opaque=reason))
        _split_text(script.text, splitting, depth + 1, is_posix=is_posix)


def _program_reason(word: ShellWord) -> str:
    """Return why the program of a command is not known; empty if it is."""
    if not word.is_known:
        return "the name of a program is not known"
    if word.text in RESERVED_WORDS:
        return f"the word {word.text} belongs to the grammar of the shell"
    if not word.text or re.search(r"[\s{}]", word.text):
        return "the name of a program is strange"
    if not word.text.isascii():
        return "the name of a program has letters that look like others"
    if "=" in word.text and word.is_quoted:
        return "the name of a program is strange"
    return ""


def _assignment_reasons(command: ShellCommand) -> list[str]:
    reasons = list[str]()
    is_exported = bool(command.words)
    for name, value in command.assignments:
        if is_exported and is_harmless(name) and not re.fullmatch(r"[\w.,:@%+ -]*", value.text):
            reasons.append(f"the variable {name} may name a file")
        elif is_exported and not is_harmless(name):
            reasons.append(f"the variable {name} may change what a program does")
        elif not is_exported and _changes_programs(name.partition("[")[0]):
            reasons.append(f"the variable {name} changes the commands after it")
    return reasons
