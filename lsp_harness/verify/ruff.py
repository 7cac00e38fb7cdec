"""Asking ruff about a text that is not on disk, with the project's own settings."""

import json
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lsp_harness.disk.notice import warn_once
from lsp_harness.errors import HarnessError
from lsp_harness.process import tool
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Position, decode, encode
from lsp_harness.verify.finding import Finding

Json = dict[str, Any]


OWN_SETTINGS = (".ruff.toml", "ruff.toml")


class RuffFailed(HarnessError):
    """ruff could not say anything: broken settings, or too slow. That is not the same as nothing to say."""


@dataclass(frozen=True, slots=True)
class Report:
    """A finding and, where ruff itself offers a safe one, its fix."""

    finding: Finding
    fix: tuple[Edit, ...] = ()
    fix_title: str = ""


class Ruff:
    """One per process: it remembers the last few answers, keyed by the text's hash."""

    KEPT = 64

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, ...], tuple[Report, ...]] = OrderedDict()

    @property
    def missing(self) -> str:
        """Why ruff cannot be asked; empty when it can."""
        return "" if tool.find("ruff") else "ruff is not installed (pip install ruff)"

    async def check(self, document: Document, file: Path, root: Path | None, *, select: str = "") -> tuple[Report, ...]:
        """What ruff says; `select` asks for one rule whatever the settings say. Raises RuffFailed."""
        key = (document.hash, str(file), select)
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        argv = [tool.find("ruff") or "ruff", "check", "--no-cache", "--quiet", "--output-format", "json"]
        if bad := _no_file(file):
            warn_once(f"{bad} is no regular file, and ruff would wait for it; it is asked without settings")
            argv.append("--isolated")
        if select:
            argv += ["--preview", "--select", select]
        argv += ["--stdin-filename", str(file), "-"]
        ran = await tool.run(argv, stdin=document.data, cwd=root if root and root.is_dir() else None)
        if ran.code not in (0, 1):
            causes = [line.split("Cause: ", 1)[1] for line in decode(ran.err).splitlines() if "Cause: " in line]
            said = f"ruff failed: {causes[0] if causes else decode(ran.err).strip()}"
            raise RuffFailed("ruff took too long" if ran.code is None else said)
        reports = tuple(_report(document, row) for row in cast("list[Json]", json.loads(ran.out or b"[]")))
        self._known[key] = reports
        while len(self._known) > self.KEPT:
            self._known.popitem(last=False)
        return reports


def _no_file(file: Path) -> Path | None:
    """A settings file that ruff would open for this file and never read to the end: a pipe, or a link to a device."""
    for folder in file.absolute().parents:
        # ruff looks at what these are, and goes by the nearest
        if any((folder / name).is_file() for name in OWN_SETTINGS):
            return None
        if (path := folder / "pyproject.toml").exists() and not path.is_file() and not path.is_dir():
            return path
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
    if not fix or fix.get("applicability") != "safe":
        return Report(finding)
    edits = tuple(
        Edit(_offset(document, e["location"]), _offset(document, e["end_location"]), encode(str(e["content"])))
        for e in cast("list[Json]", fix["edits"])
    )
    return Report(finding, edits, str(fix.get("message") or "ruff's own fix"))
