"""New tests stand where the project keeps the tests of the module, beside those that are there."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lsp_harness.errors import NoAnswer
from tests.sessions.conftest import OpenScripted, ask

CODEC = "def encode(n):\n    return n + 1\n\n\ndef decode(n):\n    return n - 1\n"
REPLY = "_one():\n    assert encode(1) == 2"
NEW = "def test_encode_one():\n    assert encode(1) == 2\n"
IMPORT = "from pack.codec import encode\n"


@pytest.mark.parametrize(
    ("files", "file", "expected"),
    [
        # by the name of the file, wherever it is
        (
            {"tests/test_pack/test_codec.py": f"{IMPORT}\n\ndef test_it():\n    assert encode(2) == 3\n"},
            "tests/test_pack/test_codec.py",
            f"{IMPORT}\n\ndef test_it():\n    assert encode(2) == 3\n\n\n{NEW}",
        ),
        # by the tests of the function; the name joins the import that is there
        (
            {
                "tests/test_all.py": "from pack.codec import decode\n\n\ndef test_it():\n    assert decode(2) == 1\n",
                "tests/test_some.py": "import pack.codec\n\n\ndef test_it():\n    assert pack.codec.encode(2) == 3\n",
            },
            "tests/test_some.py",
            f"import pack.codec\n{IMPORT}\n\ndef test_it():\n    assert pack.codec.encode(2) == 3\n\n\n{NEW}",
        ),
        # a name that is taken gets a number
        (
            {"tests/test_codec.py": f"{IMPORT}\n\n{NEW}"},
            "tests/test_codec.py",
            f"{IMPORT}\n\n{NEW}\n\n{NEW.replace('encode_one', 'encode_one_2')}",
        ),
        # a list of names is extended
        (
            {"tests/test_codec.py": "from pack.codec import (\n    decode,\n)\n\nassert decode(1) == 0\n"},
            "tests/test_codec.py",
            f"from pack.codec import (\n    decode,\n    encode,\n)\n\nassert decode(1) == 0\n\n\n{NEW}",
        ),
        # without tests of the module, people look here
        ({"tests/test_other.py": "x = 1\n"}, "tests/test_codec.py", f"{IMPORT}\n\n{NEW}"),
    ],
)
async def test_tests_are_written_where_the_project_keeps_them(
    open_scripted: OpenScripted, tmp_path: Path, files: Mapping[str, str], file: str, expected: str
) -> None:
    opened = await open_scripted(*[{"text": REPLY}] * 4, driver="code")
    project = tmp_path / "project"
    for name, text in {"pack/__init__.py": "", "pack/codec.py": CODEC, **files}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    stopped = await ask(opened, "write tests for encode")
    assert stopped.reason == "completed", stopped
    assert (project / file).read_text() == expected


async def test_a_test_that_calls_something_else_is_not_proposed(open_scripted: OpenScripted, tmp_path: Path) -> None:
    reply = "_one():\n    assert 1 + 1 == 2"
    opened = await open_scripted(*[{"text": reply}] * 4, driver="code")
    (tmp_path / "project/codec.py").write_text(CODEC)
    with pytest.raises(NoAnswer, match="No candidate passed"):
        await ask(opened, "write tests for encode")
    assert not (tmp_path / "project/test_codec.py").exists()


async def test_a_new_test_file_for_a_function_is_the_file_of_its_module(
    open_scripted: OpenScripted, tmp_path: Path
) -> None:
    opened = await open_scripted(*[{"text": REPLY}] * 4, driver="code")
    (tmp_path / "project/codec.py").write_text(CODEC)
    stopped = await ask(opened, "new test file for encode")
    assert stopped.reason == "completed", stopped
    assert (tmp_path / "project/test_codec.py").read_text() == f"from codec import encode\n\n\n{NEW}"
