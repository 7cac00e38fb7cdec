"""Programs that run another program, and where the other program begins among their arguments.

An option that is not in the table makes a command opaque, because its value might be the program.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lsp_harness.permission.shell.git_reading import (
    ANY_PROGRAM_OPTIONS,
    COMMANDS,
    OPTIONS_WITH_VALUE,
    PROGRAM_OPTIONS,
)
from lsp_harness.permission.shell.interpreters import INTERPRETERS, STREAM_FILE, interpreter_reason
from lsp_harness.permission.shell.option_reading import (
    matches_option,
    may_become_option,
    parse_options,
    read_arguments,
)
from lsp_harness.permission.shell.reader_table import AWK, SED
from lsp_harness.permission.shell.readers import Reader, find_exec_end
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord, TextSource, literal


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A program that runs another one.

    Attributes:
        flags: Options without a value.
        values: Options with a value.
        positionals: How many words stand before the program.
        takes_assignments: Whether assignments may stand before the program.
        needs_permission: Whether the wrapper itself needs a permission, because it gives rights to the program.
        adds_arguments: Whether it gives the program further arguments that nobody sees.
        is_shell_text: Whether the rest is joined and given to a shell.
    """

    flags: str = ""
    values: str = ""
    positionals: int = 0
    takes_assignments: bool = False
    needs_permission: bool = False
    adds_arguments: bool = False
    is_shell_text: bool = False


