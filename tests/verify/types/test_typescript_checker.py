"""The real TypeScript, where it is found, and which of its findings count.

`LSP_HARNESS_REAL_TYPESCRIPT` names the packages that the first tests run, separated by `:`.
"""

import shutil
from pathlib import Path

import pytest

from lsp_harness.text.document import Document
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.checkers import (
    PACKAGE,
    TOO_FEW_ARGUMENTS,
    TYPESCRIPT_VARIABLE,
    UNFINISHED_CALL,
    TypeScriptChecker,
)
from lsp_harness.verify.types.type_gate import TypeGate
from lsp_harness.workspace.cursor import Cursor
from lsp_harness.workspace.workspace import Workspace
from tests.harness.tools import make_settings
from tests.support.real_checkers import REAL_TYPESCRIPTS
from tests.verify.types.desk import wait_for

HEAD = "import { area, Shape } from './other';\n\ndeclare const shape: Shape;\nconst text = '€𝒳';\n"
CASES = [
    ("console.log(Math.<|>\n", "round(1.5))", "passed"),
    ("console.log(Math.<|>\n", "roundd(1.5))", "failed"),
    ("/* €𝒳 */ shape.<|>\n", "name.toUpperCase()", "passed"),
    ("/* €𝒳 */ shape.<|>\n", "title", "failed"),
    ("<|>\n", "area(1, 2);", "passed"),
    ("<|>\n", "area(1);", "failed"),
    ("<|>\n", "area(1, (", "passed"),
    ("area(<|>)\n", "1", "passed"),
    ("<|>\n", "area(1, 2, 3);", "failed"),
    ("<|>\n", "new Error().stack?.trim();", "passed"),
    ("<|>\n", "const other: Shape = { name: '', titel: 1 };", "failed"),
    ("<|>\n", "import { circle } from './other';", "failed"),
    ("<|>\n", "import nothing from './nothing';", "failed"),
    ("<|>\n", "undefinedName();", "failed"),
    ("function f(p: any) {\n  return p.<|>\n}\n", "anything;", "passed"),
    ("function f(p: string | null) {\n  return p.<|>\n}\n", "length;", "passed"),
]


def make_gate(folder: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[TypeGate, CheckerPool]:
    monkeypatch.setenv(TYPESCRIPT_VARIABLE, str(package))
    (folder / "tsconfig.json").write_text('{"compilerOptions": {"strict": true, "skipLibCheck": true}}')
    (folder / "other.ts").write_text(
        "export interface Shape { name: string }\nexport function area(w: number, h: number) { return w * h; }\n"
    )
    config = make_settings(completion={"type_gate_ms": 30_000})
    pool = CheckerPool()
    return TypeGate(Workspace([folder]), lambda: config, pool), pool


async def check(gate: TypeGate, file: Path, marked: str, text: str, language: str) -> str:
    before, _, after = marked.partition("<|>")
    document = Document.from_text(file.as_uri(), before + after, language=language)
    [outcome] = await gate.check(Cursor(document, None, len(before.encode()), file.name), [text])
    return outcome.status


@pytest.mark.parametrize("package", REAL_TYPESCRIPTS, ids=str)
async def test_typescript_finds_names_that_do_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: Path):
    gate, pool = make_gate(tmp_path, package, monkeypatch)
    file = tmp_path / "a.ts"
    gate.prepare(Document.from_text(file.as_uri(), HEAD, language="typescript"))
    await wait_for(lambda: pool.state()[0]["state"] == "ready")
    statuses = [await check(gate, file, HEAD + marked, text, "typescript") for marked, text, _ in CASES]
    scripts = [
        await check(gate, tmp_path / "b.js", "const shape = { title: 1 };\n<|>\n", text, "javascript")
        for text in ("shape.title;", "shap.title;", "unknownName;")
    ]
    await gate.aclose()
    await pool.aclose()
    assert [(case[1], status) for case, status in zip(CASES, statuses, strict=True)] == [
        (text, status) for _, text, status in CASES
    ]
    # names that resemble no other are not reported in JavaScript that the project does not check
    assert scripts == ["passed", "failed", "passed"]


# -- arguments
@pytest.mark.parametrize(
    ("marked", "message", "code", "end"),
    [
        ("<area>(1); x", "Expected 2 arguments, but got 1.", TOO_FEW_ARGUMENTS, "area(1)"),
        ("<area>(')', /* ( */ [1, `)`], { a: f() })", "Expected 4 arguments, but got 3.", TOO_FEW_ARGUMENTS, None),
        ("s.<area> ?.()", "Expected at least 2 arguments, but got 0.", TOO_FEW_ARGUMENTS, None),
        ("<new P()>;", "Expected 1 arguments, but got 0.", TOO_FEW_ARGUMENTS, "new P()"),
        ("<area>(1, f(", "Expected 2 arguments, but got 1.", UNFINISHED_CALL, "area"),
        ("<area>(1\n}", "Expected 2-3 arguments, but got 1.", UNFINISHED_CALL, "area"),
        ("area(1, 2, <3>)", "Expected 2 arguments, but got 3.", "2554", "area(1, 2, 3"),
    ],
)
def test_an_error_about_few_arguments_ends_at_the_bracket(marked: str, message: str, code: str, end: str | None):
    start, stop = marked.index("<"), marked.index(">") - 1
    text = marked.replace("<", "").replace(">", "")
    document = Document.from_text("file:///a.ts", text, language="typescript")
    finding = TypeScriptChecker().interpret(Finding(start, stop, message, code="2554"), document)
    assert (finding.code, finding.start) == (code, start)
    assert text[: finding.end].removeprefix("s.") == (text.removeprefix("s.") if end is None else end)


# -- where it is found
def create_package(folder: Path, version: str) -> Path:
    package = folder / "node_modules" / "typescript"
    package.mkdir(parents=True)
    (package / "package.json").write_text(f'{{"version": "{version}"}}')
    return package


def test_the_nearest_typescript_of_the_workspace_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(TYPESCRIPT_VARIABLE, raising=False)
    root = tmp_path / "folder"
    file = root / "packages" / "a" / "a.ts"
    global_package = create_package(tmp_path / "global", "4.9.5")
    (global_package / "bin").mkdir()
    (global_package / "bin" / "tsc").touch()
    programs = {"node": "/usr/bin/node", "tsc": str(global_package / "bin" / "tsc")}
    monkeypatch.setattr(shutil, "which", programs.get)

    def command() -> list[str]:
        program = TypeScriptChecker().find_program(root, file)
        return [*program.argv[:2]] if program else []

    # a package above the workspace folder is not trusted
    create_package(tmp_path, "5.0.0")
    assert command() == ["/usr/bin/node", str(global_package / "lib" / "tsserver.js")]
    own = create_package(root, "5.9.3")
    assert command() == ["/usr/bin/node", str(own / "lib" / "tsserver.js")]
    nearest = create_package(root / "packages" / "a", "7.0.2")
    assert command() == ["/usr/bin/node", str(nearest / "bin" / "tsc")]
    monkeypatch.setenv(TYPESCRIPT_VARIABLE, str(own))
    assert command() == ["/usr/bin/node", str(own / "lib" / "tsserver.js")]
    monkeypatch.setenv(TYPESCRIPT_VARIABLE, "off")
    assert command() == []
    monkeypatch.delenv(TYPESCRIPT_VARIABLE)
    (nearest / "package.json").write_text("{")
    assert command() == []
    del programs["node"]
    assert command() == []
    assert PACKAGE in TypeScriptChecker.install_hint
