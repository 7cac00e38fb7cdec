"""The names of test files in a package for node, as its scripts and the settings of its programs give them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from lsp_harness.verify.project_tests.settings_files import as_mapping, read_json, read_settings_text

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
