"""Any changes of a folder are undone."""

import asyncio
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsp_harness.kernel.checkpoints.checkpoints import Checkpoints
from tests.support.checkpoint_folders import KINDS, hide_git, read_tree

pytestmark = pytest.mark.process

NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/f", "x.sh", "g"])
CONTENTS = st.binary(max_size=20) | st.sampled_from([b"a\r\nb", b"\n", b"a\r", "ä\n".encode()])
STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "delete", "rename", "mode", "link"]), NAMES, NAMES, CONTENTS), max_size=12
)


def change_files(root: Path, steps: Iterable[tuple[str, str, str, bytes]]) -> None:
    """Change files at random. A step that is not possible is left out."""
    for step, name, other, content in steps:
        path, target = root / name, root / other
        try:
            match step:
                case "write":
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(content)
                case "delete":
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
                case "rename":
                    target.parent.mkdir(parents=True, exist_ok=True)
                    path.rename(target)
                case "mode":
                    path.chmod(0o600 + len(content) % 0o200)
                case _:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.symlink_to(other)
        except OSError:
            continue


@pytest.mark.parametrize("kind_name", KINDS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=STEPS, second=STEPS)
def test_any_changes_are_undone(kind_name: str, first: Any, second: Any, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("random")
    root = folder / "root"
    root.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        if kind_name == "copies":
            hide_git(patch)
        change_files(root, first)
        before = read_tree(root)

        async def run() -> None:
            checkpoints = Checkpoints(root, folder / "state", lambda event: None)
            created = await checkpoints.capture()
            change_files(root, second)
            await checkpoints.seal(created.checkpoint_id)
            done = await checkpoints.restore(created.checkpoint_id)
            assert done.skipped == {}

        asyncio.run(run())
    assert read_tree(root) == before
