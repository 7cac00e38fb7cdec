"""Tests of the declarations of packages in a virtual environment."""

import os
from pathlib import Path

import pytest

from lsp_harness.knowledge.doc_fragment import AbsentName, DocFragment
from lsp_harness.knowledge.installed_packages import InstalledPackages
from tests.knowledge.packages import REQUESTS, SITE, install, make_venv, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    install(make_venv(root), "requests", "2.32.3", REQUESTS)
    return root


def read_fragment(root: Path, module: str, name: str = "", **environ: str) -> DocFragment:
    documentation = InstalledPackages(environ).find_documentation(root, "python", module, name)
    assert documentation is not None
    return documentation


def find_missing_name(root: Path, module: str, name: str) -> AbsentName | None:
    return InstalledPackages({}).find_absent(root, "python", module, name)


def test_a_function_that_a_package_exports_from_its_module_is_found(root: Path):
    assert read_fragment(root, "requests", "get") == DocFragment(
        package="requests",
        version="2.32.3",
        module="requests",
        name="get",
        kind="function",
        signature="def get(url, params=None, **kwargs)",
        documentation="Sends a GET request.",
        file="requests/api.py",
        details=":param url: where to",
    )


@pytest.mark.parametrize(
    ("module", "name", "signature", "file"),
    [
        ("requests.api", "get", "def get(url, params=None, **kwargs)", "requests/api.py"),
        ("requests", "api.get", "def get(url, params=None, **kwargs)", "requests/api.py"),
        ("requests", "utils.quote", "def quote(value)", "requests/utils.py"),
        ("requests", "Response.json", "def json(self, **kwargs)", "requests/models.py"),
        ("requests", "Session.get", 'def get(self, url, *, sep="#") -> "Response"', "requests/sessions.py"),
        ("requests", "Session.resolve", "def resolve(self, a: int)", "requests/base.py"),
        ("requests", "patch", "def patch(url, data=None, **kwargs)", "requests/api.py"),
        ("requests.sessions", "get", 'def get(self, url, *, sep="#") -> "Response"', "requests/sessions.py"),
        ("requests.sessions", "default.resolve", "def resolve(self, a: int)", "requests/base.py"),
        ("requests.sessions", "alias", "class Session(_Mixin)", "requests/sessions.py"),
    ],
)
def test_a_reexported_name_is_followed_to_its_declaration(
    root: Path, module: str, name: str, signature: str, file: str
):
    result = read_fragment(root, module, name)
    assert (result.signature, result.file, result.name) == (signature, file, name)


def test_a_class_has_the_signature_of_its_constructor(root: Path):
    result = read_fragment(root, "requests", "Session")
    assert result.signature == "class Session(_Mixin)"
    assert result.constructor == "def __init__(self, adapter=None, *, retries: int = 3) -> None"
    assert result.usage == "Session(adapter=None, *, retries: int = 3)"
    assert result.documentation == "A session. In two lines."


def test_a_module_has_the_first_line_of_its_docstring(root: Path):
    result = read_fragment(root, "requests")
    assert (result.kind, result.documentation, result.file) == (
        "module",
        "Requests HTTP Library.",
        "requests/__init__.py",
    )


def test_a_dataclass_has_a_signature_of_its_fields(root: Path):
    install(
        root / SITE,
        "shapes",
        "1.0",
        {
            "shapes.py": (
                "from dataclasses import dataclass, field\nfrom typing import ClassVar, NamedTuple\n\n\n"
                "@dataclass\nclass Base:\n    name: str\n    many: ClassVar[int] = 0\n\n\n"
                "@dataclass(frozen=True)\nclass Circle(Base):\n    r: float = 1.0\n"
                "    marks: list[int] = field(default_factory=list)\n\n\n"
                "class Point(NamedTuple):\n    x: int\n    y: int = 0\n\n\nclass Plain:\n    x: int = 1\n"
            )
        },
    )
    assert read_fragment(root, "shapes", "Circle").usage == "Circle(name: str, r: float = 1.0, marks: list[int] = ...)"
    assert read_fragment(root, "shapes", "Point").usage == "Point(x: int, y: int = 0)"
    assert read_fragment(root, "shapes", "Plain").usage == "class Plain"


