"""Which file a URI names, and which path where it names none here."""

import pytest

from lsp_harness.files.secrets import secret_path
from lsp_harness.text.uri import elsewhere, local_path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("untitled:Untitled-1", "Untitled-1"),
        ("file://wsl.localhost/Ubuntu/h/u/.aws/config", "Ubuntu/h/u/.aws/config"),
        ("vscode-remote://ssh/h/u/a%20b.py?x#y", "h/u/a b.py"),
        ("vscode-userdata:/x/%2Eenv#cell", "x/.env"),
        ("http://[broken", "http://[broken"),
    ],
)
def test_the_path_of_a_uri_that_is_no_file_here(uri: str, path: str):
    assert local_path(uri) is None
    assert elsewhere(uri) == path


def test_secret_names_are_seen_elsewhere_too():
    assert secret_path(elsewhere("file://wsl.localhost/Ubuntu/h/u/.aws/config"))
    assert secret_path(elsewhere("vscode-userdata:/x/%2Eenv#cell"))
