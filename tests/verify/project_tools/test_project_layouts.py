"""Projects with several parts: each tool works where the project has it, with the files that the project gives it."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.verify.project_tools import tools
from lsp_harness.verify.project_tools.project_tool import ToolJob
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess, read_first_error
from lsp_harness.verify.project_tools.tools import CargoCheck, Eslint, Mypy
from lsp_harness.verify.project_tools.type_comparison import choose_checker
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.checkers import TY_VARIABLE, PyrightChecker
from tests.support.installed_tools import need_node_modules, need_program
from tests.support.real_checkers import REAL_TY
from tests.verify.project_tools.workbench import Workbench

needs_ty = pytest.mark.skipif(not REAL_TY, reason="ty is not installed (pip install ty)")


@pytest.fixture(autouse=True)
def no_active_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def real_ty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TY_VARIABLE, REAL_TY)


def use_files(bench: Workbench, *users: str, of: str = "") -> None:
    """Let the index say that these files use every other one, or only one of them."""

    async def find_users(root: Path, path: str) -> Sequence[str]:
        return [user for user in users if user != path and path == (of or path)]

    old = bench.tools.access
    bench.tools.access = ToolAccess(old.find_objection, old.choose_sandbox, find_users=find_users)


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


# -- the environment and the settings of the nearest project
@pytest.mark.process
@needs_ty
async def test_ty_knows_the_environment_of_a_project_in_a_subfolder(workbench: Workbench, real_ty: None) -> None:
    site = f"backend/.venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    workbench.write(
        {
            "backend/pyproject.toml": "[project]\nname = 'backend'\nversion = '1'\n",
            "backend/.venv/pyvenv.cfg": f"home = {Path(sys.base_prefix, 'bin')}\nversion = {sys.version.split()[0]}\n",
            f"{site}/moneylib/__init__.py": "def euros(x: float) -> str: ...\n",
            "backend/app.py": "x = 1\n",
            "frontend/pyproject.toml": "[project]\nname = 'frontend'\nversion = '1'\n",
            "frontend/app.py": "x = 1\n",
        }
    )
    good = "import moneylib\n\nx = moneylib.euros(1)\n"
    assert await workbench.find_types({"backend/app.py": good}, "python") == []
    [line] = await workbench.find_types({"backend/app.py": good.replace("euros", "euro")}, "python")
    assert "euro" in line
    [line] = await workbench.find_types({"frontend/app.py": good}, "python")
    assert "moneylib" in line
    # both at once, each by its own checker
    lines = await workbench.find_types({"backend/app.py": good, "frontend/app.py": "import moneylib\n"}, "python")
    assert len(lines) == 1
    assert lines[0].startswith("app.py: ")
    folders = {Path(row["folder"]).name for row in workbench.pool.state()}
    assert folders == {"backend", "frontend"}


def test_the_nearest_folder_chooses_the_checker(tmp_path: Path) -> None:
    write(tmp_path, {"ty.toml": "", "backend/mypy.ini": "[mypy]\n", "web/pyrightconfig.json": "{}"})
    names = [
        (choice.name, choice.folder)
        for file in ("a.py", "backend/pkg/a.py", "web/a.py")
        if (choice := choose_checker(tmp_path, tmp_path / file))
    ]
    assert names == [("ty", tmp_path), ("mypy", tmp_path / "backend"), ("pyright", tmp_path / "web")]


def test_each_project_has_its_own_checker(tmp_path: Path) -> None:
    write(tmp_path, {"a/pyproject.toml": "", "b/pyproject.toml": ""})
    pool = CheckerPool()
    find = pool.find
    assert find("ty", tmp_path, tmp_path / "a/x.py") is find("ty", tmp_path, tmp_path / "a/src/y.py")
    assert find("ty", tmp_path, tmp_path / "a/x.py") is not find("ty", tmp_path, tmp_path / "b/x.py")
    # TypeScript and ruff find the settings of a file themselves
    for name in ("typescript", "ruff"):
        assert find(name, tmp_path, tmp_path / "a/x.ts") is find(name, tmp_path, tmp_path / "b/x.ts")


def test_mypy_gets_the_interpreter_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find_tool", lambda name: "/usr/bin/mypy")
    write(tmp_path, {"backend/.venv/pyvenv.cfg": "", "backend/mypy.ini": "[mypy]\n"})
    python = tmp_path / "backend/.venv/bin/python"
    python.parent.mkdir()
    python.touch(0o755)
    tool, environment = Mypy(), tmp_path / "backend/.venv"
    program = tool.find_program(tmp_path, tmp_path / "backend/a.py", environment) or ""
    assert program == "/usr/bin/mypy"
    job = ToolJob(tmp_path / "backend", program, {Path("a.py"): tmp_path / "t"}, tmp_path / "c", (), environment)
    [command] = tool.create_commands(job)
    assert command[command.index("--python-executable") + 1] == str(python)
    (python.parent / "mypy").touch(0o755)
    own = tool.find_program(tmp_path, tmp_path / "backend/a.py", environment) or ""
    assert own == str(python.parent / "mypy")
    job = ToolJob(tmp_path / "backend", own, {Path("a.py"): tmp_path / "t"}, tmp_path / "c", (), environment)
    assert "--python-executable" not in tool.create_commands(job)[0]


def test_cargo_works_in_the_workspace_of_a_crate(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "rust/Cargo.toml": "[workspace]\nmembers = ['a']\nexclude = ['apart']\n",
            "rust/a/Cargo.toml": "[package]\n",
            "rust/apart/Cargo.toml": "[package]\n",
            "lone/Cargo.toml": "[package]\n",
        },
    )
    find = CargoCheck().find_folder
    assert find(tmp_path, tmp_path / "rust/a/src/lib.rs") == tmp_path / "rust"
    assert find(tmp_path, tmp_path / "rust/apart/src/lib.rs") == tmp_path / "rust/apart"
    assert find(tmp_path, tmp_path / "lone/src/lib.rs") == tmp_path / "lone"


def test_eslint_runs_in_the_folder_of_its_configuration(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "eslint.config.js": "",
            "packages/app/eslint.config.js": "",
            "packages/app/package.json": "{}",
            "packages/old/package.json": "{}",
            "packages/old/src/.eslintrc.json": "{}",
            "packages/none/package.json": "{}",
        },
    )
    find = Eslint().find_folder
    assert find(tmp_path, tmp_path / "packages/app/src/a.js") == tmp_path / "packages/app"
    assert find(tmp_path, tmp_path / "packages/old/src/a.js") == tmp_path / "packages/old"
    assert find(tmp_path, tmp_path / "packages/none/a.js") == tmp_path


ESLINT = """
import { readFileSync } from "node:fs";
import { cwd } from "node:process";
import { existsSync } from "node:fs";
if (!existsSync("eslint.config.js") && existsSync(".eslintrc.json")) {
  console.error(cwd() + "/.eslintrc.json:1\\n{;\\n ^\\n\\nSyntaxError: Unexpected token");
  process.exit(2);
}
if (!existsSync("eslint.config.js")) {
  console.log("\\nOops! Something went wrong! :(\\n\\nESLint: 9.0.0\\n");
  console.log("Error: Could not find a configuration in " + cwd() + "\\n\\nPlease visit https://chat.example to chat.");
  process.exit(2);
}
const text = readFileSync(0, "utf8"), file = process.argv.at(-1);
const find = (line, n) => ({ ruleId: "no-unused-vars", severity: 2, message: "unused", line: n + 1, column: 5 });
const messages = text.split("\\n").map(find).filter((_, n) => text.split("\\n")[n].startsWith("let "));
console.log(JSON.stringify([{ filePath: cwd() + "/" + file, messages, errorCount: messages.length }]));
process.exit(messages.length ? 1 : 0);
"""
"""A program with the manners of eslint 9: it looks for its configuration in the current folder."""


@pytest.mark.process
async def test_the_eslint_of_a_package_is_used(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("node", monkeypatch)
    if not machine_sandbox().is_confined:
        pytest.skip("no sandbox works here")
    program = "packages/app/node_modules/.bin/eslint"
    workbench.write(
        {
            "package.json": "{}",
            "packages/app/package.json": '{"type": "module"}',
            "packages/app/eslint.config.js": "",
            "packages/app/src/a.js": "use(1);\n",
            program: f"#!/usr/bin/env node\n{ESLINT}",
        }
    )
    (workbench.root / program).chmod(0o755)
    [line] = await workbench.find_lint({"packages/app/src/a.js": "let x = 1;\n"})
    assert "no-unused-vars" in line
    assert await workbench.find_lint({"packages/app/src/a.js": "use(2);\n"}) == []
    (workbench.root / "packages/app/eslint.config.js").rename(workbench.root / "packages/app/.eslintrc.js")
    workbench.tools.record_file_change()
    [line] = await workbench.find_lint({"packages/app/src/a.js": "let x = 1;\n"})
    assert line.startswith("skipped: eslint failed: Error: Could not find a configuration in ")
    (workbench.root / "packages/app/.eslintrc.js").rename(workbench.root / "packages/app/.eslintrc.json")
    workbench.tools.record_file_change()
    [line] = await workbench.find_lint({"packages/app/src/a.js": "let x = 1;\n"})
    assert line == "skipped: eslint stops at .eslintrc.json:1: Unexpected token"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("\nOops! Something went wrong! :(\n\nESLint: 9.0.0\n\nError: no rule x\n    at y\n\nhttps://a.b/chat\n",
         "Error: no rule x"),
        ("(node:12) ExperimentalWarning: an error may come\nTypeError: x is undefined\n", "TypeError: x is undefined"),
        ("mypy.ini: [mypy]: strict is wrong\nmypy: can't read\n", "mypy.ini: [mypy]: strict is wrong"),
        ("========\nit broke\n", "it broke"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_reason_is_the_first_line_of_error(output: str, expected: str) -> None:
    assert read_first_error(output) == expected


# -- what the settings leave out
EXCLUSIONS = [
    ({"mypy.ini": "[mypy]\nexclude = ^gen/\n"}, "gen/made.py", True),
    ({"mypy.ini": "[mypy]\nexclude = ^gen/$\n"}, "gen/deep/made.py", True),
    ({"mypy.ini": "[mypy]\nexclude = ^gen/\n"}, "app/gen/made.py", False),
    ({"pyproject.toml": "[tool.mypy]\nexclude = ['a', 'made\\.py$']\n"}, "gen/made.py", True),
    ({"setup.cfg": "[mypy]\nexclude = (?x)(\n    ^gen/\n    | ^docs/ )\n"}, "gen/made.py", True),
    ({"mypy.ini": "[mypy]\nfiles = src, tools/*.py\n"}, "gen/made.py", True),
    ({"mypy.ini": "[mypy]\nfiles = src, tools/*.py\n"}, "src/deep/a.py", False),
    ({"mypy.ini": "[mypy]\nfiles = src, tools/*.py\n"}, "tools/a.py", False),
    ({"pyproject.toml": "[tool.mypy]\nfiles = ['.']\n"}, "gen/made.py", False),
    ({"pyproject.toml": "[tool.mypy]\nfiles = ['src/**/*.py']\n"}, "src/a.py", False),
    ({"pyproject.toml": "[tool.mypy]\nfiles = ['src/*.py']\n"}, "src/deep/a.py", True),
    (
        {"pyproject.toml": "[tool.mypy]\npackages = ['shop']\nmypy_path = '$MYPY_CONFIG_FILE_DIR/lib'\n"},
        "lib/shop/a.py",
        False,
    ),
    ({"pyproject.toml": "[tool.mypy]\nmodules = ['shop.a']\nmypy_path = ['lib']\n"}, "lib/shop/a.py", False),
    ({"pyproject.toml": "[tool.mypy]\npackages = ['shop']\n"}, "src/shop/a.py", False),
    ({"pyproject.toml": "[tool.mypy]\npackages = ['shop']\n"}, "gen/made.py", True),
    ({"pyproject.toml": "[tool.mypy]\nmodules = ['shop.bill']\nmypy_path = 'lib'\n"}, "lib/shop/bill.py", False),
    ({"pyproject.toml": "[tool.mypy]\nmodules = ['shop.bill']\n"}, "shop/prices.py", True),
    ({"mypy.ini": "[mypy]\nexclude = (\n"}, "gen/made.py", False),
]


@pytest.mark.parametrize(("files", "path", "is_excluded"), EXCLUSIONS)
def test_files_that_mypy_leaves_out(tmp_path: Path, files: dict[str, str], path: str, is_excluded: bool) -> None:
    write(tmp_path, files)
    reason = Mypy().find_exclusion(tmp_path, tmp_path / path)
    assert reason == (f"mypy's configuration excludes {path}" if is_excluded else "")


PYRIGHT_PATTERNS = [
    ('{"exclude": ["gen"]}', "gen/made.py", True),
    ('{"exclude": ["gen"]}', "generated/made.py", False),
    ('{"exclude": ["**/gen"]}', "app/deep/gen/made.py", True),
    ('{"exclude": ["**/gen"]}', "gen/made.py", True),
    ('{"exclude": ["**/*_pb2.py"]}', "app/a_pb2.py", True),
    ('{"exclude": ["**/*_pb2.py"]}', "app/a_pb3.py", False),
    ('{\n // made by a program\n "ignore": ["./gen/**",],\n}', "gen/deep/made.py", True),
    ('{"include": ["src"]}', "gen/made.py", True),
    ('{"include": ["src"]}', "src/a.py", False),
    ('{"include": ["."]}', "gen/made.py", False),
    ("{}", "gen/made.py", False),
]


@pytest.mark.parametrize(("settings", "path", "is_excluded"), PYRIGHT_PATTERNS)
def test_files_that_pyright_leaves_out(tmp_path: Path, settings: str, path: str, is_excluded: bool) -> None:
    write(tmp_path, {"pyrightconfig.json": settings})
    reason = PyrightChecker().find_exclusion(tmp_path, tmp_path / path)
    assert reason == (f"pyright's configuration excludes {path}" if is_excluded else "")


@pytest.mark.process
@needs_ty
async def test_a_file_that_ty_leaves_out_is_not_called_checked(workbench: Workbench, real_ty: None) -> None:
    workbench.write(
        {
            "pyproject.toml": "[tool.ty.src]\nexclude = ['gen']\n",
            "gen/made.py": "x = 1\n",
            "app.py": "x = 1\n",
        }
    )
    wrong = "x: int = ''\n"
    assert await workbench.find_types({"gen/made.py": wrong}, "python") == [
        "skipped: ty's configuration excludes gen/made.py, or ignores all rules there"
    ]
    assert len(await workbench.find_types({"app.py": wrong}, "python")) == 1
    assert await workbench.find_types({"app.py": "x: int = 2\n"}, "python") == []


@needs_ty
async def test_the_next_checker_gets_files_that_the_first_excludes(
    workbench: Workbench, real_ty: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_program("mypy", monkeypatch)
    settings = "[tool.mypy]\n[[tool.ty.overrides]]\ninclude = ['src']\nrules.all = 'ignore'\n"
    workbench.write({"pyproject.toml": settings, "src/a.py": "x = 1\n"})
    [line] = await workbench.find_types({"src/a.py": "x: int = ''\n"}, "python")
    assert "Incompatible types in assignment" in line
    assert await workbench.find_types({"src/a.py": "x: int = 2\n"}, "python") == []


async def test_mypy_reads_an_excluded_file_only_if_another_file_uses_it(
    workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_program("mypy", monkeypatch)
    workbench.write(
        {
            "pyproject.toml": "[tool.mypy]\nfiles = ['.']\nexclude = ['^gen/']\n",
            "gen/made.py": "def size() -> int:\n    return 1\n",
            "app.py": "from gen.made import size\n\nx: int = size()\n",
        }
    )
    wrong = "def size() -> str:\n    return ''\n"
    assert await workbench.find_types({"gen/made.py": wrong}, "python") == [
        "skipped: mypy's configuration excludes gen/made.py"
    ]
    use_files(workbench, "app.py")
    [line] = await workbench.find_types({"gen/made.py": wrong}, "python")
    assert "app.py:3" in line


# -- the files that use the changed ones
PRICE = "def total(a: int, b: int) -> int:\n    return a + b\n"
AS_TEXT = "def total(a: int, b: int) -> str:\n    return str(a + b)\n"
USE = "from price import total\n\nx: int = total(1, 2)\n"


@pytest.mark.process
@needs_ty
async def test_ty_looks_at_the_files_that_use_the_changed_one(workbench: Workbench, real_ty: None) -> None:
    workbench.write({"price.py": PRICE, "use.py": USE, "other.py": "y: int = ''\n"})
    assert await workbench.find_types({"price.py": AS_TEXT}, "python") == []
    use_files(workbench, "use.py", "other.py", "gone.py")
    [line] = await workbench.find_types({"price.py": AS_TEXT}, "python")
    assert line.startswith("TYPE ERROR at line 1: use.py:3: ")
    # what was wrong before does not count, and neither does a change that breaks nothing
    assert await workbench.find_types({"price.py": PRICE.replace("a + b", "b + a")}, "python") == []
    # a proposal that changes both is right
    both = {"price.py": AS_TEXT, "use.py": USE.replace("x: int", "x: str")}
    assert await workbench.find_types(both, "python") == []


@pytest.mark.process
@needs_ty
async def test_a_stub_has_the_same_users_as_its_module(workbench: Workbench, real_ty: None) -> None:
    stub = "def total(a: int, b: int) -> int: ...\n"
    workbench.write({"price.py": "def total(a, b):\n    return a + b\n", "price.pyi": stub, "use.py": USE})
    use_files(workbench, "use.py", of="price.py")
    [line] = await workbench.find_types({"price.pyi": stub.replace("-> int", "-> str")}, "python")
    assert line.startswith("TYPE ERROR at line 1: use.py:3: ")


async def test_mypy_looks_at_the_files_that_use_the_changed_one(
    workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_program("mypy", monkeypatch)
    workbench.write({"mypy.ini": "[mypy]\nfiles = .\n", "price.py": PRICE, "use.py": USE})
    use_files(workbench, "use.py")
    [line] = await workbench.find_types({"price.py": AS_TEXT}, "python")
    assert "use.py:3" in line
    assert await workbench.find_types({"price.py": PRICE.replace("a + b", "b + a")}, "python") == []


async def test_a_file_at_which_mypy_stops_hides_no_error(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("mypy", monkeypatch)
    workbench.write({"mypy.ini": "[mypy]\n", "price.py": PRICE, "use.py": "from price import total\nx = (\n"})
    use_files(workbench, "use.py")
    wrong = PRICE.replace("a + b", "str(a + b)")
    # without the broken file there is an answer
    [line] = await workbench.find_types({"price.py": wrong}, "python")
    assert line.startswith("TYPE ERROR at line 2: ")
    # with a broken file that the changed one needs there is none
    workbench.write({"price.py": f"import use\n{PRICE}"})
    workbench.tools.record_file_change()
    [line] = await workbench.find_types({"price.py": f"import use\n{wrong}"}, "python")
    assert line.startswith("skipped: mypy stops at use.py:")


async def test_mypy_runs_in_the_folder_of_its_settings(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("mypy", monkeypatch)
    workbench.write(
        {
            "mypy.ini": "[mypy]\nstrict = True\n",
            "backend/mypy.ini": "[mypy]\nmypy_path = lib\n",
            "backend/lib/price.py": PRICE,
            "backend/app.py": "x = 1\n",
        }
    )
    # not strict here, and the module is found by the settings of this folder
    assert (
        await workbench.find_types({"backend/app.py": "import price\n\n\ndef f(x):\n    return price\n"}, "python")
        == []
    )
    [line] = await workbench.find_types({"backend/app.py": USE.replace("int", "str")}, "python")
    assert line.startswith("TYPE ERROR at line 3: ")


@pytest.mark.process
async def test_files_that_tsconfig_leaves_out(workbench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    need_program("node", monkeypatch)
    monkeypatch.delenv("LSP_HARNESS_TYPESCRIPT", raising=False)
    need_node_modules(workbench.root)
    workbench.write(
        {
            "tsconfig.json": '{"compilerOptions": {"strict": true}, "exclude": ["gen", "node_modules"]}\n',
            "gen/made.ts": "export const x = 1;\n",
            "gen/used.ts": "export const y = 1;\n",
            "app.ts": 'import { y } from "./gen/used";\n\nexport const z = y;\n',
        }
    )
    wrong = 'export const y: number = "";\n'
    assert await workbench.find_types({"gen/made.ts": wrong}, "typescript") == [
        "skipped: tsconfig.json excludes gen/made.ts"
    ]
    # a file that is not left out imports this one
    for name in ("gen/used.ts", "app.ts"):
        [line] = await workbench.find_types({name: wrong}, "typescript")
        assert line.startswith("TYPE ERROR at line 1: Type 'string'")
