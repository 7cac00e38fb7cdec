"""Small real projects in four languages: a candidate with a type error is rejected for that reason, one without passes.

The tools are those of this machine. A test whose tool is missing is skipped and says so.
"""

import hashlib
from pathlib import Path

import pytest

from lsp_harness.verify.types.checkers import TY_VARIABLE
from tests.support.installed_tools import need_node_modules, need_program
from tests.support.real_checkers import REAL_TY
from tests.verify.project_tools.workbench import Workbench

pytestmark = pytest.mark.process

PYTHON = {
    "shop/__init__.py": "",
    "shop/prices.py": "def total(prices: list[int]) -> int:\n    return sum(prices)\n",
    "shop/bill.py": (
        "from shop.prices import total\n\n\ndef show(prices: list[int]) -> str:\n    return str(total(prices))\n"
    ),
}
GOOD_BILL = PYTHON["shop/bill.py"].replace("return str(total(prices))", 'return f"{total(prices)} EUR"')
BAD_BILL = PYTHON["shop/bill.py"].replace("return str(total(prices))", "return total(prices)")


def hash_files(root: Path) -> str:
    """Return a hash of all files of a project and their contents."""
    files = sorted(file for file in root.rglob("*") if file.is_file() and "node_modules" not in file.parts)
    return hashlib.sha256(b"".join(str(file).encode() + file.read_bytes() for file in files)).hexdigest()


@pytest.mark.skipif(not REAL_TY, reason="ty is not installed (pip install ty)")
async def test_ty_finds_errors_in_a_project(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TY_VARIABLE, REAL_TY)
    workbench.write(PYTHON)
    before = hash_files(workbench.root)
    assert await workbench.find_types({"shop/bill.py": GOOD_BILL}, "python") == []
    [line] = await workbench.find_types({"shop/bill.py": BAD_BILL}, "python")
    assert line.startswith("TYPE ERROR at line 5: Return type does not match returned value")
    assert hash_files(workbench.root) == before


@pytest.mark.skipif(not REAL_TY, reason="ty is not installed (pip install ty)")
async def test_the_texts_of_a_proposal_are_judged_together(
    workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TY_VARIABLE, REAL_TY)
    workbench.write(PYTHON)
    renamed = {name: text.replace("total", "add_up") for name, text in PYTHON.items() if "total" in text}
    assert await workbench.find_types(renamed, "python") == []
    half = {"shop/bill.py": renamed["shop/bill.py"]}
    [line] = await workbench.find_types(half, "python")
    assert "add_up" in line
    # the disk is as before, and so is the answer about it
    assert await workbench.find_types({"shop/bill.py": GOOD_BILL}, "python") == []


async def test_mypy_finds_errors_in_a_project(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("mypy", monkeypatch)
    workbench.write({**PYTHON, "mypy.ini": "[mypy]\nstrict = True\n"})
    before = hash_files(workbench.root)
    assert await workbench.find_types({"shop/bill.py": GOOD_BILL}, "python") == []
    assert await workbench.find_types({"shop/bill.py": BAD_BILL}, "python") == [
        'TYPE ERROR at line 5: Incompatible return value type (got "int", expected "str")'
    ]
    assert hash_files(workbench.root) == before
    assert [argv[0].endswith("mypy") for argv in workbench.asked] == [True, True]


async def test_pyright_finds_errors_in_a_project(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("pyright-langserver", monkeypatch)
    workbench.write({**PYTHON, "pyrightconfig.json": "{}"})
    assert await workbench.find_types({"shop/bill.py": GOOD_BILL}, "python") == []
    [line] = await workbench.find_types({"shop/bill.py": BAD_BILL}, "python")
    assert line == 'TYPE ERROR at line 5: Type "int" is not assignable to return type "str"'


TYPESCRIPT = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "noEmit": true}}\n',
    "prices.ts": "export function total(prices: number[]): number {\n  return prices.reduce((a, b) => a + b, 0);\n}\n",
    "bill.ts": "import { total } from './prices';\n\nexport const show = (p: number[]): string => String(total(p));\n",
}


