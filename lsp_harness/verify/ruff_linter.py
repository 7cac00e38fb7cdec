"""Runs ruff on a text that is not on disk, with the settings of the project."""

import asyncio
import json
import os
import re
import tomllib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from lsp_harness.verify import notebook_cell
from lsp_harness.verify.finding import Finding, Severity

Json = dict[str, Any]

SOURCE_LINE = re.compile(r"\s*\d*\s*\|")
"""A line of source code in an error message."""
SETTINGS_PATH = re.compile(r"`([^`]+)`")
"""The settings file that an error message names."""
CANARY = b"(\n"
"""A text that ruff always reports, whatever rules are selected: a syntax error cannot be ignored."""
CANARY_TTL_S = 10.0
"""How long the answer to the canary counts: the settings of ruff may change."""
RULE_NAME = re.compile(r"(?!invalid-syntax\Z)[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")
"""The form of the names of ruff's rules, such as `unused-import`."""
RUFF_SETTINGS_NAMES = (".ruff.toml", "ruff.toml")
PLAIN_OPTIONS = (
    *("--no-cache", "--quiet", "--exit-zero", "--output-format", "json"),
    *("--no-fix", "--no-fix-only", "--no-show-fixes"),
)
"""Options that no setting of a project changes: ruff only reports, in one form, and its exit status tells failures."""
FORMAT_VARIABLES = ("RUFF_OUTPUT_FILE", "RUFF_OUTPUT_FORMAT", "FORCE_COLOR", "CLICOLOR_FORCE")
"""The variables of the environment that change where or how ruff writes its answer."""
UNREAD_MESSAGE = "Expected a Jupyter Notebook"
"""The beginning of the only finding in a text that ruff takes for a notebook."""
MAX_SHOWN_CHARS = 200
MAX_EXTENDED_FILES = 10
"""Most settings files to follow that extend one another."""


class RuffFailed(HarnessError):
    """Ruff did not check the text: it is missing, its settings are invalid or exclude the file, or it took too long."""


@dataclass(frozen=True, slots=True)
class RuffReport:
    """A finding of ruff with the fix that ruff offers for it.

    Attributes:
        finding: The finding.
        fix: The edits of the fix; empty if there is none.
        fix_title: The title of the fix.
        is_safe: Whether ruff says that the fix preserves the meaning of the code.
    """

    finding: Finding
    fix: tuple[Edit, ...] = ()
    fix_title: str = ""
    is_safe: bool = False


