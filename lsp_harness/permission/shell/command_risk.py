"""The simple commands that can do great harm, and how much harm the others can do."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from lsp_harness.permission.shell.command_parts import CommandPart, is_found_by_name
from lsp_harness.permission.shell.command_wrappers import (
    EXECUTING_OPTIONS,
    INTERPRETERS,
    OPAQUE_PROGRAMS,
    RUNNERS,
    WRAPPERS,
)
from lsp_harness.permission.shell.git_reading import LISTS, judge_git, split_git
from lsp_harness.permission.shell.option_reading import matches_option
from lsp_harness.permission.shell.reader_table import READERS, judge_reader
from lsp_harness.permission.shell.readers import Reading
from lsp_harness.syntax.shell.shell_words import ShellWord, literal

Risk = Literal["low", "medium", "high"]
"""How much harm an action can do: it only reads, it changes something, or it can destroy much or cannot be seen."""
RISKS: tuple[Risk, ...] = ("low", "medium", "high")

RUFF_READING = re.compile(r"check (?:--no-cache |--quiet |--select [\w,]+ |--output-format \w+ )*-")
"""The arguments with which ruff only checks its standard input."""
VERSION_WORDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "python",
            "pypy",
            "pip",
            "lua",
            "gcc",
            "g++",
            "clang",
            "cmake",
            "make",
            "uv",
            "ruff",
            "jq",
            "curl",
            "rg",
        ),
        ("--version",),
    ),
    **dict.fromkeys(("node", "npm", "ruby", "perl", "php"), ("--version", "-v")),
    **dict.fromkeys(("bash", "docker", "tsc", "git"), ("--version",)),
    "java": ("-version", "--version"),
}
"""Program → the arguments with which it only prints its version. Others look for settings in the folder first, as
pytest does, which runs `conftest.py`."""
VERSION_PROGRAMS = re.compile(
    r"(python|pypy|node|ruby|perl|php|lua|go|cargo|rustc|gcc|g\+\+|clang|cmake|make|npm|npx|yarn|pnpm|pip|uv|ruff|pytest|"
    r"git|java|javac|mvn|gradle|dotnet|docker|bash|tsc|deno|bun|mypy|pyright|black|terraform)[\d.]*$"
)
DANGEROUS = frozenset(
    {
        "dd",
        "fdisk",
        "sfdisk",
        "parted",
        "wipefs",
        "shred",
        "mkswap",
        "swapoff",
        "mount",
        "umount",
        "losetup",
        "truncate",
    }
    | {"cryptsetup", "lvremove", "vgremove", "pvremove", "zpool", "zfs", "btrfs", "shutdown", "reboot", "halt"}
    | {"poweroff", "init", "telinit", "systemctl", "service", "launchctl", "killall", "pkill", "killall5", "chattr"}
    | {"useradd", "userdel", "usermod", "groupadd", "passwd", "chpasswd", "visudo", "iptables", "ip6tables", "nft"}
    | {
        "ufw",
        "modprobe",
        "insmod",
        "rmmod",
        "sysctl",
        "crontab",
        "at",
        "batch",
        "sudo",
        "sudoedit",
        "doas",
        "su",
        "scp",
        "sftp",
    }
    | {"rclone", "aws", "gcloud", "az", "heroku", "flyctl", "history", "ulimit", "swapon", "blkdiscard", "sgdisk"}
    | {"npx", "bunx", "pnpx", "uvx"}
    | {"dropdb", "mysqladmin", "redis-cli", "ftp", "tftp", "ssh-keygen", "ssh-add", "gpg", "security", "setcap"}
)
"""Programs that need a person even in the mode `auto`. Some run code that they fetch from the network."""
DANGEROUS_OPTIONS: Mapping[str, str] = {
    "rm": r"-[a-zA-Z0-9]*[rR]|--r|--no-preserve-root|/|\*|~|\.\.?/?$",
    "chmod": r"-[a-zA-Z0-9]*R|--rec|[ugoa,=+rwx-]*s|0*[2467][0-7]{3}$|/",
    "chown": r"-[a-zA-Z0-9]*R|--rec|/",
    "chgrp": r"-[a-zA-Z0-9]*R|--rec|/",
    "setfacl": r"-[a-zA-Z0-9]*R|--rec",
    "kill": r"-(?i:9|s?.*kill|1$|s|n|0?$)",
    "find": r"-delete|-ok",
    "go": r".*@",
    "mv": r"/",
    "cp": r"/dev/",
    "tee": r"/dev/|/etc/|~",
    "rsync": r"--delete|--remove-source|.*:",
    "curl": r"-[a-zA-Z0-9]*[dFTX]|--data|--form|--upload|--request|--json|--url-query|.*@",
    "wget": r"--post|--method|--body|--input",
    "npm": r"exec$|x$|create$|publish$|unpublish$|login$|token$|access$|deprecate$|owner$",
    "yarn": r"dlx$|create$|publish$|login$",
    "pnpm": r"dlx$|create$|publish$|login$",
    "bun": r"x$|create$",
    "pipx": r"run$",
    "deno": r"https?:|npm:|jsr:",
    "cargo": r"publish$|login$|yank$|owner$",
    "gem": r"push$|yank$|signin$",
    "twine": r"upload$|register$",
    "uv": r"publish$|tool$",
    "poetry": r"publish$",
    "hatch": r"publish$",
    "gh": r"delete$|merge$|secret$|auth$|api$|close$|release$|transfer$|archive$",
    "terraform": r"apply$|destroy$|import$|state$",
    "vercel": r".*",
    "netlify": r".*",
    "make": r"(dist)?clean|install|deploy|publish|release",
}
"""Program → pattern of the arguments with which it needs a person."""
DANGEROUS_GIT: Mapping[str, str] = {
    "push": r"-[a-zA-Z0-9]*[fd]|--force|--mirror|--delete|--prune|--tags|\+|:",
    "reset": r"--hard|--merge|--keep",
    "clean": r"-[a-zA-Z0-9]*[fxX]|--force",
    "checkout": r"-[a-zA-Z0-9]*f|--force|--$|\.$",
    "switch": r"-[a-zA-Z0-9]*[fC]|--force|--discard|--force-create",
    "restore": r"\.$|:/|--worktree|--source",
    "branch": r"-[a-zA-Z0-9]*[DdMfC]|--delete|--force|--move",
    "tag": r"-[a-zA-Z0-9]*[df]|--delete|--force",
    "stash": r"drop$|clear$|pop$",
    "remote": r"add$|set-url$|remove$|rm$|rename$",
    "worktree": r"remove$|prune$",
    "reflog": r"expire$|delete$",
    "gc": r"--prune|--aggressive",
    "rebase": r"-[a-zA-Z0-9]*x|--exec",
    "bisect": r"run$",
    "submodule": r"foreach$|add$|update$",
    "update-ref": r".*",
    "filter-branch": r".*",
    "filter-repo": r".*",
    "rm": r"-[a-zA-Z0-9]*r|-[a-zA-Z0-9]*f|--force",
    "read-tree": r"--reset|-u|-m",
    "checkout-index": r"-[a-zA-Z0-9]*f|--force",
    "config": r".*",
    "send-email": r".*",
    "daemon": r".*",
    "difftool": r".*",
    "mergetool": r".*",
}


KNOWN_PROGRAMS = frozenset(
    {"rm", "rmdir", "unlink", "mkdir", "touch", "tee", "truncate", "mv", "chmod", "chown", "chgrp", "shred"}
    | {"mkfifo", "mknod", "chattr", "setfacl", "patch", "sponge", "cp", "ln", "install", "rsync", "link"}
    | {"curl", "wget", "tar", "zip", "unzip", "gzip", "gunzip", "bzip2", "xz", "zstd", "7z", "make", "cmake"}
    | {"ninja", "meson", "cc", "c++", "g++", "gcc", "clang", "clang-format", "clang-tidy", "ld", "ar"}
    | {"as", "rustfmt", "clippy-driver", "gofmt", "golangci-lint", "pytest"}
    | {"mypy", "pyright", "ty", "black", "isort", "flake8", "pylint", "ruff"}
    | {"sphinx-build", "mkdocs", "alembic", "eslint", "prettier", "tsc", "jest", "vitest", "mocha", "webpack"}
    | {"vite", "rollup", "esbuild", "rake", "rspec", "rubocop", "jekyll"}
    | {"rebar3", "sbt", "lein", "zig", "dub", "nim", "swift", "swiftc", "xcodebuild"}
    | {"kotlinc", "javac", "jar", "msbuild", "nuget"}
    | {"kubectl", "kustomize", "aws", "gcloud"}
    | {"az", "heroku", "flyctl", "vercel", "netlify", "createdb", "redis-cli", "mongo", "openssl", "gpg"}
    | {"ffmpeg", "convert", "pandoc", "dot", "protoc", "buf", "thrift", "code", "subl", "open", "xdg-open"}
    | {"date", "sleep", "export", "declare", "typeset", "local", "readonly", "read", "set", "unset", "shift"}
    | {"umask", "wait", "jobs", "fg", "bg", "kill", "exit", "return", "break", "continue", "getopts"}
    | {"mapfile", "readarray", "let", "shopt"}
)
"""Programs and builtins that are in no other list and start no program which their words name."""
SHELL_NAME = re.compile(r"(ba|da|z|k|a|c|tc|mk|fi)?sh$")


def command_risk(part: CommandPart) -> Risk:
    """Return how much harm a simple command can do, as its words say."""
    if part.opaque:
        return "high"
    if part.is_wrapper:
        return "low"
    if is_dangerous(part) or may_run_dangerous(part):
        return "high"
    return "low" if is_read_only(part) else "medium"


@lru_cache(maxsize=256)
def judge_reading(part: CommandPart) -> Reading:
    """Return what a command reads, or why it does not only read, so that it needs a permission for itself."""
    program = part.words[0].text
    if not is_found_by_name(program):
        return Reading(problem="the program is not one of the system")
    first, *others = part.variants or (part.words,)
    found = _judge_words(part.name, first[1:])
    for words in others:
        found = found.join(_judge_words(part.name, words[1:]))
    return found


def _judge_words(name: str, words: Sequence[ShellWord]) -> Reading:
    arguments = [word.text for word in words]
    if shows_version(name, arguments):
        return Reading()
    if name == "git":
        return judge_git(words)
    if name == "ruff":
        is_reading = RUFF_READING.fullmatch(" ".join(arguments)) is not None
        return Reading(problem="" if is_reading else "ruff may change files")
    if name == "ty":
        # the language server of a type checker, which reads files and runs none of them
        return Reading(problem="" if arguments == ["server"] else "ty is not known to only read")
    return judge_reader(name, words) or Reading(problem=f"{name} is not known to only read")


def shows_version(name: str, arguments: Sequence[str]) -> bool:
    """Return whether a command only prints the version of a program that reads no file of the folder for that."""
    return " ".join(arguments) in VERSION_WORDS.get(name.rstrip("0123456789."), ())


def is_read_only(part: CommandPart) -> bool:
    """Return whether a command only reads, so that it needs no permission for itself. Its files are not judged here."""
    return not judge_reading(part).problem


def is_known_program(name: str) -> bool:
    """Return whether a program is known by its name, so that it starts no other one which its words name."""
    return (
        name in READERS
        or name in KNOWN_PROGRAMS
        or name in DANGEROUS
        or name in DANGEROUS_OPTIONS
        or name in OPAQUE_PROGRAMS
        or VERSION_PROGRAMS.match(name) is not None
        or INTERPRETERS.match(name) is not None
        or name in RUNNERS
        or name in WRAPPERS
        or name in EXECUTING_OPTIONS
    )


def list_inner_commands(part: CommandPart) -> list[CommandPart]:
    """Return the commands that an unknown program may run: each word may be the name of another program."""
    program = part.words[0].text if part.words else ""
    if not program or (is_known_program(part.name) and is_found_by_name(program)) or program.startswith((".", "~")):
        # a program of the workspace does what it likes
        return []
    found = list[CommandPart]()
    for place, word in enumerate(part.words[1:], 1):
        # a program may be the value of an option, too
        text = word.text.partition("=")[2] if word.text.startswith("-") else word.text
        if re.match(r"[\w./]", text):
            found.append(CommandPart((word if text == word.text else literal(text), *part.words[place + 1 :])))
    return found


def may_run_dangerous(part: CommandPart) -> bool:
    """Return whether an unknown program may run a dangerous command that its words name."""
    return any(is_dangerous(inner) or SHELL_NAME.match(inner.name) for inner in list_inner_commands(part))


def is_dangerous(part: CommandPart) -> bool:
    """Return whether a command needs a person even in the mode `auto`."""
    name, arguments = part.name.lower(), [word.text for word in part.words[1:]]
    if name in DANGEROUS or name.startswith(("mkfs", "mke2fs", "newfs")):
        return not (name in ("mount", "ulimit", "history") and not arguments)
    if any(re.match(r"(of=)?/dev/(?!null|stdout|stderr|stdin|tty|fd/)", text) for text in arguments):
        return True
    if name == "git":
        subcommand, rest = split_git(arguments)
        if not subcommand and arguments:
            return arguments not in (["--version"], ["--help"], ["-v"], ["-h"])
        if subcommand in LISTS and LISTS[subcommand].fullmatch(" ".join(rest)):
            return False
        pattern = DANGEROUS_GIT.get(subcommand)
        return bool(pattern) and (pattern == ".*" or any(matches_option(pattern, text) for text in rest))
    pattern = DANGEROUS_OPTIONS.get(name)
    return bool(pattern) and any(matches_option(pattern, text) for text in arguments)
