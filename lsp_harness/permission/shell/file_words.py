"""The words of a command that name files, by what its program does with them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lsp_harness.permission.shell.git_reading import split_git
from lsp_harness.permission.shell.option_reading import may_become_option, parse_options, read_arguments
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord, literal

OWNER_OPTIONS = (
    "-cfvRhHLP --changes --silent --quiet --verbose --recursive --no-dereference --dereference --reference@ --from= "
    "--preserve-root --no-preserve-root"
)
COPY_OPTIONS = (
    "-S= -t= --backup? --suffix= --target-directory= --no-target-directory --verbose --force --interactive --update? "
    "--no-clobber --strip-trailing-slashes"
)


@dataclass(frozen=True, slots=True)
class WritingProgram:
    """A program that changes files.

    Attributes:
        kind: Which of its operands it changes: `all`, the `last` one while it reads the others, or `of=`.
        options: The options of which it is known what they change (see `parse_options`). None if nobody knows.
        outputs: Options whose values are files or folders that it changes, too.
    """

    kind: Literal["all", "last", "values"]
    options: str | None = ""
    outputs: tuple[str, ...] = ()


WRITERS: Mapping[str, WritingProgram] = {
    "rm": WritingProgram(
        "all",
        "-dfiIrRv --force --interactive? --one-file-system --no-preserve-root --preserve-root? --recursive --dir "
        "--verbose",
    ),
    "rmdir": WritingProgram("all", "-pv --ignore-fail-on-non-empty --parents --verbose"),
    "unlink": WritingProgram("all"),
    "mkdir": WritingProgram("all", "-pv -m= --parents --mode= --verbose"),
    "touch": WritingProgram("all", "-acmfh -d= -t= -r@ --date= --reference@ --time= --no-create --no-dereference"),
    "tee": WritingProgram("all", "-aip --append --ignore-interrupts --output-error?"),
    "truncate": WritingProgram("all", "-co -s= -r@ --size= --reference@ --no-create --io-blocks"),
    "sponge": WritingProgram("all", "-a"),
    "chmod": WritingProgram(
        "all", "-cfvRrwxXstugoa --changes --silent --quiet --verbose --recursive --reference@ --preserve-root"
    ),
    "chown": WritingProgram("all", OWNER_OPTIONS),
    "chgrp": WritingProgram("all", OWNER_OPTIONS),
    "shred": WritingProgram("all", "-fuvxz -n= -s= --force --iterations= --remove? --verbose --zero --exact --size="),
    "mkfifo": WritingProgram("all", "-m= --mode="),
    "mknod": WritingProgram("all", "-m= --mode="),
    "chattr": WritingProgram("all", None),
    "setfacl": WritingProgram("all", None),
    "cp": WritingProgram(
        "last",
        f"-abdfHilLnPpRrsTuvx --archive --attributes-only --copy-contents --link --dereference --no-dereference "
        f"--preserve? --no-preserve= --parents --recursive --reflink? --remove-destination --sparse= "
        f"--symbolic-link --one-file-system {COPY_OPTIONS}",
    ),
    "ln": WritingProgram(
        "last",
        f"-bdFfiLnPrsTv --directory --logical --no-dereference --physical --relative --symbolic {COPY_OPTIONS}",
    ),
    "mv": WritingProgram("last", f"-bfinTuv {COPY_OPTIONS}"),
    "install": WritingProgram(
        "last",
        f"-bcCdDpsTv -g= -m= -o= --compare --directory --group= --mode= --owner= --preserve-timestamps --strip "
        f"{COPY_OPTIONS}",
    ),
    "link": WritingProgram("last"),
    "rsync": WritingProgram(
        "last",
        "-avrlptgoDzhuncqRHAXxPimLCbsWkKSIEJNOUy -e= -f= -B= -T= -M= --archive --verbose --recursive --links --perms "
        "--times --group --owner --compress --update --dry-run --checksum --progress --stats --exclude= --include= "
        "--exclude-from@ --include-from@ --filter= --delete --delete-before --delete-after --delete-excluded "
        "--human-readable --quiet --partial --info= --relative --itemize-changes --size-only --ignore-existing "
        "--existing --whole-file --prune-empty-dirs --copy-links --safe-links --bwlimit= --timeout= --backup --suffix= "
        "--max-size= --min-size= --inplace --append --ignore-times --executability --no-perms --no-owner --no-group "
        "--chmod= --log-file= --backup-dir= --partial-dir= --temp-dir= --write-batch= --only-write-batch=",
        ("--log-file", "--backup-dir", "--partial-dir", "--temp-dir", "-T", "--write-batch", "--only-write-batch"),
    ),
    "dd": WritingProgram("values"),
}
"""Program that changes files → which of its arguments it changes."""
FIRST_IS_MODE = frozenset({"chmod", "chown", "chgrp", "setfacl", "chattr"})
UNPACK_FOLDERS: Mapping[str, re.Pattern[str]] = {
    "tar": re.compile(r"-[a-zA-Z]*C(.*)|--dire[a-z]*(?:=(.*))?", re.DOTALL),
    "unzip": re.compile(r"-[a-zA-Z]*d(.*)()", re.DOTALL),
}
"""Program that unpacks archives → the option for the folder, with the value in the same word."""
PLACERS = frozenset({"cp", "ln", "mv", "install"})
"""Programs with an option for the folder into which files are put."""
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

DIFFING_GIT = frozenset(
    {"diff", "log", "show", "whatchanged", "format-patch", "range-diff", "diff-tree", "diff-index", "diff-files"}
    | {"shortlog", "archive", "stash", "reflog"}
)
"""Subcommands of git with an option for a file for the output."""


@dataclass(frozen=True, slots=True)
class FileWords:
    """The words of a command that name files.

    Attributes:
        read: Those that are read.
        changed: Those that are changed, made or removed.
        folders: Folders in which the files `moved` get a place, if they are folders.
        moved: The files that are put into them.
        keeps_paths: Whether the files get the whole path in these folders, and not only their names.
        is_whole: Whether the target is never a folder into which something is put.
        is_certain: Whether nothing else is changed. Otherwise an option may name further files.
    """

    read: tuple[ShellWord, ...] = ()
    changed: tuple[ShellWord, ...] = ()
    folders: tuple[ShellWord, ...] = ()
    moved: tuple[ShellWord, ...] = ()
    keeps_paths: bool = False
    is_whole: bool = False
    is_certain: bool = True


def find_changed(name: str, words: Sequence[ShellWord]) -> FileWords | None:
    """Return the files of a program that changes files, or None if nobody knows what a program does with its words.

    Args:
        name: The name of the program.
        words: The arguments of the program.
    """
    writer = WRITERS.get(name)
    if writer is None:
        return _find_edited(name, words) or _find_unpacked(name, words)
    if writer.kind == "values":
        sources = [literal(word.text[3:]) for word in words if word.text.startswith("if=")]
        targets = [literal(word.text[3:]) for word in words if word.text.startswith("of=")]
        return FileWords(tuple(sources), tuple(targets))
    arguments = read_arguments(parse_options(writer.options or ""), words, wildcards_are_safe=True)
    is_certain = not arguments.problem and writer.options is not None
    operands, target = _split_target(words)
    if is_certain:
        operands = [word for word in arguments.operands if UNKNOWN not in word.text]
        target = next(map(literal, arguments.values("-t", "--target-directory")), None) if name in PLACERS else None
    has_mode = name in FIRST_IS_MODE and not arguments.has("--reference")
    outputs = list(map(literal, arguments.values(*writer.outputs)))
    if writer.kind == "all" or (name == "install" and arguments.has("-d", "--directory")):
        return FileWords(tuple(arguments.files), tuple(operands[1:] if has_mode else operands), is_certain=is_certain)
    is_named = target is not None
    if target is None:
        operands, target = operands[:-1], operands[-1] if operands else None
    targets = (target,) if target else ()
    if target and name == "rsync":
        # a folder for old versions may be one in the target
        outputs += [literal(f"{target.text}/{word.text}") for word in outputs]
    taken = tuple(operands) if name == "mv" or arguments.has("--remove-source-files") else ()
    return FileWords(
        (*operands, *arguments.files),
        (*targets, *taken, *outputs),
        (literal(f"{target.text}/"),) if target and is_named else targets,
        tuple(operands),
        keeps_paths=arguments.has("--parents", "--relative") or (name == "rsync" and arguments.has("-R")),
        is_whole=name != "rsync" and arguments.has("-T", "--no-target-directory"),
        is_certain=is_certain,
    )


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


def may_hide_output(name: str, words: Sequence[ShellWord]) -> bool:
    """Return whether a word that is not known may become an option that names a file for the output.

    Args:
        name: The name of the program.
        words: The arguments of the program.
    """
    if name not in OUTPUT_OPTIONS or (name == "git" and split_git([word.text for word in words])[0] not in DIFFING_GIT):
        return False
    end = next((place for place, word in enumerate(words) if word.text == "--"), len(words))
    return any(not word.is_known and may_become_option(word) for word in words[:end])


def _find_edited(name: str, words: Sequence[ShellWord]) -> FileWords | None:
    """Return the files of `sed -i`, whose script was judged elsewhere."""
    if name not in ("sed", "gsed") or not any(re.match(r"-[a-zA-Z]*i|--in-place", word.text) for word in words):
        return None
    operands = [word for word in words if not word.text.startswith("-")]
    has_script = any(re.match(r"-[nErsuz]*e|--expression", word.text) for word in words)
    files = tuple(operands if has_script else operands[1:])
    matches = (re.match(r"-[nErsuz]*i(.*)|--in-place(?:=(.*))?", word.text, re.DOTALL) for word in words)
    suffix = next((match[1] or match[2] or "" for match in matches if match), "")
    return FileWords(files, (*files, *(place for word in files for place in _find_backups(word.text, suffix))))


def _find_unpacked(name: str, words: Sequence[ShellWord]) -> FileWords | None:
    """Return the folder into which an archive is unpacked by an option. What comes out of it is not known."""
    unpacks = name == "unzip" or any(re.match(r"-?[a-zA-Z]*x|--extract|--get", word.text) for word in words[:3])
    option = UNPACK_FOLDERS.get(name)
    if option is None or not unpacks:
        return None
    folders = list[ShellWord]()
    for place, word in enumerate(words):
        if match := option.fullmatch(word.text):
            value = match[1] or match[2] or ""
            folders += [literal(value)] if value else words[place + 1 : place + 2]
    inner = [literal(f"{word.text.rstrip('/')}/*") for word in folders if UNKNOWN not in word.text]
    return FileWords(changed=(*folders, *inner), is_certain=False) if folders else None


def _find_backups(path: str, suffix: str) -> list[ShellWord]:
    """Return the places of the old version that `sed -i` keeps. A `*` stands for the name of the file."""
    if not suffix:
        return []
    folder, _, name = path.rpartition("/")
    backup = suffix.replace("*", name) if "*" in suffix else name + suffix
    return [literal(backup), literal(f"{folder}/{backup}")] if folder else [literal(backup)]


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
