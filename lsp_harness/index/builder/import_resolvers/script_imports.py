"""Resolution of module imports in JavaScript and TypeScript."""

import json
import posixpath
import re
from collections import defaultdict
from functools import cached_property
from typing import cast

from lsp_harness.index.builder.import_resolvers.workspace_files import WorkspaceFiles, join_path, module_prefixes

SCRIPT_EXTENSIONS = ("", ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".json")
INDEX_FILES = tuple(f"/index{extension}" for extension in SCRIPT_EXTENSIONS[1:-1])
SOURCE_EXTENSIONS = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
"""TypeScript imports name the compiled file; these are the extensions of its source."""


class ScriptImports:
    """Resolves imports to script files.

    It reads `tsconfig.json`, `jsconfig.json` and `package.json` of the workspace.
    """

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files

    def resolve(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of a relative module, of a path alias, or of a package in the workspace."""
        if module.startswith("."):
            return self._script_file(posixpath.normpath(posixpath.join(posixpath.dirname(path), module)))
        for prefix in module_prefixes(module):
            relative = module[len(prefix) :].lstrip("/")
            for folder in self._aliases.get(prefix, ()):
                if files := self._script_file(join_path(folder, relative)):
                    return files
        return []

    def _script_file(self, base: str) -> list[str]:
        stem, extension = posixpath.splitext(base)
        sources = [f"{stem}{source_extension}" for source_extension in SOURCE_EXTENSIONS.get(extension, ())]
        base = "" if base == "." else base
        indexes = [join_path(base, ending[1:]) for ending in INDEX_FILES]
        return self._files.first_existing([*(f"{base}{ending}" for ending in SCRIPT_EXTENSIONS), *sources, *indexes])

    @cached_property
    def _aliases(self) -> dict[str, list[str]]:
        """Folders by prefix: the path aliases of `tsconfig.json` and the names of the packages in the workspace."""
        folders_by_prefix: dict[str, list[str]] = defaultdict(list)
        for path in (*self._files.with_suffix("tsconfig.json"), *self._files.with_suffix("jsconfig.json")):
            options = _as_object(_parse_json(self._files.read_text(path)).get("compilerOptions"))
            base = posixpath.normpath(join_path(posixpath.dirname(path), str(options.get("baseUrl") or "")) or ".")
            for pattern, targets in _as_object(options.get("paths")).items():
                patterns = cast("list[object]", targets) if isinstance(targets, list) else []
                folders = [posixpath.normpath(join_path(base, str(target).removesuffix("*"))) for target in patterns]
                folders_by_prefix[pattern.removesuffix("*")] += (
                    "" if folder_path == "." else folder_path for folder_path in folders
                )
        for path in self._files.with_suffix("package.json"):
            if name := _parse_json(self._files.read_text(path)).get("name"):
                folder = posixpath.dirname(path)
                folders_by_prefix[str(name)] += (folder, join_path(folder, "src"), join_path(folder, "lib"))
        return folders_by_prefix


def _parse_json(text: str) -> dict[str, object]:
    """Return a JSON object, with comments allowed as in `tsconfig.json`; empty for anything else."""
    # An unclosed string ends at the end of the text. Otherwise the search would restart at each quote and take
    # quadratic time.
    uncommented = re.sub(
        r'("[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)',
        lambda match: match[1] or "",
        text,
        flags=re.DOTALL,
    )
    try:
        parsed = json.loads(re.sub(r",(\s*[}\]])", r"\1", uncommented))
    except (ValueError, RecursionError):
        return {}
    return _as_object(parsed)


def _as_object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
