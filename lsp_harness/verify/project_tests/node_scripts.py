"""Reads the scripts of a package for node: which program runs its tests, with which options, files and variables.

The names of test files come from the scripts and from the settings of these programs.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, cast

from lsp_harness.verify.project_tests.suite_runner import as_mapping, read_json, read_settings_text

KEYS = {"vitest": "include", "jest": "testMatch", "mocha": "spec"}
"""The setting of each program that names its test files."""
SETTINGS_FILES = {
    "vitest": ("vitest.config.*", "vite.config.*"),
    "jest": ("jest.config.*",),
    "mocha": (".mocharc.*",),
}
OTHER_BLOCKS = re.compile(
    r"\b(?:coverage|typecheck|optimizeDeps|benchmark|deps|server|browser|watch)\b[\"']?\s*:\s*\{[^{}]*\}"
)
"""Parts of the settings of vitest whose `include` is about other files."""
COMMENT = re.compile(r"^\s*(?://|#).*$", re.MULTILINE)
TEXT = re.compile(r"\"[^\"\n]+\"|'[^'\n]+'|`[^`\n$]+`")
LIST = re.compile(rf"\[\s*(?:(?:{TEXT.pattern})\s*,?\s*)*|{TEXT.pattern}")
ANY_FILE = re.compile(r"\*+(?:\.[\w*\[\]]+)?")
"""A pattern that is true for all files of a language."""
GROUP = re.compile(r"(?P<kind>[?+*@!])\((?P<one>[^()]*)\)|\{(?P<other>[^{}]*,[^{}]*)\}")
MAX_PATTERNS = 64
MAX_SETTINGS_FILES = 8


def read_patterns(folder: Path, program: str, options: Sequence[str] = ()) -> list[str]:
    """Return the patterns by which the settings of a program name its test files.

    The settings may be code, so only literal texts of them are read.

    Args:
        folder: The folder of the package.
        program: `vitest`, `jest` or `mocha`.
        options: The options of the command, which may name the file of the settings.
    """
    key = KEYS.get(program, "")
    own = as_mapping(read_json(folder / "package.json").get(program)).get(key)
    found = [own] if isinstance(own, str) else list(map(str, cast("list[Any]", own))) if isinstance(own, list) else []
    for file in _list_settings(folder, program, options) if key else ():
        text = COMMENT.sub("", read_settings_text(file))
        text = OTHER_BLOCKS.sub("", text) if program == "vitest" else text
        found += _read_values(text, key)
    return found


def _list_settings(folder: Path, program: str, options: Sequence[str]) -> list[Path]:
    words = [word.removeprefix("--config=") for word in options]
    named = [
        folder / word
        for word, before in zip(words, ("", *options), strict=False)
        if before in ("--config", "-c") or options[words.index(word)].startswith("--config=")
    ]
    files = named or [file for pattern in SETTINGS_FILES[program] for file in sorted(folder.glob(pattern))]
    return [file for file in files if file.is_file()][:MAX_SETTINGS_FILES]


def _read_values(text: str, key: str) -> Iterator[str]:
    """Yield the values of a key in JSON, YAML or JavaScript: a text, a list, or lines with dashes."""
    for match in re.finditer(rf"\b{key}\b[\"']?[ \t]*:[ \t]*", text):
        rest = text[match.end() :]
        if found := LIST.match(rest):
            yield from (one[0][1:-1] for one in TEXT.finditer(found[0]))
        elif items := re.match(r"\n(?:[ \t]*-[ \t]*.+(?:\n|$))+", rest):
            yield from (line.strip().lstrip("-").strip().strip("\"'") for line in items[0].strip().split("\n"))
        elif not rest.startswith(("\n", "{")):
            yield rest.split("\n")[0].strip().rstrip(",")


def as_name_patterns(globs: Iterable[str], folder: Path) -> tuple[str, ...]:
    """Return patterns of node as those of `SuiteRunner.patterns`, whose `*` is also for folders.

    Args:
        globs: Patterns, files and folders, relative to the folder of the package.
        folder: This folder.
    """
    found: dict[str, None] = {}
    for glob in (one for given in globs for one in _expand(given.replace("<rootDir>/", "").removeprefix("./"))):
        if glob.startswith(("!", "/")) or ".." in glob.split("/"):
            continue
        path = glob.rstrip("/")
        if "*" not in path and "[" not in path and (folder / path).is_dir():
            path = f"{path}/*"
        # two stars are for no folder, too
        path = path.removeprefix("**/").replace("/**/", "/*").replace("**", "*")
        if path and not ANY_FILE.fullmatch(path):
            found |= dict.fromkeys([path, f"*/{path}"] if "/" in path else [path])
    return tuple(found)[:MAX_PATTERNS]


def _expand(glob: str) -> list[str]:
    """Return the patterns that one with alternatives stands for, such as `*.{js,ts}` or `*.+(spec|test).js`."""
    found = [glob]
    while len(found) < MAX_PATTERNS and (match := GROUP.search(found[0])):
        pattern = found.pop(0)
        group = match["other"]
        choices = group.split(",") if group is not None else match["one"].split("|")
        choices += [""] * (match["kind"] == "?")
        if match["kind"] in ("*", "!"):
            choices = ["*"]
        found += [pattern[: match.start()] + choice + pattern[match.end() :] for choice in choices]
    return found


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
