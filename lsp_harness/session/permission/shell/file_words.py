"""The words of a command that name files, by what its program does with them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord, literal

WRITERS: Mapping[str, str] = {
    **dict.fromkeys(("rm", "rmdir", "unlink", "mkdir", "touch", "tee", "truncate", "sponge"), "all"),
    **dict.fromkeys(("chmod", "chown", "chgrp", "shred", "mkfifo", "mknod", "chattr", "setfacl"), "all"),
    **dict.fromkeys(("cp", "ln", "install", "rsync", "link", "mv"), "last"),
    "dd": "values",
}
"""Program that changes files → which of its arguments it changes. `last` reads the others, `values` is `of=`."""
FIRST_IS_MODE = frozenset({"chmod", "chown", "chgrp", "setfacl", "chattr"})
LINKERS = frozenset({"ln", "link"})
ARCHIVERS = frozenset({"tar", "zip", "7z", "7za", "rsync", "cp", "cpio", "pax"})
"""Programs that copy the contents of whole folders."""
TARGET_OPTION = re.compile(r"-[a-zA-Z]*t(.*)$|--t[a-z-]*(?:=(.*))?$", re.DOTALL)
OUTPUT_OPTIONS: Mapping[str, str] = {
    "git": r"--outp?u?t?(?:-d[a-z-]*)?(?:=(.*))?$|-o(.*)$",
    "sort": r"--o[a-z]*(?:=(.*))?$|-[bdfgiMhnRrVcCmsuz]*o(.*)$",
    "shuf": r"--o[a-z]*(?:=(.*))?$|-[erz]*o(.*)$",
    "tree": r"--output[a-z-]*(?:=(.*))?$|-[a-zA-Z]*o(.*)$",
    "iconv": r"--output(?:=(.*))?$|-[cls]*o(.*)$",
    "find": r"-f(?:print0?|ls|printf)$()",
}
"""Program that otherwise only reads → the options that name a file for its output, with the value in the same word."""


@dataclass(frozen=True, slots=True)
class FileWords:
    """The words of a command that name files.

    Attributes:
        read: Those that are read.
        changed: Those that are changed, made or removed.
        folders: Folders in which the files `moved` get a place, if they are folders.
        moved: The files that are put into them.
    """

    read: tuple[ShellWord, ...] = ()
    changed: tuple[ShellWord, ...] = ()
    folders: tuple[ShellWord, ...] = ()
    moved: tuple[ShellWord, ...] = ()


def find_changed(name: str, words: Sequence[ShellWord]) -> FileWords | None:
    """Return the files of a program that changes files, or None if nobody knows what a program does with its words.

    Args:
        name: The name of the program.
        words: Its arguments.
    """
    kind = WRITERS.get(name)
    if kind is None:
        return _find_edited(name, words)
    operands, target = _split_target(words)
    if kind == "values":
        sources = [literal(word.text[3:]) for word in words if word.text.startswith("if=")]
        targets = [literal(word.text[3:]) for word in words if word.text.startswith("of=")]
        return FileWords(tuple(sources), tuple(targets))
    if kind == "all":
        return FileWords(changed=tuple(operands[1:] if name in FIRST_IS_MODE else operands))
    if target is None:
        operands, target = operands[:-1], operands[-1] if operands else None
    targets = (target,) if target else ()
    taken = tuple(operands) if name == "mv" else ()
    return FileWords(tuple(operands), (*targets, *taken), targets, tuple(operands))


def find_output(name: str, words: Sequence[ShellWord]) -> tuple[list[str], list[ShellWord]]:
    """Return the files that options name for the output of a reading program, and the other words."""
    pattern = OUTPUT_OPTIONS.get(name)
    found, rest, position = list[str](), list[ShellWord](), 0
    while position < len(words):
        word = words[position]
        position += 1
        match = re.match(pattern, word.text, re.DOTALL) if pattern else None
        if word.text == "--" or match is None:
            rest.append(word)
            pattern = None if word.text == "--" else pattern
            continue
        value = next((text for text in match.groups() if text), "")
        if not value and position < len(words):
            value = words[position].text
            position += 1
        found += [value] if value else []
    return found, rest


def _find_edited(name: str, words: Sequence[ShellWord]) -> FileWords | None:
    """Return the files of `sed -i`, whose script was judged elsewhere."""
    if name not in ("sed", "gsed") or not any(re.match(r"-[a-zA-Z]*i|--in-place", word.text) for word in words):
        return None
    operands = [word for word in words if not word.text.startswith("-")]
    has_script = any(re.match(r"-[nErsuz]*e|--expression", word.text) for word in words)
    files = tuple(operands if has_script else operands[1:])
    return FileWords(files, files)


def _split_target(words: Sequence[ShellWord]) -> tuple[list[ShellWord], ShellWord | None]:
    """Return the operands, and the folder that an option names as the target."""
    operands, target, position = list[ShellWord](), None, 0
    while position < len(words):
        word = words[position]
        position += 1
        if word.text == "--":
            operands += words[position:]
            break
        if not word.text.startswith("-") or word.text == "-":
            operands.append(word)
        elif match := TARGET_OPTION.match(word.text):
            value = match[1] or match[2]
            if not value and position < len(words):
                target = words[position]
                position += 1
            elif value:
                target = literal(value)
    return [word for word in operands if UNKNOWN not in word.text], target
