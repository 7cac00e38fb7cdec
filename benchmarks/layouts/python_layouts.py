"""Layouts of Python projects: how they are installed, and how pytest is set up."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks.layouts.layout import Layout, ProposedEdit, PythonEnvironment

CALC = '''"""Prices."""


def total(prices):
    """Return the sum of some prices."""
    result = 0
    for price in prices:
        result = result + price
    return result


def label(name):
    """Return a name as a title."""
    return name.strip().title()
'''
REPORT = '''"""Reports."""

from {package}.calc import label, total


def render(name, prices):
    """Return a line of a report."""
    return f"{{label(name)}}: {{total(prices)}}"
'''
TEST_CALC = """from {package}.calc import total


def test_total():
    assert total([1, 2, 3]) == 6


def test_nothing():
    assert total([]) == 0
"""
TEST_REPORT = """from {package}.report import render


def test_render():
    assert render(" tea ", [2, 3]) == "Tea: 5"
"""
LOOP = """    result = 0
    for price in prices:
        result = result + price
    return result
"""
SUM = "    return sum(prices)\n"
OTHER_FORM = """    subtotal = 0
    for price in prices:
        subtotal = price + subtotal
    return subtotal
"""
LOST: Mapping[str, tuple[str, str]] = {
    "deleted": ("def test_nothing():\n    assert total([]) == 0\n", ""),
    "renamed": ("def test_nothing():", "def check_nothing():"),
    "skipped": (
        "def test_nothing():\n",
        'def test_nothing():\n    import pytest\n\n    pytest.skip("not now")\n',
    ),
    "emptied": ("    assert total([]) == 0\n", "    pass\n"),
}
"""The ways in which a test is lost."""
PYTEST = ("{python}", "-m", "pytest", "-q")


def make_edits(calc: str, tests: str, lost: tuple[str, str]) -> tuple[ProposedEdit, ...]:
    """Return the edits of a project with `CALC`.

    Args:
        calc: The path of the module.
        tests: The path of its tests.
        lost: The text of a test, and what replaces it.
    """
    return (
        ProposedEdit("right", calc, ((LOOP, SUM),)),
        ProposedEdit("caught", calc, (("result + price", "result - price"),)),
        ProposedEdit("form", calc, ((LOOP, OTHER_FORM),)),
        ProposedEdit("lost", tests, (lost,)),
        ProposedEdit("importer", calc, (("def label(", "def make_label("),)),
    )


def make_python(
    name: str,
    *,
    package: str = "shop",
    folder: str | None = None,
    tests: str = "tests",
    files: Mapping[str, str | None] | None = None,
    lost: str = "deleted",
    environment: PythonEnvironment | None = None,
    **attributes: Any,
) -> Layout:
    """Return a layout with two modules and their tests.

    Args:
        name: The name.
        package: The name by which the modules are imported.
        folder: The folder of the package. The default is its name.
        tests: The folder of the tests.
        files: Files that are added, that replace others, or with None that are left out.
        lost: The way in which a test is lost (see `LOST`).
        environment: Its virtual environment.
        attributes: More attributes of the layout.
    """
    folder = package.replace(".", "/") if folder is None else folder
    prefix = f"{tests}/" if tests else ""
    source = f"{folder}/" if folder else ""
    texts = {
        f"{source}__init__.py": "",
        f"{source}calc.py": CALC,
        f"{source}report.py": REPORT.format(package=package),
        f"{prefix}test_calc.py": TEST_CALC.format(package=package),
        f"{prefix}test_report.py": TEST_REPORT.format(package=package),
        **(files or {}),
    }
    texts = {path: text for path, text in texts.items() if text is not None}
    edits = make_edits(f"{source}calc.py", f"{prefix}test_calc.py", LOST[lost])
    return Layout(
        **{
            "name": name,
            "files": texts,
            "edits": edits,
            "bare": PYTEST,
            "environments": (environment or PythonEnvironment(),),
            **attributes,
        }
    )


def make_project(backend: str, requires: str, more: str = "") -> str:
    """Return a `pyproject.toml`."""
    return (
        f'[build-system]\nrequires = ["{requires}"]\nbuild-backend = "{backend}"\n\n'
        f'[project]\nname = "shop"\nversion = "1.0"\nrequires-python = ">=3.9"\n{more}'
    )


SETUPTOOLS = make_project("setuptools.build_meta", "setuptools>=70")
EDITABLE = PythonEnvironment(editable=("",))
PYTHONPATH_TOML = '[tool.pytest.ini_options]\npythonpath = ["src"]\n'


def make_installed(name: str, project: str = SETUPTOOLS, **arguments: Any) -> Layout:
    """Return a layout that is installed in editable form. The arguments are those of `make_python`."""
    arguments = {"folder": "src/shop", "environment": EDITABLE, **arguments}
    files = {"pyproject.toml": project, **arguments.pop("files", {})}
    return make_python(name, files=files, **arguments)


def make_options(name: str, options: str, packages: str = "plain", more: str = "", **arguments: Any) -> Layout:
    """Return a layout with options of pytest in its settings. The arguments are those of `make_python`."""
    files = {
        "pyproject.toml": f'[tool.pytest.ini_options]\naddopts = "{options}"\n{more}',
        **arguments.pop("files", {}),
    }
    return make_python(name, files=files, environment=PythonEnvironment(packages), **arguments)


INSTALLED = (
    make_installed("setuptools-src", lost="deleted"),
    make_installed(
        "setuptools-strict",
        environment=replace(EDITABLE, options=("--config-settings", "editable_mode=strict")),
        lost="renamed",
    ),
    make_installed(
        "setuptools-compat",
        environment=replace(EDITABLE, options=("--config-settings", "editable_mode=compat")),
        lost="skipped",
    ),
    make_installed(
        "setuptools-finder",
        SETUPTOOLS + '\n[tool.setuptools]\npackages = ["shop"]\n\n[tool.setuptools.package-dir]\nshop = "lib"\n',
        folder="lib",
        lost="emptied",
    ),
    make_installed("setuptools-flat", SETUPTOOLS + '\n[tool.setuptools]\npackages = ["shop"]\n', folder="shop"),
    make_installed(
        "setup-py",
        SETUPTOOLS.split("\n\n")[0] + "\n",
        files={
            "setup.py": 'from setuptools import setup\n\nsetup(name="shop", version="1.0", package_dir={"": "src"}, '
            'packages=["shop"])\n'
        },
        lost="renamed",
    ),
    make_installed("hatchling-src", make_project("hatchling.build", "hatchling"), lost="skipped"),
    make_installed("hatchling-flat", make_project("hatchling.build", "hatchling"), folder="shop", lost="emptied"),
    make_installed(
        "flit",
        make_project("flit_core.buildapi", "flit_core>=3.9", 'description = "A shop."\n'),
    ),
    make_installed(
        "poetry",
        make_project("poetry.core.masonry.api", "poetry-core>=2")
        + '\n[tool.poetry]\npackages = [{ include = "shop", from = "src" }]\n',
        lost="renamed",
    ),
    make_installed("pdm", make_project("pdm.backend", "pdm-backend") + "\n[tool.pdm]\ndistribution = true\n"),
    make_installed("uv", make_project("uv_build", "uv_build"), files={"uv.lock": "version = 1\n"}, lost="skipped"),
    make_installed(
        "namespace",
        SETUPTOOLS + '\n[tool.setuptools.packages.find]\nwhere = ["src"]\n',
        package="acme.shop",
        folder="src/acme/shop",
        lost="emptied",
    ),
    make_installed(
        "console-script",
        SETUPTOOLS + '\n[project.scripts]\nshop-total = "shop.command:main"\n',
        files={
            "src/shop/command.py": "import sys\n\nfrom shop.calc import total\n\n\ndef main():\n"
            "    print(total([int(word) for word in sys.argv[1:]]))\n",
            "tests/test_calc.py": "import subprocess\nimport sys\nfrom pathlib import Path\n\n"
            "from shop.calc import total\n\n\ndef test_total():\n"
            '    program = Path(sys.executable).with_name("shop-total")\n'
            '    assert subprocess.check_output([program, "1", "2", "3"]) == b"6\\n"\n\n\n'
            "def test_nothing():\n    assert total([]) == 0\n",
        },
    ),
    make_installed("linked-environment", environment=replace(EDITABLE, target="environments/shop"), lost="renamed"),
    make_installed("named-venv", environment=replace(EDITABLE, folder="venv")),
    make_installed(
        "whole-path-in-pth", "", environment=PythonEnvironment(paths=("src",)), files={"pytest.ini": "[pytest]\n"}
    ),
)
"""Projects that are installed in editable form."""


def make_monorepo() -> Layout:
    """Return two packages in one repository, each with an environment, of which one uses the other."""
    depot = SETUPTOOLS.replace('"shop"', '"depot"')
    inner = make_python("inner", folder="src/shop")
    files = {f"packages/shop/{path}": text for path, text in inner.files.items()}
    files |= {
        "packages/shop/pyproject.toml": SETUPTOOLS,
        "packages/depot/pyproject.toml": depot,
        "packages/depot/src/depot/__init__.py": "",
        "packages/depot/src/depot/stock.py": "from shop.calc import total\n\n\ndef count(boxes):\n"
        "    return total(boxes)\n",
        "packages/depot/tests/test_stock.py": "from depot.stock import count\n\n\ndef test_count():\n"
        "    assert count([2, 2]) == 4\n",
        "README.md": "# Two packages\n",
    }
    return Layout(
        "monorepo",
        files,
        make_edits("packages/shop/src/shop/calc.py", "packages/shop/tests/test_calc.py", LOST["deleted"]),
        PYTEST,
        (
            PythonEnvironment(folder="packages/shop/.venv", editable=("packages/shop",)),
            PythonEnvironment(folder="packages/depot/.venv", editable=("packages/depot", "packages/shop")),
        ),
        folder="packages/shop",
    )


def make_backend_folder() -> Layout:
    """Return a project in a subfolder whose environment lies in the folder above it."""
    inner = make_python("inner", package="app", files={"pytest.ini": "[pytest]\n", "conftest.py": ""})
    files = {f"backend/{path}": text for path, text in inner.files.items()} | {"frontend/index.html": "<p>shop</p>\n"}
    edits = tuple(replace(edit, path=f"backend/{edit.path}") for edit in inner.edits)
    return Layout("backend-folder", files, edits, PYTEST, (PythonEnvironment(),), folder="backend")


SETTINGS = (
    make_python("flat-conftest", files={"conftest.py": ""}, lost="deleted"),
    make_python(
        "modules-in-root",
        folder="",
        tests="",
        files={
            "__init__.py": None,
            "pytest.ini": "[pytest]\n",
            "report.py": REPORT.format(package="").replace("from .calc", "from calc"),
            "test_calc.py": TEST_CALC.format(package="").replace("from .calc", "from calc"),
            "test_report.py": TEST_REPORT.format(package="").replace("from .report", "from report"),
        },
        lost="skipped",
    ),
    make_python("toml", folder="src/shop", files={"pyproject.toml": PYTHONPATH_TOML}, lost="renamed"),
    make_python("setup-cfg", folder="src/shop", files={"setup.cfg": "[tool:pytest]\npythonpath = src\n"}),
    make_python("tox-ini", folder="src/shop", files={"tox.ini": "[pytest]\npythonpath = src\n"}, lost="emptied"),
    make_options("failed-first", "--ff", files={"conftest.py": ""}),
    make_options("xdist", "-n 2", "xdist", files={"conftest.py": ""}, lost="renamed"),
    make_options("cov", "--cov=shop --cov-report=term", "cov", files={"conftest.py": ""}, lost="skipped"),
    make_options("no-cache", "-p no:cacheprovider", files={"conftest.py": ""}, lost="emptied"),
    make_options(
        "strict",
        "--strict-config --strict-markers -ra",
        more='filterwarnings = ["error"]\nxfail_strict = true\n',
        files={"conftest.py": ""},
    ),
    make_options(
        "asyncio",
        "-q",
        "asyncio",
        'asyncio_mode = "auto"\n',
        files={
            "conftest.py": "",
            "tests/test_calc.py": TEST_CALC.format(package="shop").replace("def test", "async def test"),
        },
        edits=(
            *make_edits("shop/calc.py", "tests/test_calc.py", LOST["deleted"])[:3],
            ProposedEdit("lost", "tests/test_calc.py", (("async def test_nothing", "async def nothing"),)),
            ProposedEdit("importer", "shop/calc.py", (("def label(", "def make_label("),)),
        ),
    ),
    make_options("importlib-mode", "--import-mode=importlib", more='pythonpath = ["."]\n', lost="renamed"),
    make_options(
        "output-to-terminal",
        "-s",
        files={
            "conftest.py": "",
            "tests/test_report.py": TEST_REPORT.format(package="shop")
            + '\n\ndef test_much():\n    print("x" * 99 + "\\n" * 1, end="")\n    print(("y" * 99 + "\\n") * 60_000)\n',
        },
    ),
)
"""Projects that set pytest up in one way or another."""

LAYOUTS = (*INSTALLED, make_monorepo(), make_backend_folder(), *SETTINGS)
"""The layouts."""
