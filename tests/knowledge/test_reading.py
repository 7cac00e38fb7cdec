"""Tests of reading the files of packages: which files are read, and how broken ones are handled."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.knowledge.doc_fragment import AbsentName, DocFragment
from lsp_harness.knowledge.installed_packages import InstalledPackages, package_languages
from lsp_harness.knowledge.package_source import MAX_FILE_BYTES, Package, TextCache, read_contents
from tests.knowledge.packages import SITE, install, make_venv, write

FUNCTION = "def f(x): ...\n"


@pytest.fixture
def site_packages(tmp_path: Path) -> Path:
    return make_venv(tmp_path)


def is_known(root: Path, module: str) -> bool:
    return InstalledPackages({}).find_documentation(root, "python", module, "f") is not None


def test_links_out_of_the_place_of_the_packages_are_not_followed(tmp_path: Path, site_packages: Path):
    write(tmp_path / "outside", {"out.py": FUNCTION, "pack/__init__.py": FUNCTION})
    write(site_packages, {"own/real.py": FUNCTION})
    (site_packages / "out.py").symlink_to(tmp_path / "outside" / "out.py")
    (site_packages / "pack").symlink_to(tmp_path / "outside" / "pack")
    (site_packages / "inside.py").symlink_to(site_packages / "own" / "real.py")
    assert not is_known(tmp_path, "out")
    assert not is_known(tmp_path, "pack")
    assert is_known(tmp_path, "inside")
    modules = tmp_path / "node_modules"
    write(modules, {"real/index.d.ts": "export function f(): void;\n"})
    (modules / "x").symlink_to(tmp_path / "outside")
    write(tmp_path / "outside", {"index.d.ts": "export function f(): void;\n"})
    assert InstalledPackages({}).find_documentation(tmp_path, "typescript", "real", "f")
    assert InstalledPackages({}).find_documentation(tmp_path, "typescript", "x", "f") is None
    write(modules, {"real/index.d.ts": "export * from '../../outside/index';\n"})
    assert InstalledPackages({}).find_documentation(tmp_path, "typescript", "real", "f") is None


def test_large_secret_and_irregular_files_are_not_read(tmp_path: Path, site_packages: Path):
    write(
        site_packages,
        {"large.py": FUNCTION + "#" * MAX_FILE_BYTES, "just.py": FUNCTION + "#" * (MAX_FILE_BYTES - len(FUNCTION))},
    )
    write(site_packages, {"folder.py/x": "", "binary.py": b"def f(x): ...\n\0", ".ssh/keys.py": FUNCTION})
    os.mkfifo(site_packages / "pipe.py")
    assert is_known(tmp_path, "just")
    assert not any(is_known(tmp_path, name) for name in ("large", "folder", "binary", "pipe"))
    assert read_contents(site_packages / ".ssh" / "keys.py", site_packages) is None


def test_a_secret_in_a_default_is_not_shown(tmp_path: Path, site_packages: Path):
    token = "ghp_" + "a" * 36
    install(site_packages, "leaky", "1", {"leaky.py": f'def f(key="{token}"):\n    """Uses {token}."""\n'})
    documentation = InstalledPackages({}).find_documentation(tmp_path, "python", "leaky", "f")
    assert documentation
    assert (documentation.signature, documentation.documentation) == ('def f(key="…")', "Uses ….")


ODD_NAMES = ("", "f", "f.g.h", "f.__init__")


@pytest.mark.parametrize(
    ("text", "documented", "absent"),
    [
        ("def f(x): ...\n".encode("utf-16"), [], []),
        (b"\xef\xbb\xbfdef f(x):\n    'caf\xe9'\n", ["", "f"], []),
        (b"# -*- coding: latin-1 -*-\ndef f(x='\xe9'): ...\n", ["", "f"], []),
        (b"def f(x:\n", [""], []),
        (b"def f(((((((((((((((((((((", [""], []),
        (b"", [""], ["f", "f.g.h", "f.__init__"]),
        (b"from . import f\n", [""], []),
        (b"from .odd import f\nfrom .odd import *\n", [""], []),
        (b"f = f\n", ["", "f"], []),
        (b"f = odd.f\nimport odd\n", ["", "f"], []),
        (b"class f(f): ...\n", ["", "f"], []),
    ],
)
def test_odd_files_are_no_error(
    tmp_path: Path, site_packages: Path, text: bytes, documented: list[str], absent: list[str]
):
    write(
        site_packages,
        {"odd.py": text, "odd-1.dist-info/METADATA": b"\xff\xfe\0", "odd-1.dist-info/RECORD": b"\xff,,\n,\n"},
    )
    installed = InstalledPackages({})
    found = [name for name in ODD_NAMES if installed.find_documentation(tmp_path, "python", "odd", name)]
    assert found == documented
    assert [name for name in ODD_NAMES if installed.find_absent(tmp_path, "python", "odd", name)] == absent


def test_packages_that_lead_in_circles_end(tmp_path: Path, site_packages: Path):
    names = [f"m{n}" for n in range(12)]
    every = "".join(f"from .{name} import *\n" for name in names)
    classes = "".join(f"class C{n}({', '.join(f'C{m}' for m in range(12) if m != n)}): ...\n" for n in range(12))
    install(site_packages, "ring", "1", {f"ring/{name}.py": every + classes for name in (*names, "__init__")})
    installed = InstalledPackages({})
    assert installed.find_documentation(tmp_path, "python", "ring", "nothing") is None
    assert installed.find_documentation(tmp_path, "python", "ring", "C1.nothing") is None
    assert installed.find_absent(tmp_path, "python", "ring", "C1.nothing") is None
    missing = installed.find_absent(tmp_path, "python", "ring", "C12")
    assert missing
    assert {item.name[:2] for item in missing.nearest} <= {"C1", "C2"}
    assert len(missing.nearest) == 3


@pytest.mark.parametrize("language", package_languages())
def test_a_name_of_endless_length_is_not_found(tmp_path: Path, site_packages: Path, language: str):
    write(site_packages, {"odd.py": "odd = odd\n"})
    long = ".".join(["odd"] * 5000)
    installed = InstalledPackages({})
    assert installed.find_documentation(tmp_path, language, long, long) is None
    assert installed.find_absent(tmp_path, language, "odd", long) is None
    assert installed.look_up(tmp_path, language, long) is None


def test_a_limited_number_of_files_is_cached_and_changed_files_are_read_again(tmp_path: Path):
    texts, package = TextCache(max_files=2), Package("p", "1", tmp_path)
    write(tmp_path, {f"{name}.py": FUNCTION for name in "abc"})
    first = texts.read(package, tmp_path / "a.py")
    assert first is not None
    assert texts.read(package, tmp_path / "a.py") is first
    texts.read(package, tmp_path / "b.py")
    texts.read(package, tmp_path / "c.py")
    again = texts.read(package, tmp_path / "a.py")
    assert again is not first
    assert again == first
    write(tmp_path, {"a.py": "def changed(): ...\n"})
    changed = texts.read(package, tmp_path / "a.py")
    assert changed
    assert list(changed.top_level) == ["changed"]


NAMES = st.text("abf._-/\\:@$*\0é 1", max_size=12)
FILES = {
    "python": (SITE, ("x.py", "x/__init__.py", "x.pyi", "x-1.dist-info/METADATA", "x-1.dist-info/RECORD", "x.pth")),
    "typescript": ("node_modules/x", ("package.json", "index.d.ts", "index.js")),
    "go": (".", ("go.mod", "vendor/x.y/x/a.go", "mod/x.y/x@v1/a.go")),
    "rust": (".", ("Cargo.lock", ".cargo/registry/src/i/x-1.0.0/src/lib.rs")),
}
PIECES = {
    "python": ["def f(", "class x", ":", "\n", "    ", "from . import ", "from x import *", "f", "=", '"""', "#", "x"],
    "typescript": [
        "{",
        "}",
        '"exports": ',
        '"types": "',
        "export ",
        "default ",
        "* from './x'",
        "function f",
        "=",
        "\n",
        "/**",
    ],
    "go": ["package x\n", "require x.y/x v1\n", "=>", "func f", "(", ")", "type x ", "struct {", "}", "//", "\n"],
    "rust": [
        "pub use ",
        "self::",
        "*;",
        "mod x",
        "{",
        "}",
        "impl x",
        "fn f",
        "()",
        'name = "x"\nversion = "1.0.0"\n',
        "///",
    ],
}


@pytest.mark.parametrize("language", package_languages())
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_installed_files_and_any_names_raise_no_error(language: str, data: st.DataObject):
    folder, names = FILES[language]
    texts = st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(PIECES[language]), max_size=16).map("".join))
    with TemporaryDirectory() as directory:
        root = Path(directory)
        write(root, {".venv/pyvenv.cfg": data.draw(texts)})
        write(root / folder, {name: data.draw(texts) for name in names if data.draw(st.booleans())})
        installed = InstalledPackages({"HOME": directory, "GOMODCACHE": f"{directory}/mod"})
        module = data.draw(st.one_of(st.sampled_from(["x", "x.y/x", "x/x", "x::x", "x.x"]), NAMES))
        name = data.draw(st.one_of(st.sampled_from(["", "f", "x", "x.f", "f.x.f"]), NAMES))
        found = installed.find_documentation(root, language, module, name)
        assert isinstance(found, DocFragment | None)
        assert isinstance(installed.find_absent(root, language, module, name), AbsentName | None)
        assert isinstance(installed.look_up(root, language, f"{module}.{name}"), DocFragment | AbsentName | None)
        installed.find_release(root, language, module)
