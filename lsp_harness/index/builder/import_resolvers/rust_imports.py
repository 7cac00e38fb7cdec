"""Resolution of `use` declarations in Rust."""

import posixpath
import re
from collections.abc import Sequence
from functools import cached_property

from lsp_harness.index.builder.import_resolvers.workspace_files import WorkspaceFiles, join_path


class RustImports:
    """Resolves paths of modules in the crates of the workspace. It reads each `Cargo.toml`."""

    def __init__(self, files: WorkspaceFiles) -> None:
        self._files = files

    def resolve(self, path: str, module: str, name: str) -> list[str]:
        """Return the file of the innermost module that a path names."""
        parts = [*module.split("::"), *([name] if name else [])]
        folder = self._rust_folder(path)
        match parts[0]:
            case "crate":
                return self._rust_module(self._rust_root(path), parts[1:])
            case "self":
                return self._rust_module(folder, parts[1:])
            case "super":
                while parts and parts[0] == "super":
                    folder, parts = posixpath.dirname(folder), parts[1:]
                return self._rust_module(folder, parts)
            case _:
                if (crate := self._crates.get(parts[0])) is not None:
                    return self._rust_module(join_path(crate, "src"), parts[1:])
                return self._rust_module(folder, parts, min_length=1)

    def _rust_module(self, folder: str, parts: Sequence[str], min_length: int = 0) -> list[str]:
        """Return the file of the innermost module on the path. The remaining names are declared in it."""
        for length in range(len(parts), min_length - 1, -1):
            base = "/".join(filter(None, (folder, *parts[:length])))
            candidates = (
                [f"{base}.rs", f"{base}/mod.rs"]
                if length
                else [join_path(base, file_name) for file_name in ("lib.rs", "main.rs", "mod.rs")]
            )
            if files := self._files.first_existing(candidates):
                return files
        return self._files.first_existing([f"{folder}.rs"]) if min_length == 0 else []

    def _rust_folder(self, path: str) -> str:
        """Return the folder of the submodules of a file."""
        folder, name = posixpath.split(path)
        return folder if name in ("mod.rs", "lib.rs", "main.rs") else join_path(folder, name.removesuffix(".rs"))

    def _rust_root(self, path: str) -> str:
        """Return the folder of the crate's root file: `src` beside `Cargo.toml`, or another folder that has one."""
        source = folder = join_path(self._crate_of(path), "src")
        if not self._has_crate_root(source):
            folder = posixpath.dirname(path)
            while folder and not self._has_crate_root(folder):
                folder = posixpath.dirname(folder)
        return folder or source

    def _has_crate_root(self, folder: str) -> bool:
        return bool(self._files.first_existing([join_path(folder, "lib.rs"), join_path(folder, "main.rs")]))

    def _crate_of(self, path: str) -> str:
        folder = posixpath.dirname(path)
        while folder and join_path(folder, "Cargo.toml") not in self._files.paths:
            folder = posixpath.dirname(folder)
        return folder

    @cached_property
    def _crates(self) -> dict[str, str]:
        folders: dict[str, str] = {}
        for path in self._files.with_suffix("Cargo.toml"):
            if match := re.search(
                r'^\[package\][^\[]*?^name\s*=\s*"([^"]+)"', self._files.read_text(path), re.MULTILINE | re.DOTALL
            ):
                folders[match[1].replace("-", "_")] = posixpath.dirname(path)
        return folders
