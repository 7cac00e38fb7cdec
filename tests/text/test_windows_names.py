"""Names of files and line ends by the rules of Windows, which hold here by the functions that know them."""

from pathlib import PureWindowsPath

import pytest

from lsp_harness.text.edit import Edit, apply, line_edits
from lsp_harness.text.uri import windows_name


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("file:///C:/code/a%20b.py", r"C:\code\a b.py"),
        ("file:///c%3A/code/a.py", r"C:\code\a.py"),
        ("file://localhost/d:/a.py", r"D:\a.py"),
        ("file://server/share/folder/a.py", r"\\server\share\folder\a.py"),
        ("c:/code/a.py", r"C:\code\a.py"),
        (r"c:\code\a.py", r"C:\code\a.py"),
        (r"\\server\share\a.py", r"\\server\share\a.py"),
        ("file:///code/a.py", ""),
        ("/code/a.py", ""),
        ("file://server/", ""),
        ("untitled:Untitled-1", ""),
        ("https://host/c:/a.py", ""),
        ("file:///c:/a%00.py", ""),
    ],
)
def test_a_uri_names_a_file_on_a_drive_or_a_server(uri: str, name: str):
    assert windows_name(uri) == name
    assert not name or PureWindowsPath(name).is_absolute()


def test_a_path_of_windows_and_its_uri_name_the_same_file():
    for name in (r"C:\code\a b.py", r"\\server\share\a.py"):
        assert windows_name(PureWindowsPath(name).as_uri()) == name


def test_an_edit_keeps_the_line_ends_of_windows():
    data = b"one = 1\r\ntwo = 2\r\n"
    new = apply(data, [Edit(6, 7, b"3")])
    assert new == b"one = 3\r\ntwo = 2\r\n"
    # an edit of a line carries its line end, and leaves those of the others alone
    edits = line_edits(data, new)
    assert apply(data, edits) == new
    assert all(b"two" not in edit.new for edit in edits)
