"""Layouts of Python projects with other programs that run tests, and with tests that need what lies around them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks.layouts.layout import Layout, ProposedEdit, PythonEnvironment
from benchmarks.layouts.python_layouts import (
    CALC,
    EDITABLE,
    LOST,
    PYTEST,
    REPORT,
    SETUPTOOLS,
    TEST_CALC,
    TEST_REPORT,
    make_edits,
    make_python,
)

UNITTEST = """import unittest

from {package}.calc import total


class TotalTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_nothing(self):
        self.assertEqual(total([]), 0)
"""
UNITTEST_REPORT = """import unittest

from {package}.report import render


class RenderTest(unittest.TestCase):
    def test_render(self):
        self.assertEqual(render(" tea ", [2, 3]), "Tea: 5")
"""
UNITTEST_LOST = ("    def test_nothing(self):\n        self.assertEqual(total([]), 0)\n", "")


DOCTEST_CALC = CALC.replace(
    '"""Return the sum of some prices."""',
    '"""Return the sum of some prices.\n\n    >>> total([1, 2, 3])\n    6\n    >>> total([])\n    0\n    """',
).replace(
    '"""Return a name as a title."""',
    '"""Return a name as a title.\n\n    >>> label(" tea ")\n    \'Tea\'\n    """',
)
DOCTEST_REPORT = REPORT.format(package="shop").replace(
    '"""Return a line of a report."""',
    '"""Return a line of a report.\n\n    >>> render(" tea ", [2, 3])\n    \'Tea: 5\'\n    """',
)
DOCTEST_EDITS = (
    *make_edits("shop/calc.py", "", ("", ""))[:3],
    ProposedEdit(
        "lost", "shop/calc.py", (("    >>> total([])\n    0\n", "    >>> total([])  # doctest: +SKIP\n    0\n"),)
    ),
    ProposedEdit("importer", "shop/calc.py", (("def label(", "def make_label("), (">>> label(", ">>> make_label("))),
)


def make_doctest(name: str, settings: Mapping[str, str], **attributes: Any) -> Layout:
    """Return a layout whose only tests are examples in docstrings."""
    layout = make_python(name, files={"shop/calc.py": DOCTEST_CALC, "shop/report.py": DOCTEST_REPORT, **settings})
    files = {path: text for path, text in layout.files.items() if not path.startswith("tests/")}
    return replace(layout, files=files, edits=DOCTEST_EDITS, **attributes)


def make_unittest(name: str, tests: str = "tests", pattern: str = "test_{}.py", **attributes: Any) -> Layout:
    """Return a layout with tests of unittest and without pytest."""
    files = {
        "shop/__init__.py": "",
        "shop/calc.py": CALC,
        "shop/report.py": REPORT.format(package="shop"),
        f"{tests}/__init__.py": "",
        f"{tests}/{pattern.format('calc')}": UNITTEST.format(package="shop"),
        f"{tests}/{pattern.format('report')}": UNITTEST_REPORT.format(package="shop"),
    }
    edits = make_edits("shop/calc.py", f"{tests}/{pattern.format('calc')}", UNITTEST_LOST)
    bare = ("{python}", "-m", "unittest", "discover", "-s", ".", "-p", pattern.format("*"))
    values: dict[str, Any] = {"environments": (PythonEnvironment(""),), "bare": bare, **attributes}
    return Layout(name, files, edits, **values)


DJANGO_SETTINGS = """SECRET_KEY = "tests"
INSTALLED_APPS = ["shop"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
USE_TZ = True
"""
DJANGO_MANAGE = """import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
"""
DJANGO_TESTS = """from django.test import SimpleTestCase

from shop.calc import total
from shop.report import render


class ShopTest(SimpleTestCase):
    def test_total(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_nothing(self):
        self.assertEqual(total([]), 0)

    def test_render(self):
        self.assertEqual(render(" tea ", [2, 3]), "Tea: 5")
"""

