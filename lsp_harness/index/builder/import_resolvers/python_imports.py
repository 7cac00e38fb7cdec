"""Resolution of `from` imports: modules and packages of Python."""

import posixpath
from collections.abc import Sequence

from lsp_harness.index.builder.import_resolvers.workspace_files import WorkspaceFiles, join_path


class PythonImports:
    """Resolves imports to modules and packages, below the root of a package, the own folder or `src`."""

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files

    def resolve(self, path: str, module: str, name: str) -> list[str]:
        """Return the files of a module, or of the submodule that `name` may be."""
        dotted_name = module.lstrip(".")
        parts = dotted_name.split(".") if dotted_name else []
        dots = len(module) - len(dotted_name)
        folder = posixpath.dirname(path)
        for _ in range(dots - 1):
            folder = posixpath.dirname(folder)
        roots = [folder] if dots else dict.fromkeys((self._package_root(path), folder, "", "src"))
        for root in roots:
            submodule = self._python_module(root, [*parts, name]) if name else []
            if files := submodule or self._python_module(root, parts):
                return files
        if dots or len(parts) < 2:
            return []
        tail = "/".join(parts)
        return self._files.find_by_suffix(f"{tail}.py", path) or self._files.find_by_suffix(f"{tail}/__init__.py", path)

    def _python_module(self, root: str, parts: Sequence[str]) -> list[str]:
        base = "/".join(filter(None, (root, *parts)))
        packages = [join_path(base, f"__init__.{extension}") for extension in ("py", "pyi")]
        return self._files.first_existing([*([f"{base}.py", f"{base}.pyi"] if parts else []), *packages])

    def _package_root(self, path: str) -> str:
        folder = posixpath.dirname(path)
        while folder and f"{folder}/__init__.py" in self._files.paths:
            folder = posixpath.dirname(folder)
        return folder
