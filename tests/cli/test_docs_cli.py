"""`lsp-harness docs`: names in installed packages."""

from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.knowledge.packages import REQUESTS, SITE, install, make_venv, write


@pytest.fixture
def project(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    shell.set("CARGO_HOME", str(shell.folder / "cargo"))
    install(make_venv(shell.folder), "requests", "2.32.3", REQUESTS)
    write(
        shell.folder,
        {
            "node_modules/lodash/package.json": '{"version": "4.17.21", "types": "index.d.ts"}',
            "node_modules/lodash/index.d.ts": (
                "/** Waits. */\nexport function debounce(f: F): F;\nexport function debounce(f: G): G;\n"
            ),
        },
    )
    return shell


def test_docs_shows_a_function(project: Shell):
    expected = (
        "requests 2.32.3: def get(url, params=None, **kwargs)\n  Sends a GET request.\n\n  :param url: where to\n\n"
        "  requests/api.py\n"
    )
    assert project.run("docs", "requests.get") == (0, expected, "")
    assert project.run("docs", "requests.get", str(project.folder), "--language", "python").out == expected


def test_docs_shows_a_class_with_its_constructor(project: Shell):
    assert project.run("docs", "requests.Session").out.splitlines() == [
        "requests 2.32.3: class Session(_Mixin)",
        "  def __init__(self, adapter=None, *, retries: int = 3) -> None",
        "  A session. In two lines.",
        "",
        "  More.",
        "",
        "  requests/sessions.py",
    ]


def test_docs_shows_the_first_of_several_signatures_in_another_language(project: Shell):
    expected = (
        "lodash 4.17.21: function debounce(f: F): F  (the first of 2 signatures)\n  Waits.\n  lodash/index.d.ts\n"
    )
    for more in ((), ("--language", "typescript"), ("--language", "javascript")):
        assert project.run("docs", "lodash.debounce", *more).out == expected


@pytest.mark.parametrize("folder", ["src/", "", "lib/"])
def test_docs_shows_a_package_of_the_project_itself(project: Shell, folder: str):
    cart = 'class Cart:\n    """What is bought."""\n\n    def total(self, tax=0):\n        """Sum it."""\n'
    write(project.folder, {f"{folder}shop/__init__.py": "from .cart import Cart\n", f"{folder}shop/cart.py": cart})
    assert project.run("docs", "shop.Cart.total").out.splitlines()[:2] == [
        "shop: def total(self, tax=0)",
        "  Sum it.",
    ]
    assert "shop has no Cart.totl; the most similar names are: Cart.total" in project.run("docs", "shop.Cart.totl").err


def test_docs_prints_json_for_programs(project: Shell):
    output = project.run("docs", "requests.api.get", "--json").json
    assert output == {
        "package": "requests",
        "version": "2.32.3",
        "module": "requests",
        "name": "api.get",
        "kind": "function",
        "signature": "def get(url, params=None, **kwargs)",
        "documentation": "Sends a GET request.",
        "file": "requests/api.py",
        "constructor": "",
        "overloads": 1,
        "details": ":param url: where to",
        "called": "api.get(url, params=None, **kwargs)",
    }


def test_docs_shows_the_first_line_of_a_module(project: Shell):
    assert (
        project.run("docs", "requests").out
        == "requests 2.32.3: requests\n  Requests HTTP Library.\n  requests/__init__.py\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["requests.fetch"], "requests 2.32.3 has no fetch; the most similar names are: patch"),
        (["requests.zzz"], "requests 2.32.3 has no zzz"),
        (["lodash.debounce.x"], "lodash 4.17.21 is installed, but its files do not say what lodash.debounce.x is"),
        (
            ["x.y", "--language", "cobol"],
            "--language must be one of python, typescript, go, rust, javascript, not 'cobol'",
        ),
        (["x.y", "absent"], "there is no folder 'absent'"),
    ],
)
def test_documentation_that_cannot_be_shown(project: Shell, arguments: list[str], message: str):
    result = project.run("docs", *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"lsp-harness: {message}\n")


def test_the_error_for_a_missing_package_says_where_docs_has_searched(project: Shell, tmp_path: Path):
    result = project.run("docs", "flask.Flask")
    assert result.code == 2
    assert result.err.startswith(
        f"lsp-harness: {project.folder} has no installed package with flask.Flask; searched in "
    )
    assert SITE in result.err
    assert "node_modules" in result.err
    empty = tmp_path / "empty"
    empty.mkdir()
    result = project.run("docs", "flask.Flask", str(empty), "--language", "python")
    assert result.err.endswith("searched in .venv/, venv/, env/, $VIRTUAL_ENV, $CONDA_PREFIX\n")


def test_docs_uses_the_environment_of_the_settings(project: Shell, tmp_path: Path):
    install(make_venv(tmp_path / "other"), "requests", "1.0", REQUESTS)
    project.file("lsp-harness.toml", '[knowledge]\npython = "../other/.venv"\n')
    assert project.run("docs", "requests.get").out.startswith("requests 1.0: ")
