"""The tools of Rust: `cargo check` as the type checker, and `cargo clippy` where a project configures it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lsp_harness.knowledge.project_python import folders_up_to
from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.project_tools.project_tool import ProjectTool, ToolJob
from lsp_harness.verify.types.project_settings import find_configuration, read_table

MANIFEST = "Cargo.toml"


class CargoTool(ProjectTool):
    """A command of cargo on all packages of a workspace, without the network."""

    reader = "cargo"
    suffixes = (".rs",)
    install_hint = "install Rust from rustup.rs"
    command = "check"

    def configures(self, folder: Path) -> str:
        return find_configuration(folder, (MANIFEST,))

    def find_folder(self, root: Path, file: Path) -> Path:
        """Return the workspace of cargo that the crate of a file is in, because its places are relative to that."""
        crates = [folder for folder in folders_up_to(root, file) if (folder / MANIFEST).is_file()]
        if not crates:
            return root
        return next((folder for folder in crates if _has_member(folder, crates[0])), crates[0])

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        return find_tool("cargo")

    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        options = ["--workspace", "--all-targets", "--offline", "--message-format=json", "--target-dir", str(job.cache)]
        return [[job.program, self.command, "--quiet", *options]]

    def create_environment(self, job: ToolJob) -> Mapping[str, str]:
        home = Path.home()
        return {"CARGO_HOME": str(home / ".cargo"), "RUSTUP_HOME": str(home / ".rustup"), "CARGO_TERM_COLOR": "never"}

    def list_folders(self, program: str) -> tuple[Path, ...]:
        return (*super().list_folders(program), Path.home() / ".cargo", Path.home() / ".rustup")


class CargoCheck(CargoTool):
    """The compiler without code generation."""

    name = "cargo check"
    check = "types"


class CargoClippy(CargoTool):
    """The linter of Rust."""

    name = "cargo clippy"
    check = "lint"
    command = "clippy"
    install_hint = "rustup component add clippy"

    def configures(self, folder: Path) -> str:
        manifest = folder / MANIFEST
        if read_table(manifest, "lints", "clippy") or read_table(manifest, "workspace", "lints", "clippy"):
            return "[lints.clippy] in Cargo.toml"
        return find_configuration(folder, ("clippy.toml", ".clippy.toml"))

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        return find_tool("cargo") if find_tool("cargo-clippy") else None


def _has_member(folder: Path, crate: Path) -> bool:
    """Return whether a folder is the workspace of a crate, which may be the crate itself."""
    table = read_table(folder / MANIFEST, "workspace")
    if not table:
        return False
    excluded: Any = table.get("exclude")
    names = cast("list[Any]", excluded) if isinstance(excluded, list) else []
    return not any(crate.is_relative_to(folder / str(name)) for name in names)
