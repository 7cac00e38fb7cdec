"""Asking ruff about a text that is not on disk, with the project's own settings."""

import json
import os
import re
import tomllib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import FileError, HarnessError
from lsp_harness.process import tool_run
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Position, decode, encode
from lsp_harness.text.surrogates import to_valid_utf8
from lsp_harness.verify.finding import Finding

Json = dict[str, Any]

GUTTER = re.compile(r"\s*\d*\s*\|")
"""A line of source that an error message shows."""
SETTINGS = re.compile(r"`([^`]+)`")
"""The settings file that a message names."""


CANARY = b"(\n"
"""A text that ruff always reports, whatever rules are selected: a syntax error cannot be ignored."""
CANARY_TTL_S = 10.0
"""How long it is believed that ruff reads a file: its settings may change."""


OWN_SETTINGS = (".ruff.toml", "ruff.toml")
EXTENSIONS = 10
"""Settings files that extend one another which are looked at; ruff follows them as well."""


class RuffFailed(HarnessError):
    """ruff looked at nothing: it is missing, its settings are broken or exclude the file, or it was too slow. That is not "no findings"."""


@dataclass(frozen=True, slots=True)
class Report:
    """A finding and ruff's own fix of it, where it has one. `safe`: ruff says that the fix keeps what the code means."""

    finding: Finding
    fix: tuple[Edit, ...] = ()
    fix_title: str = ""
    safe: bool = False


class Ruff:
    """One per process: it remembers the last few answers, keyed by the text's hash."""

    KEPT = 64

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._known: OrderedDict[tuple[str, ...], tuple[Report, ...]] = OrderedDict()
        self._clock = clock
        self._read: dict[str, float] = {}
        """When ruff was last seen to read a file."""

    @property
    def missing(self) -> str:
        """Why ruff cannot be asked; empty when it can."""
        return "" if tool_run.find_tool("ruff") else "ruff is not installed (pip install ruff)"

    async def check(
        self, document: Document, file: Path, root: Path | None, *, select: str = "", isolated: bool = False
    ) -> tuple[Report, ...]:
        """What ruff says of a text.

        `select` asks for one rule, whatever the settings say; `isolated` also where the settings or comments of the file silence it.
        Raises RuffFailed, also where ruff found nothing because it did not look.
        """
        key = (document.hash, str(file), select, str(isolated))
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        options = ["--preview", "--select", select] if select else []
        options += ["--isolated", "--ignore-noqa"] if isolated else []
        rows = await self._run(to_valid_utf8(document.data), file, root, options)
        if not rows:
            await self._prove(file, root)
        reports = tuple(_report(document, row) for row in rows)
        self._known[key] = reports
        while len(self._known) > self.KEPT:
            self._known.popitem(last=False)
        return reports

    async def _run(self, text: bytes, file: Path, root: Path | None, options: Sequence[str] = ()) -> list[Json]:
        if self.missing:
            raise RuffFailed(self.missing)
        argv = [
            tool_run.find_tool("ruff") or "ruff",
            "check",
            "--no-cache",
            "--quiet",
            "--output-format",
            "json",
            *options,
        ]
        if "--isolated" not in options:
            argv += _bounded(file)
        argv += ["--stdin-filename", str(file), "-"]
        ran = await tool_run.run_tool(argv, stdin=text, cwd=root if root and root.is_dir() else None)
        if ran.exit_code is None:
            raise RuffFailed("ruff took too long")
        if ran.exit_code not in (0, 1):
            raise RuffFailed(f"ruff failed: {_cause(decode(ran.stderr))}")
        return cast("list[Json]", json.loads(ran.stdout or b"[]"))

    async def _prove(self, file: Path, root: Path | None) -> None:
        """Make sure that ruff reads a file of which it has said nothing. Raises RuffFailed where it does not."""
        key, now = str(file), self._clock()
        if now - self._read.get(key, -CANARY_TTL_S) < CANARY_TTL_S:
            return
        if not await self._run(CANARY, file, root):
            raise RuffFailed("ruff's settings exclude this file")
        self._read[key] = now


def _cause(said: str) -> str:
    """The reason in what ruff prints when it fails: the last cause, with the settings file that an earlier one names."""
    causes = [part.strip() for part in said.split("Cause: ")[1:]]
    if not causes:
        return " ".join(said.split()) or "it did not say why"
    lines = [line.strip() for line in causes[-1].splitlines() if line.strip() and not GUTTER.match(line)]
    reason = ": ".join(dict.fromkeys(lines))
    place = next((found.group(1) for cause in causes[:-1] if (found := SETTINGS.search(cause))), "")
    return f"{reason} ({place})" if place else reason


def _bounded(file: Path) -> list[str]:
    """Options that keep ruff from a settings file that it would never read to the end: a pipe, or a link to a device.

    It opens each `pyproject.toml` above the file. The nearest settings below the first bad one count, none where there are none.
    """
    nearest: Path | None = None
    for folder in file.absolute().parents:
        path = folder / "pyproject.toml"
        if nearest is None:
            nearest = next((folder / name for name in OWN_SETTINGS if os.path.isfile(folder / name)), None)
            if bad := _endless_extension(nearest or path):
                warn_once(f"{bad} is no regular file, and ruff would wait for it; it is asked without settings")
                return ["--isolated"]
        if _endless(path):
            instead = f"by {nearest} alone" if nearest else "without settings"
            warn_once(f"{path} is no regular file, and ruff would wait for it; it is asked {instead}")
            return ["--config", str(nearest)] if nearest else ["--isolated"]
    return []


def _endless(path: Path) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _endless_extension(settings: Path) -> Path | None:
    """The file that ruff would never read to the end among those that a settings file extends, one the next."""
    for _ in range(EXTENSIONS):
        try:
            table: Json = tomllib.loads(read_text(settings))
        except (FileError, ValueError, RecursionError):
            # ruff says what is wrong with it
            return None
        for name in ("tool", "ruff") if settings.name == "pyproject.toml" else ():
            inner = table.get(name)
            table = cast("Json", inner) if isinstance(inner, dict) else {}
        extended = table.get("extend")
        if not isinstance(extended, str) or "\0" in extended:
            return None
        settings = settings.parent / os.path.expandvars(os.path.expanduser(extended))
        if _endless(settings):
            return settings
    return None


def _offset(document: Document, place: Json) -> int:
    return document.offset(Position(int(place["row"]) - 1, int(place["column"]) - 1), "utf-32")


def _report(document: Document, row: Json) -> Report:
    code = str(row.get("code") or "invalid-syntax")
    start, end = _offset(document, row["location"]), _offset(document, row["end_location"])
    finding = Finding(
        start, max(start, end), str(row["message"]), "ruff", code, "warning" if row.get("code") else "error"
    )
    fix = cast("Json | None", row.get("fix"))
    if not fix or fix.get("applicability") not in ("safe", "unsafe"):
        return Report(finding)
    edits = tuple(
        Edit(_offset(document, e["location"]), _offset(document, e["end_location"]), encode(str(e["content"])))
        for e in cast("list[Json]", fix["edits"])
    )
    return Report(finding, edits, str(fix.get("message") or "ruff's own fix"), fix["applicability"] == "safe")