def test_an_object_that_is_called_and_one_of_several_names(root: Path):
    text = (
        "from typing import Final, Protocol, overload\nclass _Make(Protocol):\n    @overload\n"
        "    def __call__(self, /, shape: int) -> list: ...\n    @overload\n"
        "    def __call__(self, shape: str) -> list: ...\n"
        "zeros: Final[_Make] = ...\nones = like = zeros\nib = attr = attrib\ndef attrib(default=None): ...\n"
    )
    install(root / SITE, "make", "1", {"make.pyi": text})
    result = read_fragment(root, "make", "zeros")
    assert (result.signature, result.overloads) == ("def zeros(shape: int) -> list", 2)
    assert read_fragment(root, "make", "ib").signature == "def attrib(default=None)"
    assert read_fragment(root, "make", "ib").usage == "ib(default=None)"


def test_stubs_come_before_sources_which_have_the_words(root: Path):
    install(
        root / SITE,
        "shapes",
        "1.0",
        {
            "shapes/__init__.py": 'def area(r):\n    """Of a circle."""\n\n\ndef hidden(): ...\n',
            "shapes/__init__.pyi": (
                "from typing import overload\n@overload\ndef area(r: int) -> int: ...\n@overload\n"
                "def area(r: float) -> float: ...\n"
            ),
        },
    )
    result = read_fragment(root, "shapes", "area")
    assert (result.signature, result.overloads) == ("def area(r: int) -> int", 2)
    assert (result.documentation, result.file) == ("Of a circle.", "shapes/__init__.pyi")
    assert read_fragment(root, "shapes", "hidden").file == "shapes/__init__.py"


def test_a_package_of_stubs_has_the_version_of_its_library(root: Path):
    site = root / SITE
    install(site, "six-pack", "3.1", {"six.py": "def add(a, b): ...\n"}, tops="six\n")
    install(site, "types-six", "1.0", {"six-stubs/__init__.pyi": "def add(a: int, b: int) -> int: ...\n"})
    result = read_fragment(root, "six", "add")
    assert (result.release, result.signature) == ("six-pack 3.1", "def add(a: int, b: int) -> int")


def test_the_package_of_a_namespace_with_the_requested_part_is_chosen(root: Path):
    install(root / SITE, "acme-a", "1", {"acme/a/__init__.py": "def f(): ...\n"})
    install(root / SITE, "acme-b", "2", {"acme/b/__init__.py": "def g(x): ...\n"})
    assert read_fragment(root, "acme.b", "g").release == "acme-b 2"
    assert read_fragment(root, "acme", "a.f").signature == "def f()"


def test_the_standard_library_that_the_environment_was_made_from(root: Path, tmp_path: Path):
    home = tmp_path / "python"
    write(
        home,
        {"lib/python3.11/os.py": "import posixpath as path\n", "lib/python3.11/posixpath.py": "def join(a, *p): ...\n"},
    )
    make_venv(root, home)
    result = read_fragment(root, "os.path", "join")
    assert (result.release, result.signature, result.file) == ("Python 3.11.4", "def join(a, *p)", "posixpath.py")
    assert (result.module, result.name) == ("os", "path.join")


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_an_environment_elsewhere_is_named_by_the_shell(tmp_path: Path, variable: str):
    install(make_venv(tmp_path / "other"), "requests", "1.0", REQUESTS)
    here = tmp_path / "here"
    here.mkdir()
    assert InstalledPackages({}).find_documentation(here, "python", "requests", "get") is None
    assert read_fragment(here, "requests", "get", **{variable: str(tmp_path / "other" / ".venv")}).version == "1.0"


def test_a_setting_wins_over_the_active_environment_and_that_over_the_folder(root: Path, tmp_path: Path):
    install(make_venv(tmp_path / "other"), "requests", "1.0", REQUESTS)
    environ = {"VIRTUAL_ENV": str(tmp_path / "other" / ".venv")}
    assert read_fragment(root, "requests", "get", **environ).version == "1.0"
    documentation = InstalledPackages(environ, python=".venv").find_documentation(root, "python", "requests", "get")
    assert documentation
    assert documentation.version == "2.32.3"


def test_a_project_in_a_subfolder_uses_its_own_environment(root: Path):
    install(make_venv(root / "backend"), "requests", "1.0", REQUESTS)
    packages = InstalledPackages({})
    found = packages.find_documentation(root, "python", "requests", "get", importer_folder=root / "backend/src")
    assert found
    assert found.version == "1.0"
    assert read_fragment(root, "requests", "get").version == "2.32.3"


