"""The tests that a change of a file can break."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.query.related_tests import find_affected_tests
from tests.index.place import IndexedFolder

FILES = {
    "src/config.py": "def parse_config(): ...\n",
    "src/app.py": "from src.config import parse_config\n",
    "src/other.py": "x = 1\n",
    "tests/conftest.py": "from src.other import x\n",
    "tests/test_config.py": "def test_parse(): ...\n",
    "tests/test_app.py": "from src.app import parse_config\n\n\ndef test_app(): ...\n",
    "tests/test_far.py": "from tests.test_app import test_app\n",
    "tests/unit/test_import.py": "from src.config import parse_config\n",
    "src/test_mine.py": "def test_mine(): ...\n",
    "web/money.ts": "export const x = 1;\n",
    "web/money.test.ts": 'import { x } from "./money";\n',
    "web/cart.spec.ts": 'import { x } from "./money";\n',
    "web/money.test.py": "",
}
BELOW_CONFTEST = ("test_app", "test_config", "test_far", "unit/test_import")


@pytest.fixture(scope="module")
def indexed_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexedFolder]:
    with closing(IndexedFolder(tmp_path_factory.mktemp("project"), FILES)) as place:
        yield place


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (
            "src/config.py",
            {
                "tests/test_config.py": "has the name of src/config.py",
                "tests/unit/test_import.py": "imports src/config.py",
                "tests/test_app.py": "imports src/config.py through src/app.py",
                "tests/test_far.py": "imports src/config.py through tests/test_app.py",
            },
        ),
        ("src/other.py", {f"tests/{name}.py": "tests/conftest.py: imports src/other.py" for name in BELOW_CONFTEST}),
        ("tests/test_far.py", {"tests/test_far.py": "is the changed file"}),
        ("src/test_mine.py", {"src/test_mine.py": "is the changed file"}),
        (
            "web/money.ts",
            {"web/money.test.ts": "has the name of web/money.ts", "web/cart.spec.ts": "imports web/money.ts"},
        ),
        ("nothing.py", {}),
    ],
)
def test_each_affected_test_has_its_reason(path: str, expected: dict[str, str], indexed_folder: IndexedFolder) -> None:
    found = find_affected_tests(indexed_folder.view, path)
    assert {test.path: test.reason for test in found} == expected
    assert [test.hops for test in found] == sorted(test.hops for test in found)


def test_special_characters_of_patterns_in_names_are_taken_literally(tmp_path: Path) -> None:
    with closing(
        IndexedFolder(tmp_path, {"pages/[id].ts": "", "pages/[id].test.ts": "", "pages/i.test.ts": ""})
    ) as place:
        assert [test.path for test in find_affected_tests(place.view, "pages/[id].ts")] == ["pages/[id].test.ts"]


async def test_the_index_answers(indexed_folder: IndexedFolder) -> None:
    assert [test.path for test in await indexed_folder.query.affected_tests("", "src/test_mine.py")] == [
        "src/test_mine.py"
    ]


async def test_the_files_that_use_a_file_come_with_the_nearest_first(indexed_folder: IndexedFolder) -> None:
    found = await indexed_folder.query.users("", "src/config.py", 10)
    assert found == ["src/app.py", "tests/unit/test_import.py", "tests/test_app.py", "tests/test_far.py"]
    assert await indexed_folder.query.users("", "src/config.py", 2) == found[:2]
    assert await indexed_folder.query.users("", "nothing.py", 2) == []