class Ruff:
    """Runs ruff and remembers its last answers. Use one per process."""

    MAX_ANSWERS = 64

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._answers: OrderedDict[tuple[str, ...], tuple[RuffReport, ...]] = OrderedDict()
        self._clock = clock
        self._canary_times: dict[str, float] = {}
        """The time at which ruff last reported the canary, for each file."""
        self._rule_codes: dict[str, str] | None = None
        """Name of a rule → its code."""

    @property
    def missing_reason(self) -> str:
        """The reason why ruff cannot run, or an empty text."""
        return "" if tool_run.find_tool("ruff") else "ruff is not installed (pip install ruff)"

    async def check(
        self, document: Document, file: Path, root: Path | None, *, select: str = "", isolated: bool = False
    ) -> tuple[RuffReport, ...]:
        """Return ruff's findings about a text.

        Args:
            document: The text.
            file: The path of the text, by which ruff chooses its settings.
            root: The workspace folder, or None if the file lies in none.
            select: A rule to check alone, whatever the settings say. Empty for the rules of the settings.
            isolated: Whether to ignore the settings, and the comments in the file that silence rules.

        Raises:
            RuffFailed: Ruff did not check the text. No findings would be a wrong answer then.
        """
        key = (document.hash, str(file), select, str(isolated), *_stamp_notebook(file))
        if key in self._answers:
            self._answers.move_to_end(key)
            return self._answers[key]
        options = ["--preview", "--select", select] if select else []
        options += ["--isolated", "--ignore-noqa"] if isolated else []
        rows = await self._run(to_valid_utf8(document.data), file, root, options)
        if any(str(row.get("message", "")).startswith(UNREAD_MESSAGE) for row in rows):
            raise RuffFailed(f"ruff reads {file.name} as a notebook, which its text is not")
        if not rows:
            await self._run_canary(file, root)
        reports = tuple(_to_report(document, row) for row in rows)
        self._answers[key] = reports
        while len(self._answers) > self.MAX_ANSWERS:
            self._answers.popitem(last=False)
        return reports

    def forget_answers(self) -> None:
        """Forget all answers, because a file changed on disk that may be a settings file."""
        self._answers.clear()
        self._canary_times.clear()

    async def find_findings(self, document: Document, file: Path, root: Path | None) -> tuple[Finding, ...]:
        """Return ruff's findings about a text by the settings of the project. The arguments are those of `check`.

        Raises:
            RuffFailed: Ruff did not check the text.
        """
        return tuple(report.finding for report in await self.check(document, file, root))

    async def name_by_code(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Return findings with the codes of ruff's rules (`F401`) in place of their names (`unused-import`).

        `ruff server` reports the names in a project with preview mode, and everything else knows the codes.
        """
        if not any(map(_has_rule_name, findings)):
            return tuple(findings)
        codes = await self._read_rule_codes()
        return tuple(
            replace(finding, code=codes.get(finding.code, finding.code)) if _has_rule_name(finding) else finding
            for finding in findings
        )

    async def _read_rule_codes(self) -> dict[str, str]:
        if self._rule_codes is None and not self.missing_reason:
            command = [tool_run.find_tool("ruff") or "ruff", "rule", "--all", "--output-format", "json"]
            result = await tool_run.run_tool(command)
            rows = cast("list[Json]", json.loads(result.stdout)) if result.exit_code == 0 else []
            self._rule_codes = {str(row["name"]): str(row["code"]) for row in rows}
        return self._rule_codes or {}

    async def _run(self, text: bytes, file: Path, root: Path | None, options: Sequence[str] = ()) -> list[Json]:
        if self.missing_reason:
            raise RuffFailed(self.missing_reason)
        cell = None
        if file.suffix == notebook_cell.SUFFIX:
            if magic := notebook_cell.find_other_language(text):
                raise RuffFailed(f"the cell begins with {magic}, so it is no Python")
            cell = await asyncio.to_thread(notebook_cell.place_cell, text, file)
        command = [tool_run.find_tool("ruff") or "ruff", "check", *PLAIN_OPTIONS, *options, *_extension_options(file)]
        if "--isolated" not in options:
            command += settings_options(file)
        command += ["--stdin-filename", str(file), "-"]
        folder = root if root and root.is_dir() else None
        stdin = cell.data if cell else text
        result = await tool_run.run_tool(command, stdin=stdin, cwd=folder, env=_plain_environment())
        if result.exit_code is None:
            raise RuffFailed("ruff took too long")
        if result.exit_code != 0:
            raise RuffFailed(f"ruff failed: {_find_cause(decode(result.stderr))}")
        rows = _read_rows(result.stdout)
        return [row for row in rows if _is_about(row, cell)] if cell else rows

    async def _run_canary(self, file: Path, root: Path | None) -> None:
        """Raise RuffFailed if ruff does not check this file, because it reports nothing for an excluded file."""
        key, now = str(file), self._clock()
        if now - self._canary_times.get(key, -CANARY_TTL_S) < CANARY_TTL_S:
            return
        if not await self._run(CANARY, file, root):
            raise RuffFailed("ruff's settings exclude this file")
        self._canary_times[key] = now


def _plain_environment() -> dict[str, str]:
    """Return the variables of the environment without those by which ruff writes something else, or elsewhere."""
    names = [name for name in os.environ if name not in FORMAT_VARIABLES]
    return {**{name: os.environ[name] for name in names}, "NO_COLOR": "1"}


def _extension_options(file: Path) -> list[str]:
    """Return the option by which ruff reads a text in Python as Python, whatever suffix its file has."""
    suffix = file.suffix.removeprefix(".")
    if suffix in ("", "py", "pyi", "pyw") or not suffix.isalnum():
        return []
    return ["--extension", f"{suffix}:{'ipynb' if file.suffix == notebook_cell.SUFFIX else 'python'}"]


def _stamp_notebook(file: Path) -> tuple[str, ...]:
    """Return the state of the notebook that has a cell, because the other cells may change."""
    if file.suffix != notebook_cell.SUFFIX:
        return ()
    try:
        status = os.stat(file)
    except OSError:
        return ("missing",)
    return str(status.st_mtime_ns), str(status.st_size)


def _is_about(row: Json, cell: notebook_cell.CellInNotebook) -> bool:
    """Return whether a finding is in a cell, and is no question about the others if their order is not known."""
    is_certain = cell.is_placed or row.get("code") not in notebook_cell.RULES_ABOUT_OTHER_CELLS
    return row.get("cell") == cell.number and is_certain


def _read_rows(output: bytes) -> list[Json]:
    """Return the findings in ruff's answer.

    Raises:
        RuffFailed: The answer has another form.
    """
    try:
        rows: Any = json.loads(output or b"[]")
    except ValueError:
        rows = None
    if not isinstance(rows, list):
        first = next((line.strip() for line in decode(output).splitlines() if line.strip()), "")
        raise RuffFailed(f"ruff's answer is not understood: {first[:MAX_SHOWN_CHARS]}")
    return cast("list[Json]", rows)


def _has_rule_name(finding: Finding) -> bool:
    return finding.source.lower() == "ruff" and RULE_NAME.match(finding.code) is not None


def _find_cause(error_output: str) -> str:
    """Return the last cause in the error output of ruff, with the settings file that an earlier cause names."""
    causes = [part.strip() for part in error_output.split("Cause: ")[1:]]
    if not causes:
        lines = [line.strip() for line in error_output.splitlines() if line.strip()]
        says = next((line for line in lines if not line.startswith("warning:")), "")
        return says[:MAX_SHOWN_CHARS] or "it did not say why"
    lines = [line.strip() for line in causes[-1].splitlines() if line.strip() and not SOURCE_LINE.match(line)]
    reason = ": ".join(dict.fromkeys(lines))
    place = next((match.group(1) for cause in causes[:-1] if (match := SETTINGS_PATH.search(cause))), "")
    return f"{reason} ({place})" if place else reason


def settings_options(file: Path) -> list[str]:
    """Return options that keep ruff from a settings file that never ends: a pipe, or a link to a device.

    Ruff opens each `pyproject.toml` above the file. If one of them never ends, ruff must use the nearest settings below
    it, or no settings if there are none.
    """
    nearest: Path | None = None
    for folder in file.absolute().parents:
        path = folder / "pyproject.toml"
        if nearest is None:
            nearest = next((folder / name for name in RUFF_SETTINGS_NAMES if os.path.isfile(folder / name)), None)
            if endless := _find_endless_extension(nearest or path):
                warn_once(f"{endless} is no regular file, and ruff would wait for it; it is asked without settings")
                return ["--isolated"]
        if _is_endless(path):
            instead = f"by {nearest} alone" if nearest else "without settings"
            warn_once(f"{path} is no regular file, and ruff would wait for it; it is asked {instead}")
            return ["--config", str(nearest)] if nearest else ["--isolated"]
    return []


def _is_endless(path: Path) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def _find_endless_extension(settings: Path) -> Path | None:
    """Return the first endless file that a settings file extends, directly or by way of others."""
    for _ in range(MAX_EXTENDED_FILES):
        try:
            table: Json = tomllib.loads(read_text(settings))
        except (FileError, ValueError, RecursionError):
            # ruff itself reports what is wrong with the file
            return None
        for name in ("tool", "ruff") if settings.name == "pyproject.toml" else ():
            inner = table.get(name)
            table = cast("Json", inner) if isinstance(inner, dict) else {}
        extended = table.get("extend")
        if not isinstance(extended, str) or "\0" in extended:
            return None
        settings = settings.parent / os.path.expandvars(os.path.expanduser(extended))
        if _is_endless(settings):
            return settings
    return None


def _to_offset(document: Document, place: Json) -> int:
    return document.tool_offset(Position(int(place["row"]) - 1, int(place["column"]) - 1), "utf-32")


def _to_report(document: Document, row: Json) -> RuffReport:
    code = str(row.get("code") or "invalid-syntax")
    start, end = _to_offset(document, row["location"]), _to_offset(document, row["end_location"])
    severity: Severity = "error" if code == "invalid-syntax" else "warning"
    finding = Finding(start, max(start, end), str(row["message"]), "ruff", code, severity)
    fix = cast("Json | None", row.get("fix"))
    if not fix or fix.get("applicability") not in ("safe", "unsafe"):
        return RuffReport(finding)
    edits = tuple(
        Edit(_to_offset(document, e["location"]), _to_offset(document, e["end_location"]), encode(str(e["content"])))
        for e in cast("list[Json]", fix["edits"])
    )
    return RuffReport(finding, edits, str(fix.get("message") or "ruff's own fix"), fix["applicability"] == "safe")
