"""The error cache of a project: templates of the fixes that its user accepted, and how often they worked.

They are in the state folder of the user. A project may share some in `.lsp-harness/fixes.jsonl`. A template only
proposes edits: each edit is checked again like any other before anybody sees it.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from time import time
from typing import Any, cast

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_file
from lsp_harness.disk.file_writing import replace_file, write_own_file
from lsp_harness.errors import FileError, UsageError
from lsp_harness.files.secrets import find_secrets
from lsp_harness.knowledge.learned.fix_learning import learn_template
from lsp_harness.knowledge.learned.fix_template import CodeWindow, ErrorReport, FixTemplate
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span

SHARED_FILE = Path(".lsp-harness") / "fixes.jsonl"
"""The file of a project with the templates that everybody who works on it gets."""
MAX_FIXES = 500
MAX_AGE_DAYS = 180
"""A template that was not used for so long is forgotten."""
MAX_FAILURES = 2
"""A template that failed so often, and more often than it passed, is not used any more."""
MAX_FILE_BYTES = 4_000_000
MAX_OFFERS = 3
"""Most edits that are tried for one error."""
DAY_S = 86_400


@dataclass(frozen=True, slots=True)
class LearnedFix:
    """A template with its record.

    Attributes:
        template: The template.
        passed: How often its edit passed the checks.
        failed: How often its edit failed the checks, or was refused by the user.
        last_used_s: When it was learned or tried, in seconds since 1970.
        is_shared: Whether it comes from the file of the project.
    """

    template: FixTemplate
    passed: int = 0
    failed: int = 0
    last_used_s: float = 0.0
    is_shared: bool = False

    @property
    def tried(self) -> int:
        """How often its edit was checked."""
        return self.passed + self.failed

    @property
    def is_usable(self) -> bool:
        """True if it did not fail too often."""
        return self.failed < MAX_FAILURES or self.failed <= self.passed

    def to_json(self) -> str:
        """Return the template and its record as one line."""
        record = {"passed": self.passed, "failed": self.failed, "used": round(self.last_used_s)}
        return f'{{"template":{self.template.to_json()},{json.dumps(record)[1:]}'


class LearnedFixes:
    """The error cache of one project.

    Args:
        root: The folder of the project.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: tuple[tuple[object, ...], dict[str, LearnedFix]] | None = None

    @property
    def shared_file(self) -> Path:
        """The file of the project with the templates that are shared."""
        return self._root / SHARED_FILE

    @property
    def file(self) -> Path:
        """The file of the user with the templates and their records."""
        key = blake2b(os.fsencode(os.path.realpath(self._root)), digest_size=8).hexdigest()
        return paths.state_folder() / "fixes" / f"{key}.jsonl"

    def usable(self) -> list[LearnedFix]:
        """Return the templates that are used, those that worked most often first."""
        fixes = [fix for fix in self._load().values() if fix.is_usable]
        return sorted(fixes, key=lambda fix: (fix.failed - fix.passed, -fix.last_used_s))

    def find(self, report: ErrorReport, tree: SyntaxTree) -> list[tuple[LearnedFix, tuple[Edit, ...]]]:
        """Return the templates that fit an error, with their edits of this text, the best first."""
        offers: list[tuple[LearnedFix, tuple[Edit, ...]]] = []
        windows: dict[bool, CodeWindow] = {}
        for fix in self.usable():
            template = fix.template
            if template.signature != report.signature or template.language != tree.language.id:
                continue
            if template.is_lexical not in windows:
                place = Span(report.start, report.end)
                windows[template.is_lexical] = CodeWindow.read(tree, place, is_lexical=template.is_lexical)
            if edits := template.render(report, windows[template.is_lexical]):
                offers.append((fix, edits))
        return offers[:MAX_OFFERS]

    def learn(self, report: ErrorReport, before: SyntaxTree, after: SyntaxTree) -> bool:
        """Learn an accepted fix. Return whether a template of it can be made.

        Args:
            report: The error that the fix repairs.
            before: The text with the error.
            after: The text with the fix.
        """
        template = learn_template(report, before, after)
        if template is None:
            return False
        # an accepted fix says more than earlier failures
        self._save(self._load() | {template.id: LearnedFix(template, last_used_s=time())})
        return True

    def record(self, fix_id: str, *, is_passed: bool) -> None:
        """Record that the edit of a template passed its checks, or that it failed them or was refused."""
        fixes = self._load()
        if fix := fixes.get(fix_id):
            used = replace(fix, passed=fix.passed + is_passed, failed=fix.failed + (not is_passed), last_used_s=time())
            self._save(fixes | {fix_id: used})

    def clear(self) -> int:
        """Forget the templates and the records of the user, and return their number. The project's file stays."""
        count = len([*_read_fixes(self.file)])
        self.file.unlink(missing_ok=True)
        return count

    def share(self) -> int:
        """Write the templates that passed at least once into the file of the project, and return their number.

        Raises:
            UsageError: No template has passed.
            FileError: The file cannot be written.
        """
        fixes = [fix for fix in self.usable() if fix.is_shared or fix.passed]
        if not fixes:
            raise UsageError("no learned fix has passed its checks a second time yet; there is nothing to share")
        lines = sorted(fix.template.to_json() for fix in fixes)
        try:
            self.shared_file.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"{self.shared_file.parent} cannot be made ({error.strerror})") from error
        replace_file(self.shared_file, "".join(f"{line}\n" for line in lines).encode())
        return len(fixes)

    # -- files
    def _load(self) -> dict[str, LearnedFix]:
        """Return all templates by their ids. The files are read again if they changed."""
        stamp = (_read_stamp(self.file), _read_stamp(self.shared_file))
        if self._read is None or self._read[0] != stamp:
            # a record in the file of the project says nothing about this user
            shared = {
                fix.template.id: LearnedFix(fix.template, is_shared=True) for fix in _read_fixes(self.shared_file)
            }
            oldest_s = time() - MAX_AGE_DAYS * DAY_S
            fixes = dict(shared)
            for fix in _read_fixes(self.file):
                if fix.last_used_s >= oldest_s:
                    fixes[fix.template.id] = replace(fix, is_shared=fix.template.id in shared)
            self._read = stamp, fixes
        return self._read[1]

    def _save(self, fixes: dict[str, LearnedFix]) -> None:
        kept = sorted((fix for fix in fixes.values() if fix.last_used_s), key=lambda fix: -fix.last_used_s)[:MAX_FIXES]
        try:
            self.file.parent.mkdir(mode=0o700, exist_ok=True)
            write_own_file(self.file, "".join(f"{fix.to_json()}\n" for fix in kept).encode())
        except OSError as error:
            paths.warn_not_saved("the learned fix", paths.STATE, self.file, error)


def _read_stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _read_fixes(file: Path) -> Iterator[LearnedFix]:
    """Yield the templates of a file. A line that is none, or that contains a secret, is left out."""
    try:
        data = read_file(file, MAX_FILE_BYTES)
    except FileError:
        return
    for line in data.splitlines():
        try:
            value: Any = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict) or find_secrets(line):
            continue
        record = cast("dict[str, Any]", value)
        if template := FixTemplate.from_json(record.get("template", record)):
            passed, failed, used = (_count(record.get(key)) for key in ("passed", "failed", "used"))
            yield LearnedFix(template, passed, failed, used)


def _count(value: object) -> int:
    return value if type(value) is int and value >= 0 else 0
