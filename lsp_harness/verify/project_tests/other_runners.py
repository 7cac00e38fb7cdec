"""The programs that run tests of JavaScript, TypeScript, Rust and Go."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lsp_harness.knowledge.project_python import find_project_folder, folders_up_to
from lsp_harness.process.tool_run import find_tool
from lsp_harness.verify.digest.node_test import EVENTS_REPORTER
from lsp_harness.verify.project_tests.node_scripts import (
    ScriptCommand,
    as_name_patterns,
    read_patterns,
    read_test_commands,
)
from lsp_harness.verify.project_tests.suite_runner import (
    Selection,
    SuiteRunner,
    as_mapping,
    read_json,
    read_settings_text,
    read_toml,
    relative_folder,
)

NODE_FOLDER = Path("node_modules") / ".bin"
NODE_SUFFIXES = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")
NODE_PATTERNS = (
    "*.test.*",
    "*.spec.*",
    "test.*",
    "*-test.*",
    "*_test.*",
    "test-*.*",
    "*/__tests__/*",
    "test/*",
    "*/test/*",
)
MOCHA_PATTERNS = (*NODE_PATTERNS, "tests/*", "*/tests/*", "spec/*", "*/spec/*")
IN_SOURCE_TESTS = re.compile(rb"import\.meta\.vitest")
RUST_TESTS = re.compile(rb"#\[(?:\w+::)?test\b|#\[cfg\(test\)\]|^\s*//[/!] *```", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NodeProgram:
    """A program of node that runs tests.

    Attributes:
        options: The options of a run.
        report: The options that write a report, with `{}` for its file.
        bail: The option that ends the run after some failures, with `{}` for their number. It may be empty.
        patterns: Names of test files.
    """

    options: tuple[str, ...]
    report: tuple[str, ...]
    bail: str
    patterns: tuple[str, ...] = NODE_PATTERNS


NODE_PROGRAMS: Mapping[str, NodeProgram] = {
    "vitest": NodeProgram(("run",), ("--reporter=json", "--outputFile={}"), "--bail={}"),
    "jest": NodeProgram(("--ci",), ("--json", "--outputFile={}"), "--bail={}"),
    "mocha": NodeProgram((), ("--reporter", "json", "--reporter-option", "output={}"), "--bail", MOCHA_PATTERNS),
}
NODE_TEST = NodeProgram((), (f"--test-reporter={EVENTS_REPORTER}", "--test-reporter-destination={}"), "")
"""`node --test`, whose options come from the script."""


def find_node_runner(root: Path, file: Path) -> SuiteRunner | None:
    """Return the program that runs the tests of the nearest package of a file, or None.

    Args:
        root: The workspace folder.
        file: The file.
    """
    for folder in folders_up_to(root, file):
        if (folder / "package.json").is_file() and (runner := _find_in_package(root, folder)):
            return runner
    return None


def _find_in_package(root: Path, folder: Path) -> SuiteRunner | None:
    settings = read_json(folder / "package.json")
    used = {**as_mapping(settings.get("devDependencies")), **as_mapping(settings.get("dependencies"))}
    commands = read_test_commands(as_mapping(settings.get("scripts")))
    commands += [ScriptCommand(name) for name in NODE_PROGRAMS if name in used]
    return next((runner for command in commands if (runner := _create_node_runner(root, folder, command))), None)


def _create_node_runner(root: Path, folder: Path, script: ScriptCommand) -> SuiteRunner | None:
    """Return the program of a command in a script, with its options, or None if it is not installed."""
    found = find_tool("node") if script.program == "node" else _find_installed(root, folder, script.program)
    path = str(found or (find_tool("tsx") if script.program == "tsx" else None) or "")
    if not path:
        return None
    chosen = NODE_PROGRAMS.get(script.program, NODE_TEST)

    def command(selection: Selection) -> list[str]:
        limit = [chosen.bail.format(selection.max_failures)] if selection.max_failures and chosen.bail else []
        report = [option.replace("{}", str(selection.report)) for option in chosen.report]
        return [path, *chosen.options, *script.options, *report, *limit, *selection.files]

    settings = read_patterns(folder, script.program, script.options)
    return SuiteRunner(
        "node" if chosen is NODE_TEST else script.program,
        "package.json",
        NODE_SUFFIXES,
        command,
        _node_folders(root, folder),
        script.env,
        folder=relative_folder(root, folder),
        patterns=(*chosen.patterns, *as_name_patterns([*script.files, *settings], folder)),
        has_own_tests=lambda text: script.program == "vitest" and bool(IN_SOURCE_TESTS.search(text)),
    )


def _find_installed(root: Path, folder: Path, name: str) -> Path | None:
    """Return a program in `node_modules` of a folder or of those above it."""
    programs = (parent / NODE_FOLDER / name for parent in folders_up_to(root, folder / "package.json"))
    return next((program for program in programs if program.exists()), None)


def _node_folders(root: Path, folder: Path) -> tuple[Path, ...]:
    """Return the folders of packages, where links lead to other folders, too."""
    modules = [parent / "node_modules" for parent in folders_up_to(root, folder / "package.json")]
    real = [path.resolve() for path in modules if path.is_dir()]
    node = find_tool("node")
    return tuple(dict.fromkeys([*real, *([Path(node).resolve().parent.parent] if node else [])]))


def find_cargo_runner(root: Path, file: Path) -> SuiteRunner | None:
    """Return `cargo test` for the crate or the workspace of a Rust file, or None. The arguments are as above."""
    cargo = find_tool("cargo")
    folder = find_project_folder(root, file, ("Cargo.toml",))
    if not cargo or not (folder / "Cargo.toml").is_file():
        return None
    above = [parent for parent in folders_up_to(root, folder / "Cargo.toml") if parent != folder]
    workspace = next((parent for parent in above if "workspace" in read_toml(parent / "Cargo.toml")), None)
    base = workspace or folder
    everything = ["--workspace"] if "workspace" in read_toml(base / "Cargo.toml") else []

    def command(selection: Selection) -> list[str]:
        # unit tests are within the sources, and a file in `tests` is a target of its own
        in_tests = [PurePosixPath(path) for path in selection.files if PurePosixPath(path).parent.name == "tests"]
        chosen = [option for path in in_tests for option in ("--test", path.stem)]
        only_targets = chosen if len(in_tests) == len(selection.files) and not everything else []
        target = [] if selection.is_in_place else ["--target-dir", str(selection.report.parent / "target")]
        return [cargo, "test", "--offline", "--no-fail-fast", *target, *everything, *only_targets]

    return SuiteRunner(
        "cargo",
        "Cargo.toml",
        (".rs",),
        command,
        (*_list_homes(("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")), Path(cargo).resolve().parent.parent),
        _name_homes(("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")),
        folder=relative_folder(root, base),
        patterns=("tests/*.rs", "*/tests/*.rs"),
        has_own_tests=lambda text: bool(RUST_TESTS.search(text)),
        runs_all=True,
    )


def find_go_runner(root: Path, file: Path) -> SuiteRunner | None:
    """Return `go test` for the module of a Go file, or None. The arguments are as above."""
    go = find_tool("go")
    folder = find_project_folder(root, file, ("go.mod",))
    if not go or not (folder / "go.mod").is_file():
        return None

    def command(selection: Selection) -> list[str]:
        folders = sorted({f"./{PurePosixPath(path).parent}" for path in selection.files})
        # without -v the tests that pass are not named
        return [go, "test", "-v", *(["-failfast"] if selection.max_failures == 1 else []), *(folders or ["./..."])]

    homes = (("GOPATH", "go"), ("GOCACHE", ".cache/go-build"))
    flags = "" if "replace" in read_settings_text(folder / "go.mod") or (folder / "vendor").is_dir() else "-mod=mod"
    env = {"GOPROXY": "off", **({"GOFLAGS": flags} if flags else {}), **_name_homes(*homes)}
    programs = (Path(go).resolve().parent.parent, *_list_homes(*homes))
    return SuiteRunner(
        "go", "go.mod", (".go",), command, programs, env, folder=relative_folder(root, folder), patterns=("*_test.go",)
    )


def _list_homes(*homes: tuple[str, str]) -> tuple[Path, ...]:
    return tuple(Path(path) for path in _name_homes(*homes).values())


def _name_homes(*homes: tuple[str, str]) -> dict[str, str]:
    """Return the variables that name folders of a tool, which it would look for in another home."""
    named = {variable: os.environ.get(variable) or str(Path.home() / name) for variable, name in homes}
    return {variable: path for variable, path in named.items() if Path(path).exists()}