WRAPPERS: Mapping[str, Wrapper] = {
    "sudo": Wrapper(
        "-n -E -H -S -k -K -b -A -P --non-interactive --preserve-env --set-home --stdin --background",
        "-u -g -p -C -T -r -t -U -h --user --group --prompt --host",
        takes_assignments=True,
        needs_permission=True,
    ),
    "doas": Wrapper("-n -L", "-u -C -a", needs_permission=True),
    # without a part of its environment, git would start the programs of a repository
    "env": Wrapper("-0 -v --null --debug", takes_assignments=True),
    "timeout": Wrapper("--foreground --preserve-status -v --verbose -p -f", "-k -s --kill-after --signal", 1),
    "nice": Wrapper("", "-n --adjustment"),
    "ionice": Wrapper("-t --ignore", "-c -n --class --classdata"),
    "chrt": Wrapper("-b -f -i -o -r -R -v", "-T -P -D", 1),
    "taskset": Wrapper("-a -c", "", 1),
    "nohup": Wrapper(),
    "setsid": Wrapper("-c -f -w --ctty --fork --wait"),
    "stdbuf": Wrapper("", "-i -o -e --input --output --error"),
    "unbuffer": Wrapper("-p"),
    # as a word of the grammar it may stand before assignments
    "time": Wrapper("-p -v --portability --verbose", "-f --format", takes_assignments=True),
    "command": Wrapper("-p"),
    "builtin": Wrapper(),
    # with `-a` a program gets another name, and some are other programs then; `-c` is `env -i`
    "exec": Wrapper("-l"),
    "xargs": Wrapper(
        "-0 -r -t -p -x --null --no-run-if-empty --verbose --exit -o --open-tty",
        "-n -P -L -s -d -E -I --max-args --max-procs --max-chars --delimiter",
        adds_arguments=True,
    ),
    "watch": Wrapper(
        "-b -c -d -e -g -p -t -w -x --beep --color --differences --errexit --chgexit --precise --no-title",
        "-n -q --interval",
        is_shell_text=True,
    ),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    **dict.fromkeys(
        ("i386", "linux32", "linux64", "x86_64", "uname26", "i486", "i586", "i686", "aarch64", "armv7l"),
        Wrapper(
            "-B -F -I -L -R -S -T -X -Z -v --32bit --fdpic-funcptrs --short-inode --addr-compat-layout "
            "--addr-no-randomize --whole-seconds --sticky-timeouts --read-implies-exec --mmap-page-zero --3gb --4gb "
            "--uname-2.6 --verbose"
        ),
    ),
    "caffeinate": Wrapper("-d -i -m -s -u", "-t -w"),
    "catchsegv": Wrapper(),
}
RUNNERS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("npx", "bunx", "uvx", "pnpx"), frozenset({""})),
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mamba", "pixi"), frozenset({"run"})),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), frozenset({"exec", "x", "dlx"})),
    **dict.fromkeys(("bundle", "pyenv", "rbenv", "asdf", "mise", "direnv", "devbox"), frozenset({"exec", "x"})),
    "pipx": frozenset({"run"}),
}
"""Program → its first arguments after which another program follows. Both need a permission."""
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "rbash", "mksh", "yash"})
SHELL_FLAGS = re.compile(r"-[eufxvnlpam]*c[eufxvlpam]*$")
"""Matches an option of a shell whose next word is a script. With `-i`, aliases count."""
SHELL_OPTIONS = re.compile(r"-[eufxvnlpam]+$|--(?:login|norc|noprofile|posix|verbose)$")
SHELL_SETTINGS = frozenset({"errexit", "nounset", "pipefail", "noclobber", "xtrace", "verbose"})
"""Values of `-o` with which a shell reads a script as usual."""
OPAQUE_PROGRAMS: Mapping[str, str] = {
    **dict.fromkeys(("eval", "source", ".", "trap", "coproc"), "runs a text as a script"),
    **dict.fromkeys(("alias", "unalias", "enable", "hash", "function"), "changes what a name means"),
    **dict.fromkeys(
        ("bind", "complete", "compgen", "mapfile", "readarray", "fc", "shopt"), "may run a text as a script"
    ),
    **dict.fromkeys(("ssh", "mosh", "rsh", "slogin", "sshpass", "telnet"), "runs a command on another machine"),
    **dict.fromkeys(("parallel", "script", "expect", "entr", "flock", "at", "batch", "tmux", "screen"), "runs a text"),
    **dict.fromkeys(
        ("su", "runuser", "pkexec", "chroot", "unshare", "nsenter", "machinectl", "setpriv", "capsh", "gosu"),
        "runs with other rights",
    ),
    **dict.fromkeys(
        ("docker", "podman", "kubectl", "nerdctl", "lxc", "systemd-run", "bwrap"), "may run another program"
    ),
    **dict.fromkeys(("strace", "ltrace", "gdbserver", "valgrind", "perf", "rr", "proot", "fakeroot"), "runs a program"),
    **dict.fromkeys(
        ("prlimit", "numactl", "cpulimit", "choom", "setarch", "linux32", "linux64", "faketime", "xvfb-run", "tini"),
        "runs a program",
    ),
    **dict.fromkeys(
        ("dbus-run-session", "torsocks", "proxychains", "firejail", "hyperfine", "chronic", "ifne", "sg"),
        "runs a program",
    ),
    **dict.fromkeys(
        ("ld.so", "ld-linux.so.2", "ld-linux-x86-64.so.2", "run-parts", "start-stop-daemon"), "runs a program"
    ),
    **dict.fromkeys(("vim", "vi", "ex", "nvim", "emacs", "ed", "view", "nano"), "is an editor that can run commands"),
    **dict.fromkeys(("crontab", "socat", "nc", "ncat", "netcat"), "may run commands later or elsewhere"),
    **dict.fromkeys(("m4", "dc", "sqlite3", "psql", "mysql", "mariadb", "mongosh"), "runs a text as a script"),
}
"""Program → why nobody can see what it does."""
READABLE_DOCKER = frozenset({"ps", "images", "logs", "version", "info", "inspect", "get", "describe", "top", "stats"})
CHANGING_SED = replace(SED, options=f"{SED.options} -i? --in-place?")
"""sed as it changes files, but runs no commands and writes no others."""
SCRIPT_READERS: Mapping[str, Reader] = {
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk"), AWK),
    **dict.fromkeys(("sed", "gsed"), CHANGING_SED),
}
"""Programs that run a script of their own language, and how the script and the options must look."""
TAR_OPTIONS = (
    "-cxtruAdvzjJZaphkmoOPSwWUlR -f= -C= -X= -T= -b= -N= -H= --create --extract --get --list --append --update "
    "--concatenate --diff --compare --file= --directory= --exclude= --exclude-from= --files-from= --gzip --gunzip "
    "--bzip2 --xz --zstd --lzma --lzip --lzop --auto-compress --verbose --strip-components= --transform= --xform= "
    "--owner= --group= --mode= --mtime= --sort= --format= --same-owner --no-same-owner --keep-old-files "
    "--keep-newer-files --skip-old-files --overwrite --one-top-level? --wildcards --no-wildcards --no-recursion "
    "--recursion --null --to-stdout --totals --dereference --hard-dereference --absolute-names --numeric-owner "
    "--preserve-permissions --same-permissions --no-same-permissions --exclude-vcs --exclude-vcs-ignores "
    "--exclude-caches --touch --warning= --show-transformed-names --utc --full-time --ignore-failed-read "
    "--remove-files --unlink-first --one-file-system --anchored --no-anchored --sparse --xattrs --acls --selinux "
    "--newer= --newer-mtime= --index-file= --verify --delete --label= --block-number --ignore-zeros"
)
"""Options with which `tar` starts no program but those that compress."""
EXECUTING_OPTIONS: Mapping[str, str] = {
    "jobs": r"-x",
    "rg": r"--pre\b|--pre=|--hostname-bin",
    "fd": r"-x|-X|--exec",
    "fdfind": r"-x|-X|--exec",
    "sort": r"--compress-program",
    "rsync": r"-e|--rsh|--rsync-path",
    "scp": r"-S|-o|-D",
    "sftp": r"-S|-o|-D|-b",
    "man": r"-P|--pager|-H|--html",
    "less": r"\+|-[oOkp]|--",
    "zip": r"-TT|--unzip-command",
    "split": r"--filter",
    "wget": r"--use-askpass|--execute|-e",
    "curl": r"-K|--config",
    "dpkg": r"--pre-invoke|--post-invoke",
    "apt": r"-o|--option",
    "apt-get": r"-o|--option",
    "make": r"--eval|-$|-f-|--(?:make)?file=(?:-|/dev/)|/dev/",
    "ctags": r"--options",
    "install": r"--strip-program",
    "gcc": r"-wrapper|-fplugin|-B|@|--?specs|-Wl,.*plugin|-Xlinker",
    "g++": r"-wrapper|-fplugin|-B|@|--?specs|-Wl,.*plugin|-Xlinker",
    "cc": r"-wrapper|-fplugin|-B|@|--?specs|-Wl,.*plugin|-Xlinker",
    "clang": r"-fplugin|-Xclang|-B",
    "ld": r"--plugin",
    "nm": r"--plugin",
    "cmake": r"-E|-P",
}
"""Program → options that name a program or a text to run."""


