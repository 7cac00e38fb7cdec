"""Reads the scripts of a package for node: which program runs its tests, with which options, files and variables."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any

SCRIPT = "test"
NODE_OPTIONS = "NODE_OPTIONS"
"""The variable with options of node, for programs that node runs."""
SEPARATORS = ";&|"
"""The letters of which the words between two commands are made."""
OUTPUT = re.compile(r"\$\([^()]*\)|`[^`]*`")
"""The output of another command, whose words only a shell knows."""
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=[^$`]*")
MANAGERS = ("npm", "yarn", "pnpm", "bun")
SEVERAL_SCRIPTS = ("run-s", "run-p", "npm-run-all", "npm-run-all2")
MAX_SCRIPTS = 20
"""Most scripts that are followed from the first one."""


@dataclass(frozen=True, slots=True)
class ProgramOptions:
    """The options of a program. Names are without dashes and in small letters, but those of one letter stay.

    Attributes:
        valued: Those that take the next word.
        dropped: Beginnings of those that are left out: reports, limits, and what waits for changes.
        words: Words that are commands and not files.
        greedy: Those that take all words up to the next option.
    """

    valued: frozenset[str]
    dropped: tuple[str, ...]
    words: frozenset[str] = frozenset()
    greedy: frozenset[str] = frozenset()

    def split(self, words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the options and the files among the words after a program."""
        kept: list[str] = []
        files: list[str] = []
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word == "--":
                continue
            if not word.startswith("-"):
                if word not in self.words:
                    files.append(word)
                continue
            name, has_value, _ = word.partition("=")
            name = name.lstrip("-") if not name.startswith("--") else name[2:].replace("-", "").lower()
            found = [word]
            if not has_value and name in self.valued and rest:
                found.append(rest.pop(0))
            while name in self.greedy and rest and not rest[0].startswith("-"):
                found.append(rest.pop(0))
            is_dropped = any(name == start or (len(start) > 1 and name.startswith(start)) for start in self.dropped)
            if not is_dropped:
                kept += found
        return tuple(kept), tuple(files)


_NODE_VALUED = """
import require r loader experimentalloader C conditions envfile testnamepattern testtimeout tsconfig testconcurrency
testreporter testreporterdestination
"""
_VITEST_VALUED = """
config c root r dir environment mode pool project t testnamepattern exclude testtimeout shard reporter outputfile bail
coverage.provider coverage.reporter coverage.include maxworkers
"""
_JEST_VALUED = """
config c rootdir env testenvironment testnamepattern t maxworkers w testtimeout preset modulenamemapper testregex
outputfile bail coveragedirectory collectcoveragefrom
"""
_JEST_GREEDY = """
roots projects selectprojects setupfiles setupfilesafterenv testpathignorepatterns testmatch reporters coveragereporters
"""
_MOCHA_VALUED = """
require r ui u config package timeout t slow s grep g fgrep f extension ext file ignore exclude import loader
experimentalloader n nodeoption jobs j retries global reporter R reporteroption reporteroptions O spec watchfiles
watchignore
"""
OPTIONS: Mapping[str, ProgramOptions] = {
    "node": ProgramOptions(
        frozenset(_NODE_VALUED.split()),
        ("testreporter", "watch", "experimentaltestcoverage", "testcoverage"),
    ),
    "vitest": ProgramOptions(
        frozenset(_VITEST_VALUED.split()),
        ("coverage", "reporter", "outputfile", "watch", "w", "bail", "ui", "run", "open", "changed", "api"),
        frozenset(("run", "watch", "dev")),
    ),
    "jest": ProgramOptions(
        frozenset(_JEST_VALUED.split()),
        (
            *("coverage", "collectcoverage", "reporters", "json", "outputfile", "watch", "bail", "b", "ci", "o"),
            *("onlychanged", "changedsince", "findrelatedtests", "lastcommit", "listtests", "u", "updatesnapshot"),
        ),
        greedy=frozenset(_JEST_GREEDY.split()),
    ),
    "mocha": ProgramOptions(
        frozenset(_MOCHA_VALUED.split()),
        ("coverage", "reporter", "R", "O", "watch", "w", "bail", "b", "spec", "dryrun"),
    ),
}
"""The options of each program. `tsx` has those of node."""


