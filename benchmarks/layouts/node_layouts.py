"""Layouts of projects for node: four programs that run tests, both kinds of modules, TypeScript and workspaces."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.layouts.layout import Layout, NodeModules, ProposedEdit

Language = Literal["esm", "commonjs", "typescript"]
EXPORT = "export "
CALC = """export function total(prices) {
  let result = 0;
  for (const price of prices) {
    result = result + price;
  }
  return result;
}

export function label(name) {
  const text = name.trim();
  return text[0].toUpperCase() + text.slice(1);
}
"""
LOOP = """  let result = 0;
  for (const price of prices) {
    result = result + price;
  }
  return result;
"""
REDUCE = "  return prices.reduce((left, right) => left + right, 0);\n"
OTHER_FORM = """  let subtotal = 0;
  for (const price of prices) {
    subtotal = price + subtotal;
  }
  return subtotal;
"""
REPORT = """import { label, total } from "{calc}";

export function render(name, prices) {
  return `${label(name)}: ${total(prices)}`;
}
"""
NODE_HEAD = 'import assert from "node:assert";\nimport { test } from "node:test";\n'
MOCHA_HEAD = 'import assert from "node:assert";\n'
VITEST_HEAD = 'import assert from "node:assert";\nimport { test } from "vitest";\n'
TEST_CALC = """import { total } from "{calc}";

test("total", () => {
  assert.strictEqual(total([1, 2, 3]), 6);
});

test("nothing", () => {
  assert.strictEqual(total([]), 0);
});
"""
TEST_REPORT = """import { render } from "{report}";

