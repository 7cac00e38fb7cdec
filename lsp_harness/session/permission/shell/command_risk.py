"""Which simple commands only read, and which ones can do great harm. Both lists are closed: the rest is in between."""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from lsp_harness.session.permission.shell.command_parts import CommandPart
from lsp_harness.session.permission.shell.command_wrappers import GIT_OPTIONS_WITH_VALUE
from lsp_harness.syntax.shell.shell_words import UNKNOWN

Risk = Literal["low", "medium", "high"]
"""How much harm an action can do: it only reads, it changes something, or it can destroy much or cannot be seen."""
RISKS: tuple[Risk, ...] = ("low", "medium", "high")
SYSTEM_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/")

READERS: Mapping[str, str] = {
    **dict.fromkeys(
        ("pwd", "true", "false", ":", "echo", "printf", "seq", "whoami", "id", "groups", "uname", "arch"), ""
    ),
    **dict.fromkeys(("uptime", "nproc", "free", "df", "ps", "tty", "locale", "cal", "cd", "pushd", "popd", "dirs"), ""),
    **dict.fromkeys(
        ("cat", "head", "tail", "wc", "nl", "tac", "rev", "cut", "tr", "fold", "fmt", "expand", "paste"), ""
    ),
    **dict.fromkeys(("join", "comm", "cmp", "diff", "stat", "du", "ls", "dir", "vdir", "basename", "dirname"), ""),
    **dict.fromkeys(("realpath", "readlink", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "b2sum"), ""),
    **dict.fromkeys(("base64", "base32", "od", "hexdump", "strings", "column", "nm", "size", "which", "type"), ""),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "test", "[", "sleep", "jq", "numfmt", "tsort", "factor"), ""),
    "file": r"-[a-zA-Z]*C|--c",
    "date": r"-[a-zA-Z]*s|--s|-[a-zA-Z]*u?s",
    "tree": r"-[a-zA-Z]*o|--output",
    "sort": r"-[a-zA-Z]*[oT]|--o|--t|--comp",
    "find": r"-delete|-exec|-ok|-fprint|-fls",
    "fd": r"-[a-zA-Z]*[xX]|--exec",
    "awk": "",
    "gawk": r"-[a-zA-Z]*[opdD]|--",
    "mawk": r"-W",
    "sed": r"-[a-zA-Z]*[isfE]*i|--in|-[a-zA-Z]*s\b.*i|-n?i",
    "command": "",
    "ctags": r".",
}
"""Program that only reads → pattern of options with which it does not."""
ONE_FILE = frozenset({"uniq", "xxd"})
"""Programs whose second file is written."""
GIT_READERS: Mapping[str, str] = {
    **dict.fromkeys(("status", "log", "diff", "show", "blame", "shortlog", "describe", "rev-parse", "rev-list"), ""),
    **dict.fromkeys(("ls-files", "ls-tree", "cat-file", "name-rev", "merge-base", "grep", "diff-tree"), ""),
    **dict.fromkeys(("for-each-ref", "count-objects", "check-ignore", "check-attr", "whatchanged", "version"), ""),
    **dict.fromkeys(("show-ref", "cherry", "range-diff", "annotate", "diff-index", "diff-files"), ""),
}
"""Subcommands of git that only read, whatever their arguments are."""
GIT_WRITING_OPTIONS = re.compile(r"--ou|--ext|--textc|--op|--exe|-O|--filters|--no-index|--upload")
GIT_LISTS: Mapping[str, re.Pattern[str]] = {
    "branch": re.compile(
        r"(?:(?:-a|-r|-v|-vv|-av|-avv|--all|--remotes|--list|-l|--verbose|--show-current|--no-color) ?)*"
    ),
    "tag": re.compile(r"(?:(?:-n\d*|--no-color) ?)*|(?:-l|--list)(?: [^-]\S*)?"),
    "remote": re.compile(r"|-v|--verbose|get-url [^-]\S*"),
    "stash": re.compile(r"list|show(?: -p| --stat)?(?: stash@\{\d+\})?"),
    "config": re.compile(r"(?:--get|--get-all|get) [^-]\S*|--list|-l|list"),
    "reflog": re.compile(r"|show(?: [^-]\S*)?"),
    "worktree": re.compile(r"list(?: --porcelain)?"),
    "submodule": re.compile(r"|status"),
    "bisect": re.compile(r"log"),
    "notes": re.compile(r"list|show(?: [^-]\S*)?"),
}
"""Subcommand of git → the arguments with which it only lists."""
RUFF_READING = re.compile(r"check (?:--no-cache |--quiet |--select [\w,]+ |--output-format \w+ )*-")
"""The arguments with which ruff only checks its standard input."""
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
    | {"ufw", "modprobe", "insmod", "rmmod", "sysctl", "crontab", "at", "batch", "sudo", "doas", "su", "scp", "sftp"}
    | {"rclone", "aws", "gcloud", "az", "heroku", "flyctl", "history", "ulimit", "swapon", "blkdiscard", "sgdisk"}
    | {"npx", "bunx", "pnpx", "uvx"}
    | {"dropdb", "mysqladmin", "redis-cli", "ftp", "tftp", "ssh-keygen", "ssh-add", "gpg", "security", "setcap"}
)
"""Programs that need a person even in the mode `auto`. Some run code that they fetch from the network."""
DANGEROUS_OPTIONS: Mapping[str, str] = {
    "rm": r"-[a-zA-Z]*[rR]|--r|--no-preserve-root|/|\*|~|\.\.?/?$",
    "chmod": r"-[a-zA-Z]*R|--rec|[ugoa]*\+[rwx]*s|[42][0-7]{3}$|/",
    "chown": r"-[a-zA-Z]*R|--rec|/",
    "chgrp": r"-[a-zA-Z]*R|--rec|/",
    "setfacl": r"-[a-zA-Z]*R|--rec",
    "kill": r"-9|-KILL|-SIGKILL|-1$|-s$|-0?$",
    "find": r"-delete",
    "mv": r"/",
    "cp": r"/dev/",
    "tee": r"/dev/|/etc/|~",
    "rsync": r"--delete|--remove-source|.*:",
    "curl": r"-[a-zA-Z]*[dFTX]|--data|--form|--upload|--request|--json",
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
    "push": r"-[a-zA-Z]*[fd]|--force|--mirror|--delete|--prune|--tags|\+|:",
    "reset": r"--hard|--merge|--keep",
    "clean": r"-[a-zA-Z]*[fxX]|--force",
    "checkout": r"-[a-zA-Z]*f|--force|--$|\.$",
    "switch": r"-[a-zA-Z]*[fC]|--force|--discard|--force-create",
    "restore": r"\.$|:/|--worktree|--source",
    "branch": r"-[a-zA-Z]*[DdMfC]|--delete|--force|--move",
    "tag": r"-[a-zA-Z]*[df]|--delete|--force",
    "stash": r"drop$|clear$|pop$",
    "remote": r"add$|set-url$|remove$|rm$|rename$",
    "worktree": r"remove$|prune$",
    "reflog": r"expire$|delete$",
    "gc": r"--prune|--aggressive",
    "rebase": r"-[a-zA-Z]*x|--exec",
    "bisect": r"run$",
    "submodule": r"foreach$|add$|update$",
    "update-ref": r".*",
    "filter-branch": r".*",
    "filter-repo": r".*",
    "config": r".*",
    "send-email": r".*",
    "daemon": r".*",
    "difftool": r".*",
    "mergetool": r".*",
}


