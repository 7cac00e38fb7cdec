"""Tests of the file that a URI names, and of the paths that other URIs mention."""

import os
from pathlib import Path

import pytest

from lsp_harness.files.secrets import is_secret_path
from lsp_harness.text.uri import local_path, mentioned_paths, remote_path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("untitled:Untitled-1", "Untitled-1"),
        ("file://wsl.localhost/Ubuntu/h/u/.aws/config", "Ubuntu/h/u/.aws/config"),
        ("vscode-remote://ssh/h/u/a%20b.py?x#y", "h/u/a b.py"),
        ("vscode-userdata:/x/%2Eenv#cell", "x/.env"),
        ("http://[broken", "http://[broken"),
        ("file://server/share/m.py", "share/m.py"),
        ("file:relative.py", "relative.py"),
        ("file:///a%00b.py", "a\0b.py"),
        ("", ""),
        ("m.py", "m.py"),
        ("jdt://contents/a.jar/m.class?=x/%3Ca", "a.jar/m.class"),
        ("C:\\Users\\me\\m.py", "C:\\Users\\me\\m.py"),
    ],
)
def test_the_path_of_a_uri_that_is_no_file_here(uri: str, path: str):
    assert local_path(uri) is None
    assert remote_path(uri) == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///w/m.py", "/w/m.py"),
        ("file:/w/m.py", "/w/m.py"),
        ("FILE:///w/m.py", "/w/m.py"),
        ("file://localhost/w/m.py", "/w/m.py"),
        ("file://LOCALHOST/w/m.py", "/w/m.py"),
        ("file:////w//m.py", "/w/m.py"),
        ("file:///w/%5Blist%5D/m.py", "/w/[list]/m.py"),
        ("file:///w/[list]/m.py", "/w/[list]/m.py"),
        ("file:///w/a b/m.py", "/w/a b/m.py"),
        ("file:///w/a%20b/m.py", "/w/a b/m.py"),
        ("file:///w/100%.py", "/w/100%.py"),
        ("file:///w/%zz.py", "/w/%zz.py"),
        ("file:///w/m.py?x=1#f", "/w/m.py"),
        ("file:///w/m.py#", "/w/m.py"),
        ("file:///c%3A/W/m.py", "/c:/W/m.py"),
        ("file:///w/a\nb.py", "/w/a\nb.py"),
        ("file:///w/%C3%A9.py", "/w/é.py"),
        ("file:///w/é.py", "/w/é.py"),
        ("/w/100%25 a#b.py", "/w/100%25 a#b.py"),
    ],
)
def test_a_file_uri_leads_to_its_path(uri: str, path: str):
    assert local_path(uri) == Path(path)


@pytest.mark.parametrize("name", [b"inform\xe1tica/m.py", b"\xff\xfe", "é".encode(), b"\xed\xa0\x80"])
def test_bytes_that_are_not_utf8_are_those_of_the_file(name: bytes):
    file = local_path("file:///w/" + "".join(f"%{byte:02X}" for byte in name))
    assert file
    assert os.fsencode(file) == b"/w/" + name
    assert local_path(file.as_uri()) == file


@pytest.mark.parametrize("uri", [None, 5, ["file:///a"], {}, b"file:///a"])
def test_an_invalid_uri_has_no_path(uri: object):
    assert local_path(uri) is None


@pytest.mark.parametrize(
    "uri", ["\ud800", "file:///\ud800.py", "%", ":", "//", "file:", "a:b:c", "x:///%ff?%ff#%ff", "?{"]
)
def test_any_uri_is_read_without_an_error(uri: str):
    assert isinstance(remote_path(uri), str)
    assert isinstance(mentioned_paths(uri), list)
    assert local_path(uri) is None or isinstance(local_path(uri), Path)


FILE = "/w/private/p.py"


@pytest.mark.parametrize(
    "uri",
    [
        "file:///w/private/p.py",
        "vscode-notebook-cell:/w/private/p.py#W0sZmlsZQ%3D%3D",
        "vscode-notebook-cell://ssh-remote%2Bbox/w/private/p.py#W0s",
        "git:/w/private/p.py?%7B%22ref%22%3A%22%22%7D",
        'git:/w/private/p.py.git?{"path":"/w/private/p.py","ref":"~"}',
        "gitlens://7b7d/w/private/p.py?x",
        "vscode-remote://wsl%2BUbuntu/w/private/p.py",
        "untitled:/w/private/p.py",
        "untitled:////w/private/p.py",
        "review:/x/p.py?path=%2Fw%2Fprivate%2Fp.py&commit=a",
        "fugitive:///w/.git//0/private/p.py",
        "diffview:///w/.git/:0:/private/p.py",
        "diff:file:///w/private/p.py",
        "x:/y?%7B%22original%22%3A%22file%3A%2F%2F%2Fw%2Fprivate%2Fp.py%22%7D",
        "vscode-vfs:/w/%70rivate/p.py",
        "/w/private/p.py",
        "FILE:/w/private/p.py",
        "file://box/w/private/p.py",
    ],
)
def test_each_form_of_uri_mentions_its_file(uri: str):
    assert FILE in mentioned_paths(uri)


def test_secret_names_are_seen_elsewhere_too():
    assert is_secret_path(remote_path("file://wsl.localhost/Ubuntu/h/u/.aws/config"))
    assert is_secret_path(remote_path("vscode-userdata:/x/%2Eenv#cell"))