test("render", () => {
  assert.strictEqual(render(" tea ", [2, 3]), "Tea: 5");
});
"""
LOST: Mapping[str, tuple[str, str]] = {
    "deleted": ('test("nothing", () => {\n  assert.strictEqual(total([]), 0);\n});\n', ""),
    "renamed": ('test("nothing"', 'test("no prices"'),
    "skipped": ('test("nothing"', 'test.skip("nothing"'),
    "emptied": ("  assert.strictEqual(total([]), 0);\n", ""),
}


@dataclass(frozen=True, slots=True)
class NodeRunner:
    """A program that runs tests.

    Attributes:
        head: The first lines of a test file.
        packages: The name of the set of packages with it, or an empty text for node itself.
    """

    head: str
    packages: str = ""


def to_commonjs(text: str) -> str:
    """Return a module of ECMAScript as one of CommonJS."""
    names: list[str] = []
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("import "):
            bound, _, source = line.removeprefix("import ").rstrip(";").partition(" from ")
            lines.append(f"const {bound} = require({source});")
        elif line.startswith(EXPORT):
            names.append(line.split("(")[0].split()[-1])
            lines.append(line.removeprefix(EXPORT))
        else:
            lines.append(line)
    exports = "".join(f"exports.{name} = {name};\n" for name in names)
    return "\n".join(lines) + "\n" + exports


def to_typescript(text: str) -> str:
    """Return a module with the types of its parameters."""
    for old, new in (("(prices)", "(prices: number[]): number"), ("(name)", "(name: string): string")):
        text = text.replace(f"function total{old}", f"function total{new}").replace(
            f"function label{old}", f"function label{new}"
        )
    return text.replace("function render(name, prices)", "function render(name: string, prices: number[]): string")


def make_edits(calc: str, tests: str, lost: str, *, commonjs: bool = False) -> tuple[ProposedEdit, ...]:
    """Return the edits of a project with `CALC`.

    Args:
        calc: The path of the module.
        tests: The path of its tests.
        lost: The way in which a test is lost (see `LOST`).
        commonjs: Whether it is a module of CommonJS.
    """
    importer = [("function label(", "function makeLabel(")]
    if commonjs:
        importer.append(("exports.label = label;", "exports.makeLabel = makeLabel;"))
    return (
        ProposedEdit("right", calc, ((LOOP, REDUCE),)),
        ProposedEdit("caught", calc, (("result + price", "result - price"),)),
        ProposedEdit("form", calc, ((LOOP, OTHER_FORM),)),
        ProposedEdit("lost", tests, (LOST[lost],)),
        ProposedEdit("importer", calc, tuple(importer)),
    )


def make_node(
    name: str,
    script: str | Mapping[str, str],
    runner: NodeRunner,
    *,
    language: Language = "esm",
    tests: str = "test",
    lost: str = "deleted",
    files: Mapping[str, str] | None = None,
) -> Layout:
    """Return a layout with two modules and their tests.

    Args:
        name: The name.
        script: The script `test` of `package.json`, or all its scripts.
        runner: The program that runs the tests.
        language: The language of its modules.
        tests: The folder of the tests.
        lost: The way in which a test is lost (see `LOST`).
        files: Files that are added.
    """
    commonjs, suffix = language == "commonjs", "ts" if language == "typescript" else "js"
    up = "../" if tests else "./"
    ending = "" if suffix == "ts" else f".{suffix}"
    where = f"{tests}/" if tests else "src/"
    source = f"{up}src/" if tests else "./"
    texts = {
        f"src/calc.{suffix}": CALC,
        f"src/report.{suffix}": REPORT.replace("{calc}", f"./calc{ending}"),
        f"{where}calc.test.{suffix}": runner.head + TEST_CALC.replace("{calc}", f"{source}calc{ending}"),
        f"{where}report.test.{suffix}": runner.head + TEST_REPORT.replace("{report}", f"{source}report{ending}"),
    }
    if commonjs:
        texts = {path: to_commonjs(text) for path, text in texts.items()}
    if suffix == "ts":
        texts = {path: to_typescript(text) for path, text in texts.items()}
    edits = make_edits(f"src/calc.{suffix}", f"{where}calc.test.{suffix}", lost, commonjs=commonjs)
    scripts = {"test": script} if isinstance(script, str) else dict(script)
    package: dict[str, Any] = {"name": "shop", "version": "1.0.0", "scripts": scripts}
    if not commonjs:
        package["type"] = "module"
    if runner.packages:
        package["devDependencies"] = {runner.packages: "*"}
    texts |= {"package.json": json.dumps(package, indent=2) + "\n", **(files or {})}
    modules = NodeModules(runner.packages) if runner.packages else None
    return Layout(name, texts, edits, ("npm", "test", "--silent"), node=modules, needs=("node", "npm"))


def make_workspace(name: str, manager: str) -> Layout:
    """Return two packages in one workspace, of which one uses the other by its name.

    Args:
        name: The name.
        manager: `npm` or `pnpm`.
    """
    core = {"name": "@acme/core", "version": "1.0.0", "type": "module", "exports": {"./calc": "./src/calc.js"}}
    app = {"name": "@acme/app", "version": "1.0.0", "type": "module"}
    version = "workspace:*" if manager == "pnpm" else "1.0.0"
    app["dependencies"] = {"@acme/core": version}  # pyright: ignore[reportArgumentType]
    script = {"test": "vitest run"}
    development = {"vitest": "3"}
    texts = {
        "package.json": json.dumps(
            {"name": "shop", "private": True, "workspaces": ["packages/*"], "devDependencies": development}, indent=2
        ),
        "packages/core/package.json": json.dumps({**core, "scripts": script, "devDependencies": development}, indent=2),
        "packages/app/package.json": json.dumps({**app, "scripts": script, "devDependencies": development}, indent=2),
        "packages/core/src/calc.js": CALC,
        "packages/core/test/calc.test.js": VITEST_HEAD + TEST_CALC.replace("{calc}", "../src/calc.js"),
        "packages/app/src/report.js": REPORT.replace("{calc}", "@acme/core/calc"),
        "packages/app/test/report.test.js": VITEST_HEAD + TEST_REPORT.replace("{report}", "../src/report.js"),
    }
    if manager == "pnpm":
        texts["pnpm-workspace.yaml"] = 'packages:\n  - "packages/*"\n'
        bare = ("sh", "-c", "for p in core app; do (cd packages/$p && ./node_modules/.bin/vitest run) || exit 1; done")
    else:
        bare = ("npm", "test", "--silent", "--workspaces")
    edits = make_edits("packages/core/src/calc.js", "packages/core/test/calc.test.js", "deleted")
    modules = NodeModules("vitest", "pnpm" if manager == "pnpm" else "npm")
    return Layout(name, texts, edits, bare, node=modules, needs=("node", "npm"))


NODE = NodeRunner(NODE_HEAD)
VITEST = NodeRunner(VITEST_HEAD, "vitest")
JEST = NodeRunner(MOCHA_HEAD, "jest")
MOCHA = NodeRunner(MOCHA_HEAD, "mocha")

LAYOUTS = (
    make_node("node-test-esm", "node --test", NODE, lost="deleted"),
    make_node("node-test-cjs", "node --test test/", NODE, language="commonjs", lost="skipped"),
    make_node("vitest-esm", "vitest run", VITEST, lost="renamed"),
    make_node("vitest-typescript", "vitest run", VITEST, language="typescript", tests="", lost="skipped"),
    make_node("jest-cjs", "jest", JEST, language="commonjs", tests="__tests__", lost="deleted"),
    make_node(
        "jest-config",
        "jest --config jest.config.js",
        JEST,
        language="commonjs",
        tests="",
        lost="emptied",
        files={"jest.config.js": "module.exports = { testEnvironment: 'node', verbose: false };\n"},
    ),
    make_node(
        "mocha-cjs",
        "mocha --ui tdd",
        MOCHA,
        language="commonjs",
        lost="skipped",
        files={".mocharc.json": '{ "ui": "tdd" }\n'},
    ),
    make_node(
        "mocha-esm",
        "mocha",
        MOCHA,
        lost="deleted",
        files={".mocharc.json": '{ "ui": "tdd", "spec": ["test/**/*.test.js"] }\n'},
    ),
    make_node(
        "mocha-by-run",
        {
            "test": "npm run test:unit",
            "test:unit": "mocha --ui tdd --require ./setup.js 'checks/**/*.js'",
        },
        MOCHA,
        language="commonjs",
        tests="checks",
        lost="deleted",
        files={"setup.js": "process.env.SHOP = 'open';\n"},
    ),
    make_node(
        "jest-esm",
        "NODE_OPTIONS=--experimental-vm-modules jest --config settings/unit.json",
        JEST,
        tests="__tests__",
        lost="renamed",
        files={"settings/unit.json": '{ "rootDir": ".." }\n'},
    ),
    make_node(
        "tsx-node-test",
        "node --import tsx --test test/calc.test.ts test/report.test.ts",
        NodeRunner(NODE_HEAD, "tsx"),
        language="typescript",
        lost="renamed",
        files={"tsconfig.json": '{ "compilerOptions": { "module": "nodenext", "strict": true, "noEmit": true } }\n'},
    ),
    make_workspace("npm-workspace", "npm"),
    make_workspace("pnpm-workspace", "pnpm"),
)
"""All layouts for node."""
