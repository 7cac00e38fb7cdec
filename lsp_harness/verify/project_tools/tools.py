"""The type checkers and linters that read the files of a project: mypy, go, cargo and eslint.

mypy reads the texts of a proposal by `--shadow-file`, so that it needs no copy of the project. eslint is the one that
the project itself installed; its configuration is a program.
"""

import configparser
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError
from lsp_harness.knowledge.project_python import find_interpreter, find_project_folder, folders_up_to
from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.project_tools.project_tool import STDIN, ProjectTool, ToolJob
from lsp_harness.verify.types.checkers import find_in_environments
from lsp_harness.verify.types.project_settings import MAX_SETTINGS_BYTES, find_configuration, has_line, read_table
from lsp_harness.verify.types.type_checker import find_in_folder

OWN_FILES = ("mypy.ini", ".mypy.ini")
LISTS = re.compile(r"[,\n]")
"""The separators of the items of a list in an INI file."""
CONFIG_FOLDER = "$MYPY_CONFIG_FILE_DIR"
SOURCE_FOLDERS = ("", "src/")
"""The folders in which the packages lie that the settings name, apart from `mypy_path`."""


class Mypy(ProjectTool):
    """The command of mypy on the changed files and those that use them. Its cache makes later questions fast."""

    name = "mypy"
    check = "types"
    reader = "mypy"
    suffixes = (".py", ".pyi")
    install_hint = "pip install mypy"
    needs_files = False
    names_users = True
    stopped_status = 2

    def configures(self, folder: Path) -> str:
        name = find_configuration(folder, OWN_FILES, self.name)
        return name or ("setup.cfg" if has_line(folder / "setup.cfg", "[mypy") else "")

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        """Return the mypy of the project's environment, or else that on PATH or beside this interpreter."""
        return find_in_environments(root, file, str(environment or ""), "mypy") or find_tool("mypy")

    def find_exclusion(self, folder: Path, file: Path) -> str:
        """Return whether the settings leave a file out. A command that names the file would check it nevertheless."""
        name = file.relative_to(folder).as_posix()
        return "" if _is_selected(_read_settings(folder), name) else f"mypy's configuration excludes {name}"

    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        shadows = [word for file, text in job.texts.items() for word in ("--shadow-file", str(file), str(text))]
        options = ["--show-column-numbers", "--no-error-summary", "--no-color-output", "--no-pretty"]
        options += ["--hide-error-context", "--cache-dir", str(job.cache)]
        python = find_interpreter(job.environment) if job.environment else None
        if python and python.parent != Path(job.program).parent:
            # a mypy of another installation does not know the packages of the project
            options += ["--python-executable", str(python)]
        settings = _read_settings(job.root)
        # an excluded file is read if one that is not excluded imports it
        files = [file for file in (*job.texts, *job.users) if _is_selected(settings, file.as_posix())]
        return [[job.program, *options, *shadows, "--", *map(str, files)]]

    def list_folders(self, program: str) -> tuple[Path, ...]:
        """Return the environment of mypy, and the installation of Python that it is made from."""
        folder = Path(program).resolve().parent
        return (*super().list_folders(program), (folder / "python").resolve().parent.parent)


def _read_settings(folder: Path) -> Mapping[str, Any]:
    """Return the settings of the file that mypy reads in a folder, or an empty table."""
    for name in OWN_FILES:
        if (folder / name).is_file():
            return _read_ini(folder / name)
    if table := read_table(folder / "pyproject.toml", "tool", "mypy"):
        return table
    return _read_ini(folder / "setup.cfg")


def _read_ini(file: Path) -> Mapping[str, Any]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(read_text(file, MAX_SETTINGS_BYTES))
        return dict(parser["mypy"])
    except (FileError, configparser.Error, KeyError):
        return {}


def _is_selected(settings: Mapping[str, Any], path: str) -> bool:
    """Return whether mypy would check a file by its settings alone.

    Args:
        settings: The settings.
        path: The file, relative to the folder of the settings.
    """
    if any(_does_find(pattern, path) for pattern in _list_exclusions(settings.get("exclude"))):
        return False
    files = [*_list_names(settings.get("files"))]
    modules = [*_list_names(settings.get("modules")), *_list_names(settings.get("packages"))]
    if not files and not modules:
        return True
    return any(_is_below(path, name) for name in files) or any(_is_module(settings, path, name) for name in modules)


