"""Tests of the declarations of packages in `node_modules`."""

import json
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.knowledge.doc_fragment import DocFragment
from lsp_harness.knowledge.installed_packages import InstalledPackages
from tests.knowledge.packages import write


def write_package(root: Path, name: str, version: str, files: dict[str, str], **info: Any) -> None:
    folder = f"node_modules/{name}"
    write(root, {f"{folder}/package.json": json.dumps({"name": name, "version": version, **info})})
    write(root, {f"{folder}/{path}": text for path, text in files.items()})


def read_fragment(root: Path, module: str, name: str = "", near: Path | None = None) -> DocFragment:
    documentation = InstalledPackages({}).find_documentation(root, "typescript", module, name, importer_folder=near)
    assert documentation is not None
    return documentation


def test_declarations_are_found_in_the_types_file_that_a_package_names(tmp_path: Path):
    write_package(
        tmp_path,
        "pad",
        "1.2.0",
        {
            "lib/pad.d.ts": (
                "/* a licence */\nexport { inner as left } from './inner.js';\nexport * from './more';\n"
                "declare const other: Other;\nexport { other as out };\n"
                "/**\n * Pads\n * both sides.\n *\n * @param text what\n */\n"
                "export declare function pad(text: string, /* how far */ width?: number): string;\n"
                "export declare function pad(text: string[]): string[];\n"
                "export interface Base { /** The size. */ size(of: string): number }\n"
                "export declare class Other implements Base { constructor(a: number); close(): void }\n"
                "export default pad;\n"
            ),
            "lib/inner.d.ts": "export declare const inner: (text: string) => string;\n",
            "lib/more.d.ts": "export * as deep from './inner';\nexport type More = string;\n",
        },
        types="lib/pad.d.ts",
    )
    result = read_fragment(tmp_path, "pad", "pad")
    assert result == DocFragment(
        package="pad",
        version="1.2.0",
        module="pad",
        name="pad",
        kind="function",
        signature="function pad(text: string, width?: number): string",
        documentation="Pads both sides.",
        file="pad/lib/pad.d.ts",
        overloads=2,
        details="@param text what",
    )
    assert read_fragment(tmp_path, "pad").signature == result.signature
    assert read_fragment(tmp_path, "pad", "left").signature == "const inner: (text: string) => string"
    assert read_fragment(tmp_path, "pad", "deep.inner").file == "pad/lib/inner.d.ts"
    assert read_fragment(tmp_path, "pad", "More").signature == "type More = string"
    assert read_fragment(tmp_path, "pad", "Other").usage == "Other(a: number)"
    assert read_fragment(tmp_path, "pad", "out.close").signature == "close(): void"
    assert read_fragment(tmp_path, "pad", "Other.size").documentation == "The size."


@pytest.mark.parametrize(
    "exports",
    [
        "./a.d.ts",
        {"types": "./a.d.ts", "default": "./a.js"},
        {".": {"require": {"types": "./no.d.cts"}, "import": {"types": "./a.d.ts"}}},
        {".": [{"node": {"default": "./a.js"}}]},
        {"./part": "./no.js", ".": {"default": "./a.js"}},
    ],
)
def test_the_types_in_the_exports_of_a_package_are_used(tmp_path: Path, exports: object):
    write_package(tmp_path, "x", "1.0.0", {"a.d.ts": "export function f(): void;\n", "a.js": ""}, exports=exports)
    assert read_fragment(tmp_path, "x", "f").file == "x/a.d.ts"


def test_a_subpath_of_a_package_is_found(tmp_path: Path):
    files = {"dist/fp.d.ts": "export function f(): 1;\n", "dist/deep/a.d.ts": "export function g(): 2;\n"}
    write_package(
        tmp_path, "@me/x", "1.0.0", files, exports={"./fp": {"types": "./dist/fp.d.ts"}, "./*": "./dist/*.js"}
    )
    assert read_fragment(tmp_path, "@me/x/fp", "f").release == "@me/x 1.0.0"
    assert read_fragment(tmp_path, "@me/x/deep/a", "g").signature == "function g(): 2"
    write_package(tmp_path, "y", "1.0.0", {"part/index.js": "exports.h = function (a) {};\n"})
    assert read_fragment(tmp_path, "y/part", "h").kind == "function"


