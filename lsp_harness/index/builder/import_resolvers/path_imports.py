"""Resolution of imports whose text is almost the path of a file, in several languages."""

import posixpath
from collections.abc import Iterable
from itertools import chain

from lsp_harness.index.builder.import_resolvers.workspace_files import WorkspaceFiles


class PathImports:
    """Resolves imports without settings of a project: the end of a path decides."""

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files

    def resolve_java(self, path: str, module: str, name: str) -> Iterable[str]:
        """Return the file of a class, or the files of a package."""
        parts = module.split(".")
        # A static import names a member of a class.
        for length in (len(parts), len(parts) - 1):
            if files := self._files.find_by_suffix("/".join(parts[:length]) + ".java", path):
                return files
        folders = self._files.folder_suffixes["/".join(parts)]
        return (
            file
            for file in chain.from_iterable(map(self._files.by_folder.__getitem__, folders))
            if file.endswith(".java")
        )

    def resolve_include(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of an `#include`, which is first looked up beside the importing file."""
        file = module.strip("<>")
        sibling = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        return self._files.first_existing([sibling, file, f"include/{file}"]) or self._files.find_by_suffix(file, path)

    def resolve_ruby(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of a `require`."""
        file = module if module.endswith(".rb") else f"{module}.rb"
        sibling = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
        return self._files.first_existing([sibling, f"lib/{file}"]) or (
            self._files.find_by_suffix(file, path) if "/" in file else []
        )

    def resolve_php(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of a `require`, or the file of a class by the end of its namespace."""
        if module.endswith(".php"):
            return self._files.first_existing(
                [posixpath.normpath(posixpath.join(posixpath.dirname(path), module.lstrip("/")))]
            )
        parts = [*module.strip("\\").split("\\"), *([name] if name else [])]
        # The first parts of a namespace are often no folders (PSR-4).
        for start in range(len(parts) - 1 or 1):
            if files := self._files.find_by_suffix("/".join(parts[start:]) + ".php", path):
                return files
        return []

    def resolve_lua(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of a `require`."""
        tail = module.replace(".", "/")
        return self._files.first_existing([f"{tail}.lua", f"{tail}/init.lua"]) or self._files.find_by_suffix(
            f"{tail}.lua", path
        )

    def resolve_bash(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of a `source` command."""
        file = module.strip("\"'")
        return self._files.first_existing([posixpath.normpath(posixpath.join(posixpath.dirname(path), file)), file])