def _does_find(pattern: str, path: str) -> bool:
    """Return whether a regular expression of `exclude` finds something in a path or in a folder above it."""
    folders = [f"{parent.as_posix()}/" for parent in PurePosixPath(path).parents if parent.name]
    try:
        return any(re.search(pattern, place) for place in (path, *folders))
    except re.error:
        # mypy itself says what is wrong
        return False


def _list_exclusions(value: Any) -> list[str]:
    """Return the regular expressions of `exclude`: a list, or a single one."""
    if isinstance(value, list):
        return [str(pattern) for pattern in cast("list[Any]", value)]
    text = str(value or "").strip()
    return [text] if text else []


def _list_names(value: Any) -> Iterator[str]:
    names = cast("list[Any]", value) if isinstance(value, list) else LISTS.split(str(value or ""))
    yield from (text for name in names if (text := str(name).strip()))


def _is_below(path: str, pattern: str) -> bool:
    """Return whether a file is one that `files` names, or lies in a folder that it names."""
    pattern = pattern.removeprefix("./").rstrip("/")
    if pattern in ("", "."):
        return True
    above = [PurePosixPath(path), *PurePosixPath(path).parents]
    return any(_matches(place.parts, PurePosixPath(pattern).parts) for place in above)


def _matches(parts: Sequence[str], patterns: Sequence[str]) -> bool:
    """Return whether a path fits a pattern part by part. `**` is any number of folders, also none."""
    if not patterns:
        return not parts
    if patterns[0] == "**":
        return any(_matches(parts[start:], patterns[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatch(parts[0], patterns[0]) and _matches(parts[1:], patterns[1:])


def _is_module(settings: Mapping[str, Any], path: str, name: str) -> bool:
    listed: Any = settings.get("mypy_path")
    words = cast("list[Any]", listed) if isinstance(listed, list) else re.split(r"[,:\n]", str(listed or ""))
    names = (str(word).strip().removeprefix(CONFIG_FOLDER).strip("/").removeprefix("./") for word in words)
    folders = [f"{folder}/" for folder in names if folder]
    places = (f"{folder}{name.replace('.', '/')}" for folder in (*SOURCE_FOLDERS, *folders))
    return any(path.startswith((f"{place}/", f"{place}.py")) for place in places)


class GoTool(ProjectTool):
    """A command of `go` on all packages of a module, without the network."""

    reader = "go"
    suffixes = (".go",)
    install_hint = "install Go from go.dev"

    def configures(self, folder: Path) -> str:
        return find_configuration(folder, ("go.mod",))

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        return find_tool("go")

    def create_environment(self, job: ToolJob) -> Mapping[str, str]:
        caches = {"GOCACHE": str(job.cache), "GOPATH": str(Path.home() / "go"), "GOTOOLCHAIN": "local"}
        return {**caches, "GOPROXY": "off", "GOTELEMETRY": "off", "CGO_ENABLED": "0"}

    def list_folders(self, program: str) -> tuple[Path, ...]:
        return (*super().list_folders(program), Path.home() / "go")


class GoBuild(GoTool):
    """The compiler. Only `go vet` compiles tests, but it stops at the first error of a package."""

    name = "go build"
    check = "types"

    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        has_tests = any(file.name.endswith("_test.go") for file in job.texts)
        build = [job.program, "build", "-gcflags=-e", "-o", "/dev/null", "./..."]
        return [build, *([[job.program, "vet", "./..."]] if has_tests else [])]


class GoVet(GoTool):
    """The linter that every installation of Go has."""

    name = "go vet"
    check = "lint"

    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        return [[job.program, "vet", "./..."]]


NAMES = tuple(f"eslint.config{suffix}" for suffix in (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"))
OLD_NAMES = tuple(f".eslintrc{suffix}" for suffix in (".js", ".cjs", ".yaml", ".yml", ".json", ""))
NOT_READ = "File ignored"
"""The beginning of the warning about a file that the configuration excludes."""


def find_node_program(root: Path, file: Path, name: str) -> str | None:
    """Return a program of the packages of a project, or None if it is missing or Node.js is.

    Args:
        root: The workspace folder.
        file: A file in it.
        name: The name of the program.
    """
    folders = (folder / "node_modules" / ".bin" for folder in folders_up_to(root, file))
    program = next(filter(None, (find_in_folder(folder, name) for folder in folders)), None)
    return program if find_tool("node") else None


def list_node_folders(program: str) -> tuple[Path, ...]:
    """Return the packages beside a program, which may be links to other folders, and the installation of Node.js."""
    node = Path(find_tool("node") or "/usr/bin/node").resolve()
    return (Path(program).parent.parent.resolve(), node.parent.parent)


class Eslint(ProjectTool):
    """The command of eslint on the changed texts, which it gets by its standard input."""

    name = "eslint"
    check = "lint"
    reader = "eslint"
    suffixes = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte")
    install_hint = "npm install"
    needs_files = False
    stopped_status = 2

    def configures(self, folder: Path) -> str:
        if name := find_configuration(folder, (*NAMES, *OLD_NAMES)):
            return name
        return "package.json" if "eslintConfig" in read_table(folder / "package.json") else ""

    def find_folder(self, root: Path, file: Path) -> Path:
        """Return the folder from which eslint finds its configuration.

        The old kind of configuration may lie in any folder, and its plug-ins are those of the nearest package.
        """
        folder = super().find_folder(root, file)
        if find_configuration(folder, NAMES):
            return folder
        return find_project_folder(root, folder / "file", ("package.json",))

    def find_program(self, root: Path, file: Path, environment: Path | None = None) -> str | None:
        """Return the program of the folders of a file in the workspace folder. It runs by Node.js."""
        return find_node_program(root, file, self.name)

    def create_commands(self, job: ToolJob) -> Sequence[Sequence[str]]:
        options = ("--format", "json", "--stdin", "--stdin-filename")
        return [[*STDIN, str(text), job.program, *options, str(file)] for file, text in job.texts.items()]

    def list_folders(self, program: str) -> tuple[Path, ...]:
        return (*super().list_folders(program), *list_node_folders(program))

    def find_refusal(self, digest: Digest) -> str:
        refused = next((problem for problem in digest.problems if problem.message.startswith(NOT_READ)), None)
        return f"eslint's configuration excludes {Path(refused.path).name}" if refused else ""


MANIFEST = "Cargo.toml"


RUST_HINT = "install Rust from rustup.rs"


def list_rust_folders() -> tuple[Path, ...]:
    """Return the folders in which rustup keeps the programs and packages of Rust."""
    return (Path.home() / ".cargo", Path.home() / ".rustup")


def list_rust_variables() -> dict[str, str]:
    """Return the variables by which the programs of Rust find these folders in a sandbox."""
    return dict(zip(("CARGO_HOME", "RUSTUP_HOME"), map(str, list_rust_folders()), strict=True))


class CargoTool(ProjectTool):
    """A command of cargo on all packages of a workspace, without the network."""

    reader = "cargo"
    suffixes = (".rs",)
    install_hint = RUST_HINT
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
        return {**list_rust_variables(), "CARGO_TERM_COLOR": "never"}

    def list_folders(self, program: str) -> tuple[Path, ...]:
        return (*super().list_folders(program), *list_rust_folders())


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


PROJECT_TOOLS: tuple[ProjectTool, ...] = (Mypy(), GoBuild(), GoVet(), CargoCheck(), CargoClippy(), Eslint())


def find_configured_tool(check: str, root: Path, file: Path) -> ProjectTool | None:
    """Return the tool that a project configures for a check of a file, or None. It need not be installed."""
    return next(
        (
            tool
            for tool in PROJECT_TOOLS
            if tool.check == check and file.suffix in tool.suffixes and tool.find_configuration(root, file)
        ),
        None,
    )
