"""The checkers that run all the time: the type checkers of each language, and the server of ruff, which lints.

gopls and rust-analyzer run only if the user names them, because they are untested with the real program.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError
from lsp_harness.knowledge.project_python import (
    ENVIRONMENT_FOLDERS,
    find_environment,
    find_interpreter,
    find_python_project,
    folders_up_to,
    program_folders,
)
from lsp_harness.process.tool_run import find_tool
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.types.project_settings import find_configuration, find_configured_folder, read_table
from lsp_harness.verify.types.tsserver_conversation import TsserverConversation
from lsp_harness.verify.types.type_checker import Condition, Program, TypeChecker, find_chosen_program, find_in_folder

TYPESCRIPT_VARIABLE = "LSP_HARNESS_TYPESCRIPT"
"""The environment variable with the path of another package `typescript`, or of its `tsc`. If there is no such package,
none is used."""
PACKAGE = "typescript"
PROJECT_FILES = ("tsconfig.json", "jsconfig.json")
FIRST_NATIVE_VERSION = 7
ARGUMENT_COUNTS = ("2554", "2555")
TOO_FEW_ARGUMENTS = "too few arguments"
"""The rule of a call that is complete and has too few arguments."""
UNFINISHED_CALL = "unfinished call"
"""The rule of a call that has too few arguments and no end. It does not count."""
COUNTS = re.compile(r"Expected (?:at least )?(\d+)(?:-\d+)? arguments?, but got (\d+)")
TOKEN = re.compile(
    rb"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`|[()\[\]{}]", re.DOTALL
)
"""A comment, a string or a bracket. Comments and strings are matched, so that brackets in them do not count."""
CALL_START = re.compile(rb"\s*(?:\?\.)?\s*\(")


class TypeScriptChecker(TypeChecker):
    """The language server of TypeScript, or `tsserver`."""

    name: ClassVar[str] = "typescript"
    install_hint: ClassVar[str] = "npm install typescript, and Node.js on PATH"
    counting_rules: ClassVar[Mapping[str, Condition]] = {
        # names: unknown, almost another one, a namespace, a member of the class, in a shorthand property
        **dict.fromkeys(("2304", "2552", "2503", "2662", "2663", "18004"), "always"),
        # members
        **dict.fromkeys(("2339", "2551"), "always"),
        # names and members in JavaScript that the project does not check, almost another one
        **dict.fromkeys(("2568", "2570"), "always"),
        # properties of an object literal
        **dict.fromkeys(("2353", "2561"), "always"),
        # exported members
        **dict.fromkeys(("2305", "2613", "2614", "2694", "2724", "2459", "2460", "1192"), "always"),
        # modules
        **dict.fromkeys(("2307", "2792"), "environment"),
        # arguments: what is left of these rules are too many arguments
        **dict.fromkeys(ARGUMENT_COUNTS, "always"),
        TOO_FEW_ARGUMENTS: "closed",
    }

    only_reads: ClassVar[bool] = True
    included_suffixes: ClassVar[tuple[str, ...]] = (".ts", ".tsx", ".mts", ".cts")

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the TypeScript of the folders of a file in the workspace folder, or else that of `tsc` on PATH."""
        node, package = shutil.which("node"), _find_package(root, file)
        version = _major_version(package) if package else None
        if node is None or package is None or version is None:
            return None
        if version >= FIRST_NATIVE_VERSION:
            return Program([node, str(package / "bin" / "tsc"), "--lsp", "--stdio"])
        options = ["--disableAutomaticTypingAcquisition", "--suppressDiagnosticEvents", "--locale", "en"]
        return Program([node, str(package / "lib" / "tsserver.js"), *options], TsserverConversation.start)

    def configures(self, folder: Path) -> str:
        return find_configuration(folder, PROJECT_FILES)

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings that forbid the checker to download types."""
        return {
            "disableAutomaticTypeAcquisition": True,
            "tsserver": {"automaticTypeAcquisition": {"enabled": False}},
        }

    def interpret(self, finding: Finding, document: Document) -> Finding:
        """Give a call with too few arguments another rule than one with too many, and the end of the call."""
        match = COUNTS.search(finding.message) if finding.code in ARGUMENT_COUNTS else None
        if match is None or int(match[2]) >= int(match[1]):
            return finding
        end = find_call_end(document.data, finding.end)
        return replace(finding, code=TOO_FEW_ARGUMENTS, end=end) if end else replace(finding, code=UNFINISHED_CALL)


def find_call_end(data: bytes, callee_end: int) -> int | None:
    """Return the place behind the last bracket of a call, or None if the call is not closed.

    Args:
        data: The text.
        callee_end: The end of the name that is called, or of a whole expression with `new`.
    """
    if not CALL_START.match(data, callee_end):
        return callee_end if data[callee_end - 1 : callee_end] == b")" else None
    depth = 0
    for match in TOKEN.finditer(data, callee_end):
        if match[0] in (b"(", b"[", b"{"):
            depth += 1
        elif match[0] in (b")", b"]", b"}"):
            depth -= 1
        if depth == 0 and match[0] in (b")", b"]", b"}"):
            return match.end() if match[0] == b")" else None
    return None


def _find_package(root: Path, file: Path) -> Path | None:
    if chosen := os.environ.get(TYPESCRIPT_VARIABLE):
        return _package_of(Path(chosen))
    packages = (folder / "node_modules" / PACKAGE for folder in folders_up_to(root, file))
    if package := next((package for package in packages if (package / "package.json").is_file()), None):
        return package
    program = shutil.which("tsc")
    return _package_of(Path(program)) if program else None


def _package_of(path: Path) -> Path | None:
    """Return the package `typescript` that a path names, or that a program belongs to."""
    path = path.resolve()
    return next((folder for folder in (path, *path.parents) if folder.name == PACKAGE and folder.is_dir()), None)


def _major_version(package: Path) -> int | None:
    try:
        version = str(json.loads(read_text(package / "package.json"))["version"])
        return int(version.partition(".")[0])
    except (FileError, ValueError, KeyError, TypeError):
        return None


RUST_ANALYZER_VARIABLE = "LSP_HARNESS_RUST_ANALYZER"
"""The environment variable with the path of `rust-analyzer`."""


class RustAnalyzerChecker(TypeChecker):
    """The language server of Rust, with the findings that it computes itself."""

    name: ClassVar[str] = "rust-analyzer"
    install_hint: ClassVar[str] = f"{RUST_ANALYZER_VARIABLE} names the program"
    counting_rules: ClassVar[Mapping[str, Condition]] = {
        # names, fields and methods that do not exist
        **dict.fromkeys(("E0425", "E0559", "E0560", "E0599", "E0609"), "always"),
        **dict.fromkeys(("E0432", "E0433"), "environment"),
        # the number of arguments; a missing one is reported at the closing bracket
        "E0107": "closed",
    }

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the program of the environment variable."""
        program = find_chosen_program(RUST_ANALYZER_VARIABLE)
        return Program([program]) if program else None

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings without `cargo check`, whose findings are about files on disk."""
        return {
            "checkOnSave": False,
            "cachePriming": {"enable": False},
            "diagnostics": {"experimental": {"enable": True}},
        }


class RuffServer(TypeChecker):
    """The language server of ruff. It reports what `ruff check` reports, but not which fixes are safe."""

    name: ClassVar[str] = "ruff"
    install_hint: ClassVar[str] = "pip install ruff"
    counting_rules: ClassVar[Mapping[str, Condition]] = {}

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the ruff that `ruff_linter` runs. It has no plug-ins."""
        return self.find_static_program()

    def find_static_program(self) -> Program | None:
        program = find_tool("ruff")
        return Program([program, "server"]) if program else None

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings that leave all rules to the files of the project."""
        return {"settings": {"showSyntaxErrors": True}}

    def interpret(self, finding: Finding, document: Document) -> Finding:
        """Return a finding with the code and severity that `ruff_linter` gives it."""
        is_syntax = finding.code in ("", "invalid-syntax")
        return replace(
            finding,
            code="invalid-syntax" if is_syntax else finding.code,
            severity="error" if is_syntax else "warning",
        )


TY_VARIABLE = "LSP_HARNESS_TY"
"""The environment variable with the path of another `ty`. If there is no such file, none is used."""
TABLE_NAMES = ("tool", "ty", "environment")
"""The names of the table of `pyproject.toml` by which a project names its environment."""


class PythonChecker(TypeChecker):
    """A checker that runs in the project of a file: the nearest one that configures it, or else the nearest one."""

    def find_folder(self, root: Path, file: Path) -> Path:
        return find_configured_folder(root, file, self.configures) or find_python_project(root, file)

    def find_environment(self, root: Path, file: Path, setting: str) -> str:
        found = find_environment(root, file, setting)
        return str(found) if found else ""


def find_in_environments(root: Path, file: Path, environment: str, name: str) -> str | None:
    """Return a program of the environment of a file's project, or of one in the folders of the file, or None."""
    chosen = (Path(environment),) if environment else ()
    around = (folder / env for folder in folders_up_to(root, file) for env in ENVIRONMENT_FOLDERS)
    places = (folder for place in (*chosen, *around) for folder in program_folders(place))
    return next(filter(None, (find_in_folder(place, name) for place in places)), None)


