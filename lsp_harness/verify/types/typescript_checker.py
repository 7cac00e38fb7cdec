"""TypeScript, which checks TypeScript and JavaScript. Its program is the one that the project itself installed.

From version 7 on it is a language server. Earlier versions have `tsserver`.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from lsp_harness.disk.file_reading import read_text
from lsp_harness.errors import FileError
from lsp_harness.knowledge.project_python import folders_up_to
from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.types.project_settings import find_configuration
from lsp_harness.verify.types.tsserver_conversation import TsserverConversation
from lsp_harness.verify.types.type_checker import Condition, Program, TypeChecker

PROGRAM_VARIABLE = "LSP_HARNESS_TYPESCRIPT"
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
        """Return settings that keep it from downloading types."""
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
    if chosen := os.environ.get(PROGRAM_VARIABLE):
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
