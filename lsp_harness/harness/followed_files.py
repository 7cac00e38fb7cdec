"""Everybody who follows the files of the folders on disk: who reports changes, and who is told of them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.harness.events import HarnessEvent, IndexReported
from lsp_harness.text.uri import local_path

if TYPE_CHECKING:
    from lsp_harness.harness.edits.prepared_fixes import PreparedFixes
    from lsp_harness.harness.open_findings import OpenFindings
    from lsp_harness.harness.services import Services
    from lsp_harness.harness.verdicts.verification_verbs import VerificationVerbs
    from lsp_harness.workspace.folder_stamps import ChangedFile, ChangeKind


class FollowedFiles:
    """The reports about files on disk of one client, and what follows from them.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        verification: The verdicts of edits.
        prepared: The fixes that were computed before.
        open_findings: The errors in open documents.
    """

    def __init__(
        self,
        services: "Services",
        verification: "VerificationVerbs",
        prepared: "PreparedFixes",
        open_findings: "OpenFindings",
    ) -> None:
        self._services = services
        self._verification, self._prepared, self._open_findings = verification, prepared, open_findings
        services.folders.listeners.append(self._follow)
        services.events.subscribe(self._handle_event)

    def record(self, hints: "Iterable[tuple[str, ChangeKind]]") -> None:
        """Record what a client says about files.

        Args:
            hints: The URI of each file, and what happened to it.
        """
        located: list[tuple[Path | None, str, ChangeKind]] = [(local_path(uri), uri, kind) for uri, kind in hints]
        changes = self._services.folders.record([(path, kind) for path, _, kind in located if path])
        if indexes := self._services.index.folder_indexes_if_any:
            # the index may know an older version than the stamps
            for path in {path for path, _, _ in located if path} - {change.path for change in changes}:
                indexes.report_change(path)
        for path, uri, _ in located:
            if path is None:
                # a text without a file may stand for any
                if verifier := self._services.verifier_if_any:
                    verifier.record_file_change(None)
                self._prepared.record_file_change(uri)

    def _handle_event(self, event: HarnessEvent) -> None:
        """Record what the watcher of an index has seen."""
        if not isinstance(event, IndexReported) or event.message["state"] != "ready":
            return
        names = event.message.get("changed")
        if names is None:
            self._services.folders.look_soon(event.root)
        else:
            self._services.folders.record((event.root / name, "changed") for name in names)

    def _follow(self, changes: "Sequence[ChangedFile]") -> None:
        """Tell everybody who knows something about files on disk. Who checks comes after those who answer."""
        services = self._services
        services.index.record_changes(changes)
        if checkers := services.checkers_if_any:
            checkers.record_file_changes(changes)
        if verifier := services.verifier_if_any:
            verifier.record_file_changes(changes)
        if any(change.scope == "packages" for change in changes):
            services.forget_packages()
        self._verification.record_file_changes(changes)
        self._open_findings.record_file_changes(changes)
        uris = {change.path.as_uri() for change in changes}
        self._prepared.record_file_change(next(iter(uris)) if len(uris) == 1 else "")