class TyChecker(PythonChecker):
    """The language server of ty."""

    name: ClassVar[str] = "ty"
    install_hint: ClassVar[str] = "pip install ty"
    only_reads: ClassVar[bool] = True
    canary: ClassVar[str] = 'import no_such_module_here\nno_such_name_here\nx: int = ""\n'
    counting_rules: ClassVar[Mapping[str, Condition]] = {
        # names
        "unresolved-reference": "always",
        # attributes: `missing-attribute` and `missing-module-member` were `unresolved-attribute` before ty 0.0.100
        "missing-attribute": "always",
        "missing-module-member": "always",
        "unresolved-attribute": "always",
        # imports, with the older name
        "import-not-found": "environment",
        "unresolved-import": "environment",
        # arguments
        "unknown-argument": "always",
        "positional-only-parameter-as-kwarg": "always",
        "parameter-already-assigned": "always",
        "too-many-positional-arguments": "always",
        "missing-argument": "closed",
    }

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the ty of the project's environment, or else that on PATH or beside this interpreter."""
        own = find_in_environments(root, file, environment, "ty")
        if own and not os.environ.get(TY_VARIABLE):
            return Program([own, "server"])
        return self.find_static_program()

    def find_static_program(self) -> Program | None:
        chosen = os.environ.get(TY_VARIABLE)
        program = find_chosen_program(TY_VARIABLE) if chosen else find_tool("ty")
        return Program([program, "server"]) if program else None

    def configures(self, folder: Path) -> str:
        return find_configuration(folder, ("ty.toml",), self.name)

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings that name the environment, unless the project itself does."""
        settings: dict[str, Any] = {"diagnosticMode": "openFilesOnly", "showSyntaxErrors": False}
        tables = (read_table(root / "ty.toml", "environment"), read_table(root / "pyproject.toml", *TABLE_NAMES))
        if python and not any("python" in table for table in tables):
            settings["configuration"] = {"environment": {"python": python}}
        return settings


GOPLS_VARIABLE = "LSP_HARNESS_GOPLS"
"""The environment variable with the path of `gopls`."""


class GoplsChecker(TypeChecker):
    """The language server of Go. Versions that answer no requests for findings publish them."""

    name: ClassVar[str] = "gopls"
    install_hint: ClassVar[str] = f"{GOPLS_VARIABLE} names the program"
    counting_rules: ClassVar[Mapping[str, Condition]] = {
        # names, also those of packages
        **dict.fromkeys(("UndeclaredName", "UndeclaredImportedName", "UnexportedName"), "always"),
        # members, and fields of a literal
        **dict.fromkeys(("MissingFieldOrMethod", "MissingLitField"), "always"),
        "BrokenImport": "environment",
        # too few arguments are reported at the closing bracket
        "WrongArgCount": "closed",
    }

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the program of the environment variable."""
        program = find_chosen_program(GOPLS_VARIABLE)
        return Program([program, "serve"]) if program else None

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings that let it answer requests for findings, and leave out the analyses that do not count."""
        return {"pullDiagnostics": True, "staticcheck": False, "diagnosticsDelay": "0s"}


OWN_FILE = "pyrightconfig.json"


class PyrightChecker(PythonChecker):
    """The language server of pyright, or that of basedpyright if only this one is installed."""

    name: ClassVar[str] = "pyright"
    install_hint: ClassVar[str] = "pip install pyright"
    counting_rules: ClassVar[Mapping[str, Condition]] = {
        "reportMissingImports": "environment",
        "reportMissingModuleSource": "environment",
    }
    stands_for = TyChecker.name
    servers: ClassVar[tuple[str, ...]] = ("pyright-langserver", "basedpyright-langserver")
    files: ClassVar[tuple[str, ...]] = (OWN_FILE,)

    def find_program(self, root: Path, file: Path, environment: str = "") -> Program | None:
        """Return the server of the project's environment, or else that on PATH or beside this interpreter."""
        modules = [folder / "node_modules" / ".bin" for folder in folders_up_to(root, file)]
        for server in self.servers:
            own = find_in_environments(root, file, environment, server)
            own = own or next(filter(None, (find_in_folder(folder, server) for folder in modules)), None)
            if program := own or find_tool(server):
                return Program([program, "--stdio"])
        return None

    def configures(self, folder: Path) -> str:
        return find_configuration(folder, self.files, self.name)

    def find_exclusion(self, folder: Path, file: Path) -> str:
        """Return whether `include`, `exclude` or `ignore` leave a file out. The server looks at it nevertheless."""
        name = file.relative_to(folder).as_posix() if file.is_relative_to(folder) else ""
        table = self._read_settings(folder)
        included, excluded = _read_patterns(table, "include"), _read_patterns(table, "exclude", "ignore")
        is_out = any(map(_create_matcher(name), excluded))
        if name and (is_out or (included and not any(map(_create_matcher(name), included)))):
            return f"{self.name}'s configuration excludes {name}"
        return ""

    def _read_settings(self, folder: Path) -> Mapping[str, Any]:
        """Return the settings of a folder. The file of pyright comes before `pyproject.toml`."""
        if (folder / OWN_FILE).is_file():
            return read_table(folder / OWN_FILE)
        names = (self.name, PyrightChecker.name)
        tables = [read_table(folder / "pyproject.toml", "tool", name) for name in names]
        return next(filter(None, tables), tables[0])

    def settings(self, root: Path, python: str) -> dict[str, Any]:
        """Return settings that name the environment, and let it report open files only. It asks for them by parts."""
        analysis = {"diagnosticMode": "openFilesOnly", "autoSearchPaths": True, "useLibraryCodeForTypes": True}
        interpreter = find_interpreter(Path(python)) if python else None
        settings: dict[str, Any] = {"analysis": analysis, **analysis}
        if interpreter:
            settings["pythonPath"] = str(interpreter)
        return settings


