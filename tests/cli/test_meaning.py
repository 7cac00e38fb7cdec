"""Search by meaning on the command line, with an encoder of a few kilobytes and random weights."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.index_place import prepare_place
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.models.bert import convert
from lsp_harness.inference.running_engines import list_engines
from tests.cli.conftest import Shell
from tests.support.encoder import make_tiny_encoder

SHOP = "def total(prices):\n    return sum(prices)\n\n\ndef tax_of(price):\n    return price // 5\n"
ALONE = "lsp-harness: searched by names and words only: "
NOTHING_FOUND = "lsp-harness: nothing was found; try other words, or fewer of them\n"
NOWHERE = "zebra"
"""A word that is in none of the files."""


@pytest.fixture
def project(shell: Shell, tmp_path: Path) -> Shell:
    """Return a project with an embedding model and without a language model."""
    convert(make_tiny_encoder(), tmp_path / "encoder.gguf", name="Tiny", license="mit")
    shell.set("LSP_HARNESS_INDEX__EMBEDDING_MODEL", str(tmp_path / "encoder.gguf"))
    shell.file("shop.py", SHOP)
    return shell


def test_a_search_uses_existing_vectors_and_starts_no_engine(project: Shell, tmp_path: Path):
    assert project.run("search", NOWHERE) == (
        1,
        "",
        "lsp-harness: nothing was found; try other words, or fewer of them\n",
    )
    model = tmp_path / "encoder.gguf"
    assert project.run("index", "embed") == (0, f"2 vectors made with {model}; all 2 texts have one\n", "")
    result = project.run("search", NOWHERE, "--json")
    assert [hit["reasons"] for hit in result.json] == [["meaning 1"], ["meaning 2"]]
    assert {hit["symbol"] for hit in result.json} == {"total", "tax_of"}
    assert result.err == ""
    assert list_engines() == []


def test_only_texts_without_a_vector_are_embedded(project: Shell):
    project.run("index", "embed")
    # what moved is not new
    project.file("other.py", SHOP.replace("tax_of", "duty_of"))
    assert project.run("index", "embed", "--json").json | {"model": ""} == {"model": "", "made": 1, "texts": 3}
    assert project.run("index", "embed").out.startswith("0 vectors made with ")


def test_a_rebuild_keeps_valid_vectors_and_reports_missing_ones(project: Shell):
    result = project.run("index", "rebuild")
    assert result.err == "lsp-harness: 2 texts without a vector; lsp-harness index embed makes the missing vectors\n"
    project.run("index", "embed")
    assert project.run("index", "rebuild").err == ""
    assert project.run("search", NOWHERE).code == 0
    project.file("shop.py", SHOP.replace("tax_of", "duty_of"))
    assert project.run("index", "rebuild").err.startswith("lsp-harness: 1 text without a vector")
    assert [hit["symbol"] for hit in project.run("search", NOWHERE, "--json").json] == ["total"]
    # what is damaged is made anew
    with closing(Vectors(prepare_place(project.folder).folder)) as vectors:
        vectors.matrix_path.write_bytes(b"")
        assert not vectors.is_sound()
    assert project.run("index", "rebuild").err.startswith("lsp-harness: 2 texts without a vector")
    assert project.run("index", "embed").out.startswith("2 vectors made")
    with closing(Vectors(prepare_place(project.folder).folder)) as vectors:
        assert vectors.is_sound()


def test_search_explains_why_it_used_no_vectors(project: Shell, tmp_path: Path):
    absent_message = f"{ALONE}there is no model file {tmp_path / 'absent.gguf'}\n"
    no_vectors_message = f"{ALONE}this folder has no vectors yet; lsp-harness index embed makes them\n"
    assert project.run("search", "total", "--explain").err == no_vectors_message
    assert project.run("search", "total").err == ""
    assert project.run("locate", "total", "--explain").err == no_vectors_message
    at = project.run("search", "--at", "shop.py:1", "--explain")
    assert at.err == (
        "lsp-harness: not searched by meaning: this code has no vector yet; lsp-harness index embed makes the "
        "missing vectors\n"
    )
    project.set("LSP_HARNESS_INDEX__EMBEDDING_MODEL", str(tmp_path / "absent.gguf"))
    assert project.run("search", "total").err == ""
    assert project.run("search", "total", "--explain").err == absent_message
    project.set("LSP_HARNESS_INDEX__EMBEDDING_MODEL", str(tmp_path / "encoder.gguf"))

    project.run("index", "embed")
    assert "meaning" in project.run("search", "--at", "shop.py:1", "--explain").out
    project.file("more.py", "def more():\n    return 1\n")
    missing_vectors_message = (
        "lsp-harness: 1 text without a vector can only be found by words; lsp-harness index embed makes the "
        "missing vectors\n"
    )
    assert project.run("search", "total", "--explain").err == missing_vectors_message
    project.set("LSP_HARNESS_INDEX__EMBEDDING_TOKENS", "40")
    before = project.run("search", "total", "--explain").err
    assert before.startswith(f"{ALONE}the vectors were made by {tmp_path / 'encoder.gguf'} with other settings; ")
    # vectors that lie there and are of no use are everybody's business
    project.set("LSP_HARNESS_INDEX__EMBEDDING_MODEL", str(tmp_path / "absent.gguf"))
    assert project.run("search", "total").err == absent_message
    assert project.run("locate", "total").err == absent_message
    result = project.run("index", "embed")
    assert (result.code != 0, str(tmp_path / "absent.gguf") in result.err) == (True, True)
    project.set("LSP_HARNESS_INDEX__ENABLED", "false")
    assert "index.enabled is false" in project.run("index", "embed").err


def test_a_task_is_located_by_meaning(project: Shell):
    assert project.run("locate", NOWHERE).code == 5
    project.run("index", "embed")
    first, *_ = project.run("locate", NOWHERE, "--explain").out.splitlines()
    assert first.endswith("[meaning 1]")
    project.replies()
    result = project.run("context", "--task", NOWHERE)
    assert (result.code, result.err.startswith("lsp-harness: the prompt is that of shop.py:")) == (0, True)


def test_the_prompt_of_a_task_has_code_of_similar_meaning(project: Shell):
    project.file("here.py", "def grow(it):\n    return it\n")
    command = ("context", "here.py:1", "--task", NOWHERE)
    project.replies()
    assert "def tax_of(price)" not in project.run(*command).out
    project.run("index", "embed")
    project.replies()
    assert "# shop.py:5\ndef tax_of(price):\n    return price // 5\n" in project.run(*command).out


def test_a_task_uses_vectors_when_nearly_all_texts_have_one(project: Shell):
    project.run("index", "embed")
    chosen, doubt, *others = project.run("locate", NOWHERE).out.splitlines()
    assert {chosen, *(place.strip() for place in others)} == {"shop.py:1-2: total", "shop.py:5-6: tax_of"}
    assert doubt.startswith("not sure: ")
    for number in range(2):
        # two of four texts have a vector, and then three of five
        project.file(f"more{number}.py", f"def more{number}():\n    return {number}\n")
        project.run("search", "total")
    # a command that searches uses what there is
    assert project.run("search", NOWHERE).code == 0
    assert project.run("locate", NOWHERE).code == 5
    assert project.run("locate", "total", "--explain").err == (
        f"{ALONE}too many texts of this folder have no vector yet; lsp-harness index embed makes them\n"
    )
    project.run("index", "embed")
    now_chosen, now_doubt, *now_others = project.run("locate", NOWHERE).out.splitlines()
    assert (now_chosen, now_doubt) == (chosen, doubt)
    # what has a vector now is among the places that may be meant as well
    assert {"  more0.py:1-2: more0", "  more1.py:1-2: more1", *others} >= {*now_others}
    assert len(now_others) == 3
