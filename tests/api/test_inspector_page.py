"""The files of the inspector: which are served, and what they may contain."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from lsp_harness.api.inspector_page import MEDIA_TYPES, PAGE_FOLDER, find_page_files, list_inspector_routes

IMPORT = re.compile(r'(?:from|import\()\s*"\./([^"]+)"')
MARKUP_SINKS = re.compile(r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|new Function)\b")


@pytest.fixture
def page_client(tmp_path: Path) -> Iterator[TestClient]:
    (tmp_path / "index.html").write_text("<!doctype html><title>page</title>")
    (tmp_path / "main.js").write_text("let x")
    (tmp_path / "notes.txt").write_text("not served")
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "xterm.mjs").write_text("export {}")
    (tmp_path / "vendor" / "deep").mkdir()
    (tmp_path / "vendor" / "deep" / "more.js").write_text("not served")
    with TestClient(Starlette(routes=list_inspector_routes(tmp_path))) as client:
        yield client


def test_the_page_and_its_files_are_served_under_a_strict_policy(page_client: TestClient):
    for address, kind in (
        ("/", "text/html"),
        ("/inspector/main.js", "text/javascript"),
        ("/inspector/vendor/xterm.mjs", "text/javascript"),
    ):
        answer = page_client.get(address)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        policy = answer.headers["content-security-policy"].split("; ")
        assert "default-src 'self'" in policy
        assert "unsafe" not in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "nothing.js",
        "..%2finspector_page.py",
        "%2e%2e/inspector_page.py",
        "/etc/passwd",
        "vendor%2f..%2fmain.js",
        "vendor/deep/more.js",
        "vendor",
        "",
        "main.js%00",
    ],
)
def test_other_files_are_not_served(page_client: TestClient, name: str):
    answer = page_client.get(f"/inspector/{name}")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "NOT_FOUND"


def test_a_link_in_the_folder_does_not_lead_out(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "secret.js").write_text("secret")
    (tmp_path / "folder" / "link.js").symlink_to(tmp_path / "secret.js")
    assert find_page_files(tmp_path / "folder") == {}


def test_the_page_imports_only_files_that_are_served():
    files = find_page_files()
    modules = [file for name, file in files.items() if name.endswith(".js")]
    assert len(modules) > 10
    imported = {name for module in modules for name in IMPORT.findall(module.read_text(encoding="utf-8"))}
    assert {name for name in imported if not name.startswith("vendor/")} <= files.keys()
    linked = re.findall(r'(?:src|href)="inspector/([^"]+)"', (PAGE_FOLDER / "index.html").read_text(encoding="utf-8"))
    assert set(linked) <= files.keys()


def test_the_page_names_no_other_server():
    for file in find_page_files().values():
        if file.parent == PAGE_FOLDER:
            addresses = re.findall(r"\b(?:https?|wss?)://[\w.-]+", file.read_text(encoding="utf-8"))
            assert set(addresses) <= {"http://www.w3.org"}, file.name


def test_the_page_makes_no_markup_from_texts():
    for file in PAGE_FOLDER.glob("*.js"):
        assert not MARKUP_SINKS.search(file.read_text(encoding="utf-8")), file.name


def test_every_file_of_the_page_has_a_media_type():
    assert [file.name for file in PAGE_FOLDER.iterdir() if file.is_file() and file.suffix not in MEDIA_TYPES] == []