class BasedPyrightChecker(PyrightChecker):
    """The language server of basedpyright."""

    name: ClassVar[str] = "basedpyright"
    install_hint: ClassVar[str] = "pip install basedpyright"
    servers: ClassVar[tuple[str, ...]] = ("basedpyright-langserver",)
    files: ClassVar[tuple[str, ...]] = ()


def _read_patterns(settings: Mapping[str, Any], *names: str) -> list[str]:
    """Return the patterns of some lists of settings."""
    lists = (cast("Any", settings.get(name)) for name in names)
    return [str(pattern) for patterns in lists if isinstance(patterns, list) for pattern in cast("list[Any]", patterns)]


def _create_matcher(path: str) -> Callable[[str], bool]:
    """Return a function that says whether a pattern of pyright names a path or a folder above it.

    `**` stands for any folders, `*` for any characters of a name, and `?` for one.
    """

    def matches(pattern: str) -> bool:
        words = [_translate(word) for word in pattern.removeprefix("./").strip("/").split("/") if word not in ("", ".")]
        return re.match("".join(words) + r"(?:/|\Z)", f"{path}") is not None if words else True

    return matches


def _translate(word: str) -> str:
    """Return the regular expression for one part of a pattern, whose parts are joined by slashes."""
    if word == "**":
        return r"(?:(?:\A|/)[^/]+)*"
    name = "".join({"*": "[^/]*", "?": "[^/]"}.get(letter, re.escape(letter)) for letter in word)
    return rf"(?:\A|/){name}"


TYPE_CHECKERS: tuple[TypeChecker, ...] = (
    TyChecker(),
    PyrightChecker(),
    BasedPyrightChecker(),
    TypeScriptChecker(),
    GoplsChecker(),
    RustAnalyzerChecker(),
    RuffServer(),
)
"""A language names its type checker in its file (`lsp_harness/languages`)."""