OTHER_RUNNERS = (
    make_doctest("doctest-modules", {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--doctest-modules"\n'}),
    make_doctest(
        "doctest-only",
        {},
        environments=(PythonEnvironment(""),),
        bare=(
            "{python}",
            "-c",
            "import doctest, sys, shop.calc as c, shop.report as r; "
            + "sys.exit(doctest.testmod(c).failed + doctest.testmod(r).failed)",
        ),
    ),
    make_unittest("unittest"),
    make_unittest("unittest-suffix", "checks", "{}_test.py"),
    Layout(
        "django",
        {
            "manage.py": DJANGO_MANAGE,
            "site_settings.py": DJANGO_SETTINGS,
            "shop/__init__.py": "",
            "shop/calc.py": CALC,
            "shop/report.py": REPORT.format(package="shop"),
            "shop/tests.py": DJANGO_TESTS,
        },
        make_edits("shop/calc.py", "shop/tests.py", UNITTEST_LOST),
        ("{python}", "manage.py", "test"),
        (PythonEnvironment("django"),),
    ),
    make_python(
        "tests-py",
        files={
            "pytest.ini": "[pytest]\npython_files = tests.py\n",
            "conftest.py": "",
            "tests/test_calc.py": None,
            "tests/test_report.py": None,
            "shop/tests.py": "from shop.calc import total\nfrom shop.report import render\n\n\n"
            + TEST_CALC.split("\n\n\n", 1)[1]
            + "\n\n"
            + TEST_REPORT.split("\n\n\n", 1)[1],
        },
        edits=make_edits("shop/calc.py", "shop/tests.py", LOST["deleted"]),
    ),
)
"""Projects with other programs, or other names, of tests."""
READ_VERSION = "from shop._version import VERSION\n\n\ndef test_version():\n    assert VERSION == '1.0'\n"

SURROUNDINGS = (
    make_python(
        "generated-file",
        files={
            "conftest.py": "",
            ".gitignore": "_version.py\n.venv/\n",
            "shop/_version.py": "VERSION = '1.0'\n",
            "shop/__init__.py": "from shop._version import VERSION\n\n__all__ = ['VERSION']\n",
            "tests/test_version.py": READ_VERSION,
        },
    ),
    make_python(
        "env-file",
        files={
            ".gitignore": ".env\n.venv/\n",
            ".env": "SHOP_CURRENCY=EUR\n",
            "conftest.py": "from pathlib import Path\n\nENV = dict(\n    line.split('=') for line in "
            "Path(__file__).with_name('.env').read_text().splitlines()\n)\nassert ENV['SHOP_CURRENCY'] == 'EUR'\n",
        },
        lost="renamed",
    ),
    make_python(
        "empty-folder",
        files={
            "conftest.py": "",
            "tests/test_report.py": "from pathlib import Path\n\n"
            + TEST_REPORT.format(package="shop")
            + "\n\ndef test_write():\n    out = Path(__file__).parent.parent / 'var' / 'out'\n"
            "    (out / 'report.txt').write_text(render('a', [1]))\n    (out / 'report.txt').unlink()\n",
        },
        folders=("var/out",),
        lost="skipped",
    ),
    make_python(
        "linked-data",
        files={
            "conftest.py": "",
            "tests/test_report.py": "from pathlib import Path\n\n"
            + TEST_REPORT.format(package="shop")
            + "\n\ndef test_prices():\n    text = (Path(__file__).parent / 'data' / 'prices.txt').read_text()\n"
            "    assert render('a', [int(word) for word in text.split()]) == 'A: 6'\n",
        },
        links={"tests/data": "../../common"},
        outside={"common/prices.txt": "1 2 3\n"},
        lost="emptied",
    ),
    make_python(
        "leftovers",
        files={
            "conftest.py": "",
            "tests/test_report.py": "from pathlib import Path\n\n"
            + TEST_REPORT.format(package="shop")
            + "\n\ndef test_once():\n    mark = Path(__file__).parent / 'mark'\n    assert not mark.exists()\n"
            "    mark.touch()\n",
        },
        bare=("sh", "-c", "rm -f tests/mark; {python} -m pytest -q; status=$?; rm -f tests/mark; exit $status"),
    ),
    make_python(
        "processes-and-sockets",
        files={
            "conftest.py": "",
            "tests/test_report.py": "import multiprocessing\nimport socket\nimport tempfile\n\n"
            + TEST_REPORT.format(package="shop")
            + "\n\ndef test_processes():\n    with multiprocessing.Pool(2) as pool:\n"
            "        assert pool.starmap(render, [('a', [1])]) == ['A: 1']\n\n\n"
            "def test_loopback():\n    with socket.create_server(('127.0.0.1', 0)) as server:\n"
            "        with socket.create_connection(server.getsockname()) as client:\n"
            "            client.sendall(b'a')\n            assert server.accept()[0].recv(1) == b'a'\n\n\n"
            "def test_temporary():\n    with tempfile.NamedTemporaryFile() as file:\n        assert file.name\n",
        },
        lost="renamed",
    ),
    make_python(
        "names-that-change",
        files={
            "conftest.py": "",
            "tests/test_calc.py": "import pytest\n\n"
            + TEST_CALC.format(package="shop")
            + "\n\n@pytest.mark.parametrize('case', [object(), object()], ids=lambda case: hex(id(case)))\n"
            "def test_case(case):\n    assert total([id(case)]) == id(case)\n",
        },
    ),
    make_python(
        "same-class-twice",
        files={
            "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\npythonpath = .\n",
            "tests/a/test_shop.py": "from shop.calc import total\n\n\nclass TestShop:\n    def test_it(self):\n"
            "        assert total([]) == 1\n",
            "tests/b/test_shop.py": "from shop.calc import total\n\n\nclass TestShop:\n    def test_it(self):\n"
            "        assert total([4, 5]) == 9\n",
        },
        bare=(*PYTEST, "--deselect", "tests/a/test_shop.py"),
        lost="renamed",
    ),
    make_python(
        "path-with-spaces",
        folder="src/shop",
        project="my shop ü",
        files={"pyproject.toml": SETUPTOOLS},
        environment=EDITABLE,
        lost="skipped",
    ),
)
"""Projects whose tests need what lies around them."""

LAYOUTS = (*OTHER_RUNNERS, *SURROUNDINGS)
"""The layouts."""
