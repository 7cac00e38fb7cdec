"""Tests of the folders of edits and their indexes."""

import json
import lzma
from pathlib import Path

from benchmarks.engine.real_edits import RealEdit
from benchmarks.engine.workspaces import open_workspaces
from lsp_harness.context.repository_context import RepositoryContext
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.workspace.cursor import Cursor
from tests.context.counting import count_words as count

HERE = "from shop.cart import Cart\n\n\ndef pay(cart: Cart):\n    "
EDIT = RealEdit("till.py", "python", HERE, "\n", "return cart.total()", "shop")
CART = "class Cart:\n    def total(self): ...\n"


def ignore_progress(text: str) -> None: ...


async def read_context(index: object) -> str:
    document = Document.from_text("file:///till.py", HERE, language="python")
    repository = RepositoryContext(index, count)  # type: ignore[arg-type]
    cursor = Cursor(document, parse(document), len(HERE), "till.py")
    fragments = await repository.find_fragments(cursor, 500)
    return "".join(fragment.text for fragment in fragments)


async def test_the_repositories_of_the_set_are_written_out_and_indexed(eval_data: Path):
    files = {"shop/cart.py": CART, "till.py": HERE}
    rows = [{"repo": "shop", "path": path, "text": text} for path, text in files.items()]
    rows.append({"repo": "other", "path": "a.py", "text": "x = 1\n"})
    with lzma.open(eval_data / "repos_fim.jsonl.xz", "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)
    with open_workspaces([EDIT], None, ignore_progress) as workspaces:
        assert workspaces.count == 1
        index = workspaces.index_of(EDIT)
        assert index
        assert "class Cart:\n    def total(self): ..." in await read_context(index)
        assert workspaces.index_of(RealEdit("a.py", "python", "", "", "", "other")) is None


async def test_a_repository_of_the_user_is_indexed_in_its_own_folder(tmp_path: Path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/cart.py").write_text(CART)
    (tmp_path / "till.py").write_text(HERE)
    before = sorted(tmp_path.rglob("*"))
    with open_workspaces([EDIT], tmp_path, ignore_progress) as workspaces:
        index = workspaces.index_of(RealEdit("till.py", "python", HERE, "\n", "x"))
        assert index
        assert "class Cart" in await read_context(index)
        assert sorted(tmp_path.rglob("*")) == before


def test_an_edit_without_its_repository_has_no_index(eval_data: Path):
    with open_workspaces([EDIT], None, ignore_progress) as workspaces:
        assert (workspaces.count, workspaces.index_of(EDIT)) == (0, None)