GIT_RUNNERS = frozenset(
    {
        ("bisect", "run"),
        ("submodule", "foreach"),
        ("filter-branch",),
        ("hook",),
        ("difftool",),
        ("mergetool",),
    }
    | {("send-email",), ("daemon",), ("instaweb",), ("for-each-repo",), ("maintenance",), ("gui",), ("citool",)}
)
REMOTE_COMMANDS = frozenset({"fetch", "pull", "push", "ls-remote", "fetch-pack", "send-pack"})
"""Subcommands that start a program for another repository."""
HARMLESS_GIT_KEYS = re.compile(
    r"(user\.(name|email)|color\.\w+|init\.defaultbranch|pull\.(rebase|ff)|push\.(default|autosetupremote)|"
    r"core\.(autocrlf|filemode|ignorecase|longpaths|quotepath)|branch\.[\w./-]+\.(remote|merge|rebase))$",
    re.IGNORECASE,
)
"""Settings of git that name no program."""


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The program that a wrapper runs.

    Attributes:
        words: The program and its arguments.
        opaque: Why it cannot be seen, or empty.
        assignments: Variables that the wrapper sets.
        is_shell_text: Whether the words are joined and given to a shell.
    """

    words: tuple[ShellWord, ...] = ()
    opaque: str = ""
    assignments: tuple[tuple[str, ShellWord], ...] = ()
    is_shell_text: bool = False


def base_name(program: str) -> str:
    """Return the name of a program without its folder."""
    return program.rstrip("/").rsplit("/", 1)[-1]


def unwrap(name: str, words: Sequence[ShellWord]) -> Unwrapped | None:
    """Return what a wrapper runs, or None if the program is no wrapper.

    Args:
        name: The name of the program, without its folder.
        words: The program and its arguments.
    """
    if name in ("busybox", "toybox") and len(words) > 1 and words[1].text.startswith("-"):
        return None
    if name == "command" and len(words) > 1 and words[1].text in ("-v", "-V"):
        return None
    wrapper = WRAPPERS.get(name)
    if wrapper is None:
        return None
    flags, values = set(wrapper.flags.split()), set(wrapper.values.split())
    position = 1
    while position < len(words):
        text = words[position].text
        if not words[position].is_known:
            return Unwrapped(opaque=f"an argument of {name} is not known")
        if text == "--":
            position += 1
            break
        if text in flags:
            position += 1
        elif text in values:
            position += 2
        elif _has_joined_value(text, values) or (name == "nice" and re.fullmatch(r"-\d+|--?\d+", text)):
            position += 1
        elif text.startswith("-") and len(text) > 1:
            if len(text) > 2 and text[1] != "-" and all(f"-{letter}" in flags for letter in text[1:]):
                position += 1
                continue
            return Unwrapped(opaque=f"{name} has the option {text}")
        else:
            break
    assignments = list[tuple[str, ShellWord]]()
    while wrapper.takes_assignments and position < len(words):
        match = re.match(r"([^=]*)=(.*)$", words[position].text, re.DOTALL)
        if not match:
            break
        assignments.append((match[1], literal(match[2])))
        position += 1
    rest = tuple(words[position + wrapper.positionals :])
    if wrapper.adds_arguments:
        rest = _add_arguments(words[1:position], rest or (literal("echo"),))
    return Unwrapped(rest, "", tuple(assignments), wrapper.is_shell_text)


def _add_arguments(options: Sequence[ShellWord], command: Sequence[ShellWord]) -> tuple[ShellWord, ...]:
    """Return the command of `xargs` with a word for the arguments that it adds, or puts in place of a sign."""
    texts = [word.text for word in options]
    # with other options, it makes other words of its input
    is_plain = all(re.fullmatch(r"-[0rt]+|-[nP]\d*|\d+|-I.*|\W+|--", text) for text in texts)
    added = ShellWord(UNKNOWN, UNKNOWN, sources=(TextSource("added"),) if is_plain else ())
    for place, text in enumerate(texts):
        if match := re.match(r"-I(.*)$|--replace(?:=(.*))?$", text):
            sign = match[1] or match[2] or (texts[place + 1] if text == "-I" and place + 1 < len(texts) else "{}")
            other = ShellWord(UNKNOWN, UNKNOWN)
            return tuple(added if word.text == sign else other if sign in word.text else word for word in command)
    return (*command, added)


def _has_joined_value(text: str, values: set[str]) -> bool:
    """Return whether an option and its value are one word, such as `-n10` or `--signal=KILL`."""
    if text.startswith("--"):
        return "=" in text and text.split("=", 1)[0] in values
    return len(text) > 2 and text[:2] in values


def shell_script(words: Sequence[ShellWord]) -> ShellWord | Literal["hidden", "file"]:
    """Return the word with the script of `-c`, "file" if a shell runs a file, or "hidden" if nobody sees its script."""
    position, has_script = 1, False
    while position < len(words):
        word = words[position]
        if not word.is_known:
            return "hidden"
        if SHELL_FLAGS.match(word.text):
            # further options may stand between it and the script
            has_script = True
            position += 1
        elif word.text in ("-o", "+o") and position + 1 < len(words) and words[position + 1].text in SHELL_SETTINGS:
            position += 2
        elif SHELL_OPTIONS.match(word.text):
            position += 1
        elif word.text.startswith(("-", "+")) or (not has_script and STREAM_FILE.fullmatch(word.text)):
            return "hidden"
        else:
            return word if has_script else "file"
    return "hidden"


def inner_commands(name: str, words: Sequence[ShellWord]) -> list[tuple[ShellWord, ...]]:
    """Return the commands in the arguments of a program: after `find -exec`, or of a runner such as `uv run`."""
    if (start := _runner_start(name, words)) and start < len(words):
        return [tuple(words[start:])]
    if name != "find":
        return []
    commands, position = list[tuple[ShellWord, ...]](), 1
    while position < len(words):
        if words[position].text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = find_exec_end(words, position + 1, is_ok=words[position].text.startswith("-ok"))
            inner = words[position + 1 : end]
            start = next(
                (place for place, word in enumerate(words[1:], 1) if re.match(r"[-!(]", word.text)), len(words)
            )
            roots = [word.text for word in words[1:start]] or ["."]
            found = TextSource("files", "\0".join(roots))
            is_clear = not words[position].text.endswith("dir") and not any(UNKNOWN in root for root in roots)
            files = ShellWord(UNKNOWN, UNKNOWN, sources=(found,) if is_clear else ())
            other = ShellWord(UNKNOWN, UNKNOWN)
            commands.append(
                tuple(files if word.text == "{}" else other if "{}" in word.text else word for word in inner)
            )
            position = end
        position += 1
    return commands


def _runner_start(name: str, words: Sequence[ShellWord]) -> int:
    """Return the place of the program that a runner runs; 0 if it runs none."""
    subcommands = RUNNERS.get(name, frozenset())
    start = 1
    if "" not in subcommands:
        if len(words) < 2 or words[1].text not in subcommands:
            return 0
        start = 2
    return start + 1 if start < len(words) and words[start].text == "--" else start if subcommands else 0


def _hides_subcommand(name: str, words: Sequence[ShellWord]) -> bool:
    """Return whether a runner may run a program, but options or other words stand before its subcommand."""
    first = words[1].text if len(words) > 1 else ""
    subcommands = RUNNERS.get(name, frozenset()) - {""}
    return first.startswith(("-", "workspace")) and any(word.text in subcommands for word in words[2:])


def opaque_reason(name: str, words: Sequence[ShellWord]) -> str:
    """Return why nobody can see what a program does; empty if its words say it."""
    arguments = [word.text for word in words[1:]]
    if name in ("docker", "podman", "kubectl") and arguments and arguments[0] in READABLE_DOCKER:
        return ""
    if reason := OPAQUE_PROGRAMS.get(name):
        return f"{name} {reason}"
    if _hides_subcommand(name, words):
        return f"{name} has options before the command that it runs"
    start = _runner_start(name, words)
    if start and start < len(words) and (words[start].text.startswith("-") or not words[start].is_known):
        # the value of an option might be the program
        return f"{name} has the option {words[start].text}"
    if INTERPRETERS.match(name):
        return interpreter_reason(name, words)
    if name in SCRIPT_READERS and (problem := SCRIPT_READERS[name].read(words[1:]).problem):
        return f"{name}: {problem}"
    if name == "git":
        return _git_reason(words[1:])
    if name == "tar":
        return _tar_reason(words[1:])
    if pattern := EXECUTING_OPTIONS.get(name):
        return _option_reason(name, pattern, words[1:])
    return ""


def _tar_reason(words: Sequence[ShellWord]) -> str:
    """Return which option of `tar` may run another program; empty if none does."""
    # its options may stand in the first word without a hyphen
    is_cluster = bool(words) and words[0].is_known and re.fullmatch(r"[a-zA-Z]+", words[0].text) is not None
    clusters = [literal(f"-{words[0].text}")] if is_cluster else []
    rest = words[1:] if is_cluster else words
    # a text in a name is no option
    known = [word if may_become_option(word) else literal(word.text.replace(UNKNOWN, "x")) for word in rest]
    arguments = read_arguments(parse_options(TAR_OPTIONS), [*clusters, *known])
    if arguments.problem:
        return f"tar: {arguments.problem}, so it may run another program"
    archives = arguments.values("-f", "--file")
    is_remote = any(re.match(r"[^/]*:", archive) for archive in archives)
    return "tar uses an archive of another machine" if is_remote else ""


def _option_reason(name: str, pattern: str, words: Sequence[ShellWord]) -> str:
    """Return which option of a command runs another program, or may do so; empty if none does."""
    for word in words:
        if matches_option(pattern, word.text):
            return f"{name} {word.text.split('=')[0]} may run another program"
        if word.text == "--":
            return ""
        if not word.is_known and may_become_option(word):
            return f"{word.display} may become an option of {name} that runs another program"
    return ""


def _git_reason(words: Sequence[ShellWord]) -> str:
    """Return why nobody can see what git does: an option sets a program, or its subcommand is not known."""
    arguments = [word.text for word in words]
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        option = arguments[position]
        if option.startswith(("-c", "--config-env", "--exec-path=")):
            return f"git {option.split('=')[0]} may run another program"
        position += 2 if option in OPTIONS_WITH_VALUE else 1
    if position >= len(arguments):
        return ""
    subcommand, rest = arguments[position], arguments[position + 1 :]
    if subcommand not in COMMANDS:
        return f"git {subcommand.replace(UNKNOWN, '…')} may be the name of another command"
    if (subcommand, *rest[:1]) in GIT_RUNNERS or (subcommand,) in GIT_RUNNERS:
        return f"git {subcommand} runs other programs"
    if subcommand == "config" and len(rest) > 1 and not rest[0].startswith(("--get", "get", "--list", "-l", "list")):
        key = next((text for text in rest if re.match(r"[a-zA-Z][\w-]*\.", text)), "")
        if not HARMLESS_GIT_KEYS.match(key):
            return f"the setting {key or 'of git'} may name a program"
    own = PROGRAM_OPTIONS.get(subcommand)
    for word in words[position + 1 :]:
        if (own and matches_option(own.pattern, word.text)) or matches_option(ANY_PROGRAM_OPTIONS.pattern, word.text):
            return f"git {subcommand} {word.text.split('=')[0]} may run another program"
        if subcommand in (*REMOTE_COMMANDS, "clone", "remote") and re.match(r"[\w-]*::", word.text):
            return f"git {word.text.partition(':')[0]}:: starts a program for another machine"
        if word.text == "--":
            return ""
        if (own or subcommand in REMOTE_COMMANDS) and not word.is_known and may_become_option(word):
            return f"{word.display} may become an option of git {subcommand} that runs another program"
    return ""