def test_packages_that_are_installed_to_be_edited_but_not_the_workspace_itself(root: Path, tmp_path: Path):
    write(tmp_path / "lib", {"tool/__init__.py": "def run(x): ...\n"})
    write(root, {"own/__init__.py": "def mine(): ...\n"})
    site = root / SITE
    install(site, "tool", "0.1", {"a.pth": f"{tmp_path / 'lib'}\n", "b.pth": f"import os\n{root}\n"}, tops="tool\n")
    assert read_fragment(root, "tool", "run").release == "tool 0.1"
    assert InstalledPackages({}).find_documentation(root, "python", "own", "mine") is None


def test_an_upgrade_shows_without_a_restart(root: Path):
    installed, site = InstalledPackages({}), root / SITE

    def now() -> tuple[str, str]:
        documentation = installed.find_documentation(root, "python", "requests", "get")
        assert documentation
        return documentation.version, documentation.signature

    assert now() == ("2.32.3", "def get(url, params=None, **kwargs)")
    (site / "requests-2.32.3.dist-info").rename(site / "requests-3.0.dist-info")
    write(site, {"requests-3.0.dist-info/METADATA": "Name: requests\nVersion: 3.0\n"})
    write(site, {"requests/api.py": "def get(url, /): ...\n"})
    # as soon as two writes can be on this file system
    os.utime(site, ns=(1, 1))
    assert now() == ("3.0", "def get(url, /)")
    write(site, {"requests-3.0.dist-info/METADATA": "Name: requests\nVersion: 3.0.1\n"})
    assert now() == ("3.0.1", "def get(url, /)")


# -- what is not there
def test_a_name_that_a_module_lacks_is_reported_with_similar_names(root: Path):
    result = find_missing_name(root, "requests", "fetch")
    assert result
    assert (result.release, result.name, [item.usage for item in result.nearest]) == (
        "requests 2.32.3",
        "fetch",
        ["patch(url, data=None, **kwargs)"],
    )
    result = find_missing_name(root, "requests", "Session.gett")
    assert result
    assert [item.name for item in result.nearest] == ["Session.get"]
    result = find_missing_name(root, "requests", "sesion.get.now")
    assert result
    assert (result.name, [item.name for item in result.nearest]) == ("sesion", ["session", "sessions", "Session"])


@pytest.mark.parametrize("name", ["get", "Session.resolve", "Session.adapter", "api.get", "sessions", "Response"])
def test_an_existing_name_is_not_reported_as_missing(root: Path, name: str):
    assert find_missing_name(root, "requests", name) is None


@pytest.mark.parametrize(
    "text",
    [
        "def __getattr__(name): ...\n",
        "globals().update(x=1)\n",
        "import sys\nsys.modules[__name__] = object()\n",
        "from _fast import *\n",
        "from absent_package import *\n",
        "if known():\n    unknown = 1\n",
        "@enum.global_enum\nclass Flag: ...\n",
    ],
)
def test_no_name_is_called_missing_in_a_module_with_dynamic_names(root: Path, text: str):
    install(root / SITE, "lazy", "1", {"lazy.py": f"def known(): ...\n{text}"})
    assert find_missing_name(root, "lazy", "unknown") is None


@pytest.mark.parametrize(
    "text",
    [
        "class C:\n    def __getattr__(self, name): ...\n",
        "from elsewhere import Base\nclass C(Base):\n    x = 1\n",
        "@register\nclass C:\n    x = 1\n",
    ],
)
def test_no_name_is_called_missing_in_a_class_with_dynamic_names(root: Path, text: str):
    install(root / SITE, "lazy", "1", {"lazy.py": text})
    assert find_missing_name(root, "lazy", "C.unknown") is None


def test_for_a_package_that_is_not_installed_the_searched_places_are_listed(root: Path):
    installed = InstalledPackages({})
    assert installed.find_documentation(root, "python", "flask", "Flask") is None
    assert installed.find_absent(root, "python", "flask", "Flask") is None
    assert installed.searched_places(root, "python") == [SITE]
    assert installed.find_documentation(root, "cobol", "flask", "Flask") is None
