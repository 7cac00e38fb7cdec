"""The modules of the inspector that need no browser, tried in Node.js."""

import subprocess
from pathlib import Path

import pytest

from tests.support.programs import find_node_problem

PAGE_TESTS = sorted((Path(__file__).parent / "page").glob("*.test.mjs"))


@pytest.mark.skipif(bool(find_node_problem()), reason=find_node_problem())
@pytest.mark.parametrize("file", PAGE_TESTS, ids=lambda file: file.name)
def test_the_page_modules_pass_their_own_tests(file: Path):
    command = ["node", "--test", "--test-reporter=tap", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4_000:]
    assert "\n# fail 0" in done.stdout
    assert "\n# pass 0" not in done.stdout
