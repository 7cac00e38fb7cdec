"""Tests of the declarations in Go's module cache and cargo's registry."""

from pathlib import Path

import pytest

from lsp_harness.knowledge.doc_fragment import DocFragment
from lsp_harness.knowledge.installed_packages import InstalledPackages
from tests.knowledge.packages import write

COBRA = (
    "package cobra\n\n// Command is a command.\n//\n// More.\ntype Command struct {\n\tUse string\n\tFlags\n}\n\n"
    "type Flags struct{}\n\nfunc (f *Flags) Parse(args []string) error { return nil }\n\n"
    "/* NewCommand makes one. */\nfunc NewCommand(use string) *Command { return nil }\n\n"
    "// Execute runs it.\nfunc (c *Command) Execute(\n\targs ...string, // all\n) error {\n\treturn nil\n}\n\n"
    "func hidden() {}\n"
)
MOD = (
    "module me\n\nrequire (\n\tgithub.com/Corp/cobra v1.2.3 // indirect\n\texample.org/local v0.1.0\n)\n"
    "replace example.org/local => ../local\n"
)


def find_go_fragment(root: Path, module: str, name: str, **environ: str) -> DocFragment | None:
    return InstalledPackages(environ).find_documentation(root, "go", module, name)


@pytest.mark.parametrize("variable", ["GOMODCACHE", "GOPATH", "HOME"])
def test_a_package_is_found_in_the_module_cache_of_go(tmp_path: Path, variable: str):
    inside = {"GOMODCACHE": "", "GOPATH": "pkg/mod/", "HOME": "go/pkg/mod/"}[variable]
    root = tmp_path / "me"
    write(root, {"go.mod": MOD})
    write(tmp_path / "c", {f"{inside}github.com/!corp/cobra@v1.2.3/cobra.go": COBRA})
    write(tmp_path / "c", {f"{inside}github.com/!corp/cobra@v1.2.3/doc/man.go": "package doc\nfunc Man(a int) {}\n"})
    environ = {variable: str(tmp_path / "c")}
    result = find_go_fragment(root, "github.com/Corp/cobra", "Command", **environ)
    assert result == DocFragment(
        package="github.com/Corp/cobra",
        version="v1.2.3",
        module="github.com/Corp/cobra",
        name="Command",
        kind="struct",
        signature="type Command struct",
        documentation="Command is a command.",
        file="github.com/!corp/cobra@v1.2.3/cobra.go",
        constructor="func NewCommand(use string) *Command",
        details="More.",
    )
    method = find_go_fragment(root, "github.com/Corp/cobra", "Command.Execute", **environ)
    assert method
    assert (method.signature, method.documentation) == (
        "func (c *Command) Execute(args ...string) error",
        "Execute runs it.",
    )
    assert method.usage == "Command.Execute(args ...string) error"
    embedded = find_go_fragment(root, "github.com/Corp/cobra", "Command.Parse", **environ)
    assert embedded
    assert embedded.signature == "func (f *Flags) Parse(args []string) error"
    inner = InstalledPackages(environ).look_up(root, "go", "github.com/Corp/cobra/doc.Man")
    assert isinstance(inner, DocFragment)
    assert (inner.package, inner.module, inner.usage) == (
        "github.com/Corp/cobra",
        "github.com/Corp/cobra/doc",
        "Man(a int)",
    )
    missing = InstalledPackages(environ).find_absent(root, "go", "github.com/Corp/cobra", "NewComand")
    assert missing
    assert [item.usage for item in missing.nearest] == [
        "NewCommand(use string) *Command",
        "NewCommand(use string) *Command",
    ]


def test_vendored_and_replaced_modules_and_the_standard_library_are_found(tmp_path: Path):
    write(tmp_path, {"go.mod": MOD, "vendor/github.com/Corp/cobra/c.go": "package cobra\nfunc V() {}\n"})
    write(tmp_path / "local", {"l.go": "package local\nfunc L() {}\n"})
    result = find_go_fragment(tmp_path, "github.com/Corp/cobra", "V", GOMODCACHE=str(tmp_path / "none"))
    assert result
    assert result.file == "github.com/Corp/cobra/c.go"
    assert find_go_fragment(tmp_path, "example.org/local", "L", GOMODCACHE=str(tmp_path)) is None
    assert find_go_fragment(tmp_path, "github.com/other/thing", "L", GOMODCACHE=str(tmp_path)) is None
    write(
        tmp_path / "goroot",
        {
            "VERSION": "go1.22.1\ntime x\n",
            "src/strings/s.go": (
                "package strings\nfunc Cut(s, sep string) {}\ntype Kind int\nfunc (k Kind) Name() string { return 0 }\n"
            ),
        },
    )
    result = find_go_fragment(tmp_path, "strings", "Cut", GOROOT=str(tmp_path / "goroot"))
    assert result
    assert (result.release, result.signature) == ("Go 1.22.1", "func Cut(s, sep string)")
    result = find_go_fragment(tmp_path, "strings", "Kind.Name", GOROOT=str(tmp_path / "goroot"))
    assert result
    assert result.usage == "Kind.Name() string"


