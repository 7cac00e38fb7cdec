"""The modules of the inspector that need no browser, tried in Node.js."""

import shutil
import subprocess
from pathlib import Path

import pytest

PAGE_TESTS = sorted((Path(__file__).parent / "page").glob("*.test.mjs"))


def find_node() -> str:
    """Return the path of a Node.js that loads modules without being told that they are some, or an empty text."""
    node = shutil.which("node") or ""
    if not node:
        return ""
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    major, minor = (int(part) for part in version.strip().removeprefix("v").split(".")[:2])
    return node if (major, minor) >= (20, 19) else ""


@pytest.mark.skipif(not find_node(), reason="needs Node.js 20.19 or newer")
@pytest.mark.parametrize("file", PAGE_TESTS, ids=lambda file: file.name)
def test_the_modules_of_the_page(file: Path):
    command = [find_node(), "--test", "--test-reporter=tap", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4_000:]
    assert "\n# fail 0" in done.stdout
    assert "\n# pass 0" not in done.stdout