@dataclass(frozen=True, slots=True)
class ScriptCommand:
    """A command of a script that runs tests.

    Attributes:
        program: `node`, `tsx`, `vitest`, `jest` or `mocha`.
        options: Its options, without those that `ProgramOptions` leaves out.
        files: The files, folders and patterns that it names.
        env: The variables that the script sets.
    """

    program: str
    options: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])


def read_test_commands(scripts: Mapping[str, Any]) -> list[ScriptCommand]:
    """Return the commands of a package that run tests, in the order in which its scripts run them.

    Scripts that run others are followed, as in `npm run test:unit`. A package without a script `test` may have
    `test:unit` and others.

    Args:
        scripts: The scripts of `package.json`.
    """
    names = [SCRIPT] if SCRIPT in scripts else [name for name in scripts if name.startswith(f"{SCRIPT}:")]
    seen: list[str] = []
    return [command for name in names for command in _read_script(scripts, name, (), seen)]


def _read_script(
    scripts: Mapping[str, Any], name: str, added: Sequence[str], seen: list[str]
) -> Iterator[ScriptCommand]:
    script = scripts.get(name)
    if not isinstance(script, str) or name in seen or len(seen) >= MAX_SCRIPTS:
        return
    seen.append(name)
    parts = _split(script)
    for number, words in enumerate(parts):
        words = [*words, *added] if number == len(parts) - 1 else words
        others = [other for other in _list_scripts(words, scripts) if other != name]
        if others:
            following = words[words.index("--") + 1 :] if "--" in words else ()
            for other in others:
                yield from _read_script(scripts, other, following, seen)
        elif command := _read_command(words):
            yield command


def _split(script: str) -> list[list[str]]:
    """Return the words of each command of a script, or nothing if a quotation has no end."""
    lexer = shlex.shlex(OUTPUT.sub("", script), posix=True, punctuation_chars=SEPARATORS)
    lexer.whitespace_split, lexer.commenters = True, ""
    commands: list[list[str]] = [[]]
    try:
        for word in lexer:
            if word.strip(SEPARATORS):
                commands[-1].append(word)
            else:
                commands.append([])
    except ValueError:
        return []
    return [words for words in commands if words]


def _list_scripts(words: Sequence[str], scripts: Mapping[str, Any]) -> list[str]:
    """Return the scripts that a command runs."""
    program, *rest = words
    named = [word for word in rest[: rest.index("--") if "--" in rest else None] if not word.startswith("-")]
    if program in MANAGERS:
        named = [word for word in named if word not in ("run", "run-script")]
        return [name for name in named[:1] if name in scripts]
    if program == "concurrently":
        named = [word.removeprefix("npm:") for word in named if word.startswith("npm:")]
    elif program not in SEVERAL_SCRIPTS:
        return []
    return [name for pattern in named for name in scripts if fnmatchcase(name, pattern.replace("**", "*"))]


def _read_command(words: Sequence[str]) -> ScriptCommand | None:
    """Return the program that runs tests among the words of a command, behind variables and other programs."""
    env: dict[str, str] = {}
    for number, word in enumerate(words):
        rest = words[number + 1 :]
        if ASSIGNMENT.fullmatch(word):
            name, _, value = word.partition("=")
            env[name] = value
        elif (program := _name_program(word)) in ("node", "tsx"):
            if (main := next((at for at, other in enumerate(rest) if _is_installed(other)), None)) is not None:
                flags, _ = OPTIONS["node"].split(rest[:main])
                env[NODE_OPTIONS] = " ".join(filter(None, (env.get(NODE_OPTIONS, ""), *flags)))
                return _create(_name_program(rest[main]), rest[main + 1 :], env)
            return _create(program, rest, env) if "--test" in rest else None
        elif program:
            return _create(program, rest, env)
    return None


def _create(program: str, words: Sequence[str], env: Mapping[str, str]) -> ScriptCommand:
    options, files = OPTIONS.get(program, OPTIONS["node"]).split(words)
    return ScriptCommand(program, options, files, env)


def _name_program(word: str) -> str:
    """Return the program that a word of a command starts, as `mocha` for `node_modules/mocha/bin/mocha.js`."""
    path = PurePosixPath(word)
    name = path.stem.removeprefix("_") if path.suffix in (".js", ".mjs", ".cjs") else path.name.removeprefix("_")
    is_known = name in OPTIONS or name == "tsx"
    return name if is_known and ("/" not in word or "node_modules" in path.parts) else ""


def _is_installed(word: str) -> bool:
    return "node_modules" in PurePosixPath(word).parts and _name_program(word) not in ("", "node", "tsx")