LOCK = (
    'version = 3\n\n[[package]]\nname = "my-crate"\nversion = "1.2.0"\nsource = "registry"\n\n'
    '[[package]]\nname = "my-crate"\nversion = "1.10.0"\n\n[[package]]\nname = "other"\nversion = "0.1.0"\n'
)
CRATE = {
    "src/lib.rs": (
        "//! A crate.\n//! Of mine.\n//!\n//! More.\n\npub mod shapes;\npub use shapes::{Circle, round as rounded};\n"
        "pub use self::inner::*;\npub use other::thing;\nmod inner;\n\npub mod here {\n    /// Adds.\n"
        "    pub fn add(a: i32) -> i32 { a }\n}\n"
        "/// Makes it.\n///\n/// # Examples\n#[macro_export]\nmacro_rules! make { () => {} }\n"
    ),
    "src/shapes/mod.rs": (
        "/// A circle.\n#[derive(Debug)]\n#[must_use]\npub struct Circle<T> { pub r: T }\n\n"
        "impl<T> Circle<T> {\n    pub fn new(r: T) -> Self { Self { r } }\n\n    /// Its area.\n    pub fn area(\n"
        "        &self, // of it\n        n: u8,\n    ) -> f64 { 0.0 }\n}\n\n"
        "pub fn round(x: f64) -> f64 { x }\n"
    ),
    "src/inner.rs": "pub use super::shapes::round as around;\npub trait Area { fn area(&self) -> f64; }\n",
}


@pytest.mark.parametrize(
    ("module", "name", "signature", "documentation"),
    [
        ("my_crate", "Circle", "pub struct Circle<T>", "A circle."),
        ("my_crate", "Circle.area", "pub fn area(&self, n: u8) -> f64", "Its area."),
        ("my_crate::shapes", "Circle.new", "pub fn new(r: T) -> Self", ""),
        ("my_crate", "shapes.Circle.new", "pub fn new(r: T) -> Self", ""),
        ("my_crate", "rounded", "pub fn round(x: f64) -> f64", ""),
        ("my_crate", "around", "pub fn round(x: f64) -> f64", ""),
        ("my_crate", "here.add", "pub fn add(a: i32) -> i32", "Adds."),
        ("my_crate", "Area.area", "fn area(&self) -> f64", ""),
        ("my_crate", "thing", "pub fn thing()", ""),
        ("my_crate", "", "", "A crate. Of mine."),
    ],
)
def test_a_declaration_of_a_crate_is_found(tmp_path: Path, module: str, name: str, signature: str, documentation: str):
    write(tmp_path, {"Cargo.lock": LOCK})
    home = tmp_path / "cargo"
    write(home / "registry/src/index-1/my-crate-1.10.0", CRATE)
    write(home / "registry/src/index-1/my-crate-1.2.0", {"src/lib.rs": "pub struct Circle;\n"})
    write(
        home / "registry/src/index-1/other-0.1.0",
        {"src/x.rs": "pub fn thing() {}\n", "Cargo.toml": '[lib]\npath = "src/x.rs"\n'},
    )
    result = InstalledPackages({"CARGO_HOME": str(home)}).find_documentation(tmp_path, "rust", module, name)
    assert result
    assert (result.release, result.signature, result.documentation) == ("my-crate 1.10.0", signature, documentation)
    assert name != "Circle" or result.usage == "Circle.new(r: T) -> Self"


def test_another_version_in_the_lock_file_is_used_without_a_restart(tmp_path: Path):
    installed = InstalledPackages({"HOME": str(tmp_path)})
    for version, text in (("0.1.0", "pub fn f() {}"), ("0.20.0", "pub fn f(a: u8) {}")):
        write(tmp_path, {"Cargo.lock": f'[[package]]\nname = "a"\nversion = "{version}"\n'})
        write(tmp_path / f".cargo/registry/src/index/a-{version}", {"src/lib.rs": f"{text}\n"})
        result = installed.look_up(tmp_path, "rust", "a::f")
        assert isinstance(result, DocFragment)
        assert (result.version, f"{result.signature} {{}}") == (version, text)


def test_a_crate_that_is_not_locked_is_not_known(tmp_path: Path):
    write(tmp_path / ".cargo/registry/src/index/a-0.1.0", {"src/lib.rs": "pub fn f() {}\n"})
    installed = InstalledPackages({"HOME": str(tmp_path)})
    assert installed.find_documentation(tmp_path, "rust", "a", "f") is None
    assert installed.searched_places(tmp_path, "rust") == ["Cargo.lock", str(tmp_path / ".cargo/registry/src")]