def command_risk(part: CommandPart) -> Risk:
    """Return how much harm a simple command can do, as its words say."""
    if part.opaque:
        return "high"
    if part.is_wrapper:
        return "low"
    if is_dangerous(part):
        return "high"
    return "low" if is_read_only(part) else "medium"


def split_git(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Return the subcommand of git and its arguments. The subcommand is empty if it cannot be told."""
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        option = arguments[position]
        if option in GIT_OPTIONS_WITH_VALUE:
            position += 2
        elif option in ("--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs") or "=" in option:
            position += 1
        else:
            return "", list(arguments)
    return (arguments[position], list(arguments[position + 1 :])) if position < len(arguments) else ("", [])


def is_read_only(part: CommandPart) -> bool:
    """Return whether a command only reads, so that it needs no permission for itself. Its files are not judged here."""
    program, arguments = part.words[0].text, [word.text for word in part.words[1:]]
    if "/" in program and not (program.startswith(SYSTEM_FOLDERS) and program.count("/") <= 4):
        return False
    if any(UNKNOWN in word.text for word in part.words):
        return False
    name = part.name
    if VERSION_PROGRAMS.match(name) and arguments in (["--version"], ["-V"], ["--help"]):
        return True
    if name == "git":
        return _git_only_reads(arguments)
    if name in ONE_FILE:
        files = [text for text in arguments if not text.startswith("-") and not text.isdigit()]
        return len(files) <= 1 and not any(re.match(r"-[a-z]*r|--r", text) for text in arguments if name == "xxd")
    if name == "ruff":
        return RUFF_READING.fullmatch(" ".join(arguments)) is not None
    if name == "ty":
        # the language server of a type checker, which reads files and runs none of them
        return arguments == ["server"]
    if name == "hostname":
        return not arguments
    if name == "command":
        return bool(arguments) and arguments[0] in ("-v", "-V")
    if name in ("sed", "gsed"):
        return not any(re.match(r"-[a-zA-Z]*i|--in", text) for text in arguments)
    writing = READERS.get(name)
    if writing is None:
        return False
    return not (writing and any(re.match(writing, text) for text in arguments))


def _git_only_reads(arguments: Sequence[str]) -> bool:
    if any(text.startswith(("--git-dir", "--work-tree", "--namespace", "--super-prefix")) for text in arguments):
        return False
    subcommand, rest = split_git(arguments)
    if any(GIT_WRITING_OPTIONS.match(text) for text in rest):
        return False
    if subcommand in GIT_LISTS:
        return GIT_LISTS[subcommand].fullmatch(" ".join(rest)) is not None
    return subcommand in GIT_READERS


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
        if subcommand in GIT_LISTS and GIT_LISTS[subcommand].fullmatch(" ".join(rest)):
            return False
        pattern = DANGEROUS_GIT.get(subcommand)
        return bool(pattern) and (pattern == ".*" or any(re.match(pattern, text) for text in rest))
    pattern = DANGEROUS_OPTIONS.get(name)
    return bool(pattern) and any(re.match(pattern, text) for text in arguments)
