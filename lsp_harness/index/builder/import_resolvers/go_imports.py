"""Resolution of imports in Go."""

import posixpath
import re
from collections.abc import Iterator
from functools import cached_property

from lsp_harness.index.builder.import_resolvers.workspace_files import WorkspaceFiles, join_path, module_prefixes


class GoImports:
    """Resolves imports to the packages of the modules in the workspace. It reads each `go.mod`."""

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files

    def resolve(self, path: str, module: str, name: str) -> Iterator[str]:
        """Yield the files of a package, without its tests."""
        for prefix in module_prefixes(module):
            if (root := self._go_modules.get(prefix)) is not None:
                folder = join_path(root, module[len(prefix) :].lstrip("/")).rstrip("/")
                yield from (
                    file
                    for file in self._files.by_folder.get(folder, ())
                    if file.endswith(".go") and not file.endswith("_test.go")
                )
                return

    @cached_property
    def _go_modules(self) -> dict[str, str]:
        folders: dict[str, str] = {}
        for path in self._files.with_suffix("go.mod"):
            if match := re.search(r"^module\s+(\S+)", self._files.read_text(path), re.MULTILINE):
                folders.setdefault(match[1].strip('"'), posixpath.dirname(path))
        return folders