def test_types_of_their_own_and_a_value_that_is_the_whole_module(tmp_path: Path):
    write_package(tmp_path, "low", "4.1.0", {"low.js": "module.exports = {}\n"}, main="low.js")
    write_package(
        tmp_path,
        "@types/low",
        "4.0.9",
        {
            "index.d.ts": (
                '/// <reference path="./common.d.ts" />\nexport = _;\ndeclare const _: _.Static;\n'
                "declare namespace _ {\n  interface Static {}\n  function apart(a: 1): void;\n}\n"
            ),
            "common.d.ts": (
                'import _ = require("./index");\ndeclare module "./index" {\n  interface Static {\n'
                "    /** Waits. */\n    debounce<T>(func: T, wait?: number): T;\n  }\n}\n"
            ),
            "debounce.d.ts": 'import { debounce } from "./index";\nexport = debounce;\n',
        },
    )
    result = read_fragment(tmp_path, "low", "debounce")
    assert (result.release, result.signature, result.documentation) == (
        "low 4.1.0",
        "debounce<T>(func: T, wait?: number): T",
        "Waits.",
    )
    assert read_fragment(tmp_path, "low", "apart").signature == "function apart(a: 1): void"
    assert read_fragment(tmp_path, "low/debounce").signature == result.signature


def test_a_default_that_has_a_type(tmp_path: Path):
    text = (
        "interface Static extends Instance {}\ninterface Instance { get(url: string): void }\n"
        "declare const it: Static;\nexport default it;\n"
    )
    write_package(tmp_path, "net", "1.0.0", {"index.d.ts": text})
    assert read_fragment(tmp_path, "net", "get").signature == "get(url: string): void"


def test_modules_that_come_with_node_itself(tmp_path: Path):
    write_package(
        tmp_path,
        "@types/node",
        "22.1.0",
        {"fs.d.ts": 'declare module "fs" { export function rm(path: string): void }\n'},
    )
    assert read_fragment(tmp_path, "node:fs", "rm").signature == "function rm(path: string): void"


def test_packages_are_searched_from_the_folder_of_the_file_up_to_the_workspace(tmp_path: Path):
    root = tmp_path / "root"
    for folder, version in (("", "1.0.0"), ("apps/a", "2.0.0")):
        write_package(root / folder, "x", version, {"index.d.ts": "export function f(): void;\n"})
    write_package(tmp_path, "outside", "1.0.0", {"index.d.ts": "export function f(): void;\n"})
    assert read_fragment(root, "x", "f").version == "1.0.0"
    assert read_fragment(root, "x", "f", root / "apps/a/src").version == "2.0.0"
    assert read_fragment(root, "x", "f", root / "apps/b").version == "1.0.0"
    installed = InstalledPackages({})
    assert installed.find_documentation(root, "javascript", "outside", "f", importer_folder=root / "apps") is None
    assert installed.searched_places(root, "javascript") == ["apps/node_modules", "node_modules"]


def test_an_upgrade_shows_without_a_restart(tmp_path: Path):
    installed = InstalledPackages({})
    for version, text in (("1.0.0", "(): void"), ("2.0.0", "(a: number): void")):
        write_package(tmp_path, "x", version, {"index.d.ts": f"export function f{text};\n"})
        documentation = installed.find_documentation(tmp_path, "typescript", "x", "f")
        assert documentation
        assert (documentation.version, documentation.signature) == (version, f"function f{text}")


def test_a_missing_name_is_reported_with_similar_names(tmp_path: Path):
    files = {
        "index.d.ts": "export * from './a.js';\nexport function parse(): 1;\n",
        "a.d.ts": "export function format(): 2;\n",
    }
    write_package(tmp_path, "x", "1.0.0", files)
    absent = InstalledPackages({}).find_absent(tmp_path, "typescript", "x", "formt")
    assert absent
    assert [item.usage for item in absent.nearest] == ["format(): 2"]
    write_package(tmp_path, "y", "1.0.0", {"index.js": "exports.parse = function () {}\n"})
    assert InstalledPackages({}).find_absent(tmp_path, "typescript", "y", "prase") is None


def test_a_name_can_be_written_in_several_forms(tmp_path: Path):
    write_package(tmp_path, "a.b", "1.0.0", {"index.d.ts": "export function f(): void;\n"})
    write_package(tmp_path, "@s/n", "1.0.0", {"index.d.ts": "export interface T { m(): void }\n"})
    installed = InstalledPackages({})
    for written, module, name in (("a.b.f", "a.b", "f"), ("@s/n.T.m", "@s/n", "T.m")):
        result = installed.look_up(tmp_path, "typescript", written)
        assert isinstance(result, DocFragment)
        assert (result.module, result.name) == (module, name)