async def test_the_typescript_of_a_project_finds_errors(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("node", monkeypatch)
    monkeypatch.delenv("LSP_HARNESS_TYPESCRIPT", raising=False)
    need_node_modules(workbench.root)
    workbench.write(TYPESCRIPT)
    before, text = hash_files(workbench.root), TYPESCRIPT["bill.ts"]
    good, bad = text.replace("String(total(p))", "`${total(p)} EUR`"), text.replace("String(total(p))", "total(p)")
    assert await workbench.find_types({"bill.ts": good}, "typescript") == []
    assert await workbench.find_types({"bill.ts": bad}, "typescript") == [
        "TYPE ERROR at line 3: Type 'number' is not assignable to type 'string'."
    ]
    assert hash_files(workbench.root) == before


ESLINT = {
    "package.json": '{"type": "module"}\n',
    "eslint.config.js": (
        'export default [{ files: ["**/*.js"], rules: { "no-unused-vars": "error", eqeqeq: "warn" } }];\n'
    ),
    "app.js": "const old = 1;\nexport const same = (a, b) => a === b;\n",
}


async def test_eslint_finds_errors_in_a_project(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("node", monkeypatch)
    need_node_modules(workbench.root)
    workbench.write(ESLINT)
    before, text = hash_files(workbench.root), ESLINT["app.js"]
    assert await workbench.find_lint({"app.js": text.replace("(a, b) => a === b", "(x, y) => x === y")}) == []
    assert await workbench.find_lint({"app.js": text.replace("===", "==")}) == [
        "LINT: eqeqeq Expected '===' and instead saw '=='."
    ]
    assert hash_files(workbench.root) == before


async def test_a_file_that_eslint_does_not_read_is_not_passed(
    workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_program("node", monkeypatch)
    need_node_modules(workbench.root)
    workbench.write({**ESLINT, "eslint.config.js": 'export default [{ ignores: ["app.js"] }];\n'})
    assert await workbench.find_lint({"app.js": "export const a = 1;\n"}) == [
        "skipped: eslint's configuration excludes app.js"
    ]


async def test_a_configuration_that_runs_code_is_confined(
    workbench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_program("node", monkeypatch)
    need_node_modules(workbench.root)
    outside = tmp_path / "outside"
    evil = f"""
import {{ writeFileSync }} from "node:fs";
for (const file of [{str(outside)!r}, "app.js"]) {{
  try {{ writeFileSync(file, "gone"); }} catch (error) {{}}
}}
export default [];
"""
    workbench.write({**ESLINT, "eslint.config.js": evil})
    before = hash_files(workbench.root)
    await workbench.find_lint({"app.js": "export const a = 1;\n"})
    assert not outside.exists()
    assert hash_files(workbench.root) == before


GO = {
    "go.mod": "module shop\n\ngo 1.21\n",
    "prices/prices.go": (
        "package prices\n\nfunc Total(p []int) int {\n\tn := 0\n\tfor _, x := range p {\n"
        "\t\tn += x\n\t}\n\treturn n\n}\n"
    ),
    "main.go": (
        'package main\n\nimport (\n\t"fmt"\n\n\t"shop/prices"\n)\n\n'
        "func main() {\n\tfmt.Println(prices.Total([]int{1}))\n}\n"
    ),
}


async def test_the_go_compiler_finds_errors_in_a_project(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("go", monkeypatch)
    workbench.write(GO)
    before, text = hash_files(workbench.root), GO["prices/prices.go"]
    assert await workbench.find_types({"prices/prices.go": text.replace("n := 0", "n := 1 - 1")}, "go") == []
    [line] = await workbench.find_types({"prices/prices.go": text.replace("return n", 'return "n"')}, "go")
    assert line.startswith('TYPE ERROR at line 8: cannot use "n"')
    # the error is in a file that does not change
    renamed = {"prices/prices.go": text.replace("Total", "Sum")}
    [line] = await workbench.find_types(renamed, "go")
    assert "main.go:10:21: undefined: prices.Total" in line
    assert hash_files(workbench.root) == before


async def test_go_by_vet(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("go", monkeypatch)
    workbench.write(GO)
    text = GO["main.go"]
    assert await workbench.find_lint({"main.go": text.replace("[]int{1}", "[]int{1, 2}")}) == []
    wrong = text.replace("fmt.Println(prices", 'fmt.Printf("%s", prices')
    [line] = await workbench.find_lint({"main.go": wrong})
    assert "fmt.Printf format %s has arg" in line


RUST = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n\n[lints.clippy]\nall = "warn"\n',
    "src/lib.rs": "pub fn total(prices: &[i64]) -> i64 {\n    prices.iter().sum()\n}\n",
    "src/main.rs": 'fn main() {\n    println!("{}", shop::total(&[1]));\n}\n',
}


async def test_cargo_check_finds_errors_in_a_project(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("cargo", monkeypatch)
    workbench.write(RUST)
    before, text = hash_files(workbench.root), RUST["src/lib.rs"]
    assert (
        await workbench.find_types({"src/lib.rs": text.replace("iter().sum()", "iter().copied().sum()")}, "rust") == []
    )
    [line] = await workbench.find_types({"src/lib.rs": text.replace("prices.iter().sum()", '"none"')}, "rust")
    assert line.startswith("TYPE ERROR at line 2: mismatched types: expected `i64`, found `&str`")
    # the error is in a file that does not change
    [line] = await workbench.find_types({"src/lib.rs": text.replace("total", "add_up")}, "rust")
    assert "src/main.rs:2" in line
    assert hash_files(workbench.root) == before
    # that proposal is not part of the next one
    main = RUST["src/main.rs"]
    [line] = await workbench.find_types({"src/main.rs": main.replace("total", "add_up")}, "rust")
    assert "cannot find function `add_up`" in line or "no `add_up`" in line
    # no `mod` names this file
    workbench.write({"src/orphan.rs": "pub fn one() -> i64 {\n    1\n}\n"})
    assert await workbench.find_types({"src/orphan.rs": 'pub fn one() -> i64 {\n    "1"\n}\n'}, "rust") == [
        "skipped: cargo check does not look at src/orphan.rs, which is no part of the build"
    ]
    # nothing is compiled behind a syntax error of another file
    workbench.write({"src/broken.rs": "pub fn one( {\n", "src/lib.rs": f"mod broken;\nmod later;\n{text}"})
    workbench.write({"src/later.rs": "pub fn one() -> i64 {\n    1\n}\n"})
    workbench.tools.record_file_change()
    [line] = await workbench.find_types({"src/later.rs": 'pub fn one() -> i64 {\n    "1"\n}\n'}, "rust")
    assert "src/later.rs, which is no part of the build, or comes after the error at src/broken.rs:1:" in line


async def test_clippy_finds_errors_in_a_project(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("cargo-clippy", monkeypatch)
    workbench.write(RUST)
    text = RUST["src/lib.rs"]
    assert await workbench.find_lint({"src/lib.rs": text.replace("iter().sum()", "iter().copied().sum()")}) == []
    wrong = text.replace("prices.iter().sum()", "let n = prices.iter().sum();\n    return n;")
    assert any("needless_return" in line for line in await workbench.find_lint({"src/lib.rs": wrong}))
