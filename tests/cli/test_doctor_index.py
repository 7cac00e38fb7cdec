"""The rows of `doctor` about the index of a folder: its languages, and whether search can use meaning."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.cli.doctor.doctor_index import check_index
from lsp_harness.config.schema import Config, EngineSettings, Index, ModelSettings
from lsp_harness.files.walk import WalkedFile
from lsp_harness.index.builder.file_extract import extract_file
from lsp_harness.index.builder.index_writer import IndexWriter
from lsp_harness.index.index_place import IndexPlace, prepare_place
from lsp_harness.index.index_tables import SCHEMA, read_schema_version
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import make_recipe
from lsp_harness.inference.models.bert import convert
from lsp_harness.languages import language_table
from lsp_harness.languages.language_table import optional_languages
from lsp_harness.store.database import DatabaseReader, DatabaseWriter
from lsp_harness.syntax import grammars as grammar_table
from tests.cli.conftest import Shell
from tests.support.encoder import WIDTH, make_tiny_encoder

WORDS = "search uses names and words only (BM25)"
LATER = "lsp-harness index embed, or an editor while its engine is in use,"
FILES = {
    "a.py": "def area(r):\n    return 3 * r\n",
    "b.py": "def zero():\n    return 0\n",
    "c.json": "{}\n",
    "d.yaml": "a: 1\n",
    "e.sql": "SELECT 1;\n",
    "f.txt": "a text\n",
    "g.text": "another\n",
    "h.ex": "defmodule A do\nend\n",
}
Write = Callable[[dict[str, str]], IndexPlace]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return a function that writes an index of some files."""
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(tmp_path / "models"))

    def write_index(files: dict[str, str]) -> IndexPlace:
        (tmp_path / "ws").mkdir()
        place = prepare_place(tmp_path / "ws")
        with closing(DatabaseWriter(place.database, SCHEMA, read_schema_version())) as writer:
            IndexWriter(writer).write(
                extract_file(WalkedFile(path, 1, len(text)), text.encode()) for path, text in files.items()
            )
        return place

    return write_index


@pytest.fixture
def embedding_config(tmp_path: Path, tiny_model: Path) -> Config:
    """Return settings with a language model and an embedding model."""
    convert(make_tiny_encoder(), tmp_path / "encoder.gguf", name="Tiny", license="mit")
    return Config(
        model=ModelSettings(path=str(tiny_model)), index=Index(embedding_model=str(tmp_path / "encoder.gguf"))
    )


def find_rows_about(place: IndexPlace, config: Config, about: str) -> list[tuple[str, str]]:
    """Return the state and the sentence of each row about a subject."""
    return [(state, says) for state, what, says in check_index(place.root, config) if what == about]


def set_grammars(monkeypatch: pytest.MonkeyPatch, **wheels: str) -> None:
    """Install these modules as the grammars of these languages, and no others."""
    specs = [
        replace(spec, grammar_module=wheels.get(name, "tree_sitter_absent"), grammar_function="language")
        for name, spec in optional_languages().items()
    ]
    languages = [*language_table.language_table().by_id.values(), *specs]
    monkeypatch.setattr(language_table, "load_table", lambda: language_table.LanguageTable(languages))
    grammar_table._language_from_pack.cache_clear()


@pytest.fixture(autouse=True)
def _clear_cache():
    yield
    grammar_table._language_from_pack.cache_clear()


def test_doctor_counts_the_files_of_each_language_and_its_queries(write: Write, monkeypatch: pytest.MonkeyPatch):
    # Ruby's grammar stands in for Scala's, and Go's, which knows no `class`, for Kotlin's
    set_grammars(monkeypatch, scala="tree_sitter_ruby", kotlin="tree_sitter_go")
    of = {"scala": "(method name: (identifier) @name) @definition.method", "kotlin": "(class) @definition.class"}
    monkeypatch.setattr("tree_sitter_language_pack.get_tags_query", of.get)
    place = write(FILES | {"i.scala": "def area\nend\n", "j.kt": "func f() {}\n"})
    with closing(DatabaseReader(place.database)) as reader:
        assert reader.rows("SELECT name FROM symbols WHERE file = (SELECT id FROM files WHERE path = 'i.scala')") == [
            ("area",)
        ]
    assert find_rows_about(place, Config(), "index") == [("ok", "10 files of this folder, 3 symbols")]
    assert find_rows_about(place, Config(), "languages") == [
        ("ok", "declarations and imports are known in 2 python"),
        ("ok", "declarations but no imports are known in 1 scala"),
        (
            "note",
            (
                "no declarations are known, only lines, in 2 text, 1 json, 1 kotlin, 1 yaml, 1 sql, 1 elixir; "
                "the installed grammar for kotlin does not fit its tags; "
                "for elixir: pip install 'lsp-harness[languages]'"
            ),
        ),
    ]


def test_files_without_declarations_are_no_note_if_nothing_can_be_done_about_them(write: Write):
    place = write({"f.txt": "a text\n", ".gitignore": "build\n"})
    assert [status for status, _ in find_rows_about(place, Config(), "languages")] == ["ok"]


def test_doctor_without_an_index_has_no_row_about_languages(write: Write):
    place = write({})
    assert find_rows_about(place, Config(), "languages") == []
    assert find_rows_about(place, Config(), "index") == [
        ("ok", "this folder has no index yet; it is made when an editor opens the folder")
    ]


def test_a_model_that_is_not_pulled_is_named_with_the_command(write: Write):
    repair = "the model all-minilm-l6-v2 is not downloaded yet; run: lsp-harness model pull all-minilm-l6-v2"
    assert find_rows_about(write(FILES), Config(), "embeddings") == [("note", f"{WORDS}: {repair}")]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"embedding_model": "absent.gguf"}, "there is no model file "),
        ({"embedding_model": "none"}, "“none” is neither a GGUF file"),
        ({"embedding_model": "qwen2.5-coder-0.5b-instruct"}, "is a model for completion, not for embedding"),
        ({"embedding_model": "{model}"}, "tiny.gguf is not an embedding model"),
        ({"embedding_pooling": "max"}, "index.embedding_pooling must be one of auto, mean, cls, last, not 'max'"),
        ({"embedding_tokens": 0}, "index.embedding_tokens must be between 1 and 510, not 0"),
    ],
)
def test_doctor_explains_settings_that_prevent_embedding(
    write: Write, embedding_config: Config, settings: dict[str, Any], says: str
):
    values: dict[str, Any] = {
        key: value.format(model=embedding_config.model.path) if isinstance(value, str) else value
        for key, value in settings.items()
    }
    [(state, message)] = find_rows_about(
        write(FILES), Config(model=embedding_config.model, index=Index(**values)), "embeddings"
    )
    assert (state, message.startswith(f"{WORDS}: ")) == ("note", True)
    assert says in message
    assert ("(lsp-harness model pull all-minilm-l6-v2)" in message) == ("embedding_model" in settings)


def test_doctor_explains_why_editors_do_not_use_the_vectors(write: Write, embedding_config: Config, tmp_path: Path):
    place, recipe, remote = (
        write(FILES),
        make_recipe(embedding_config.index),
        Config(engine=EngineSettings(url="http://h:1"), index=embedding_config.index),
    )
    [(state, message)] = find_rows_about(place, remote, "embeddings")
    assert (state, message.endswith(" has a vector yet; lsp-harness index embed makes them")) == ("note", True)
    with closing(DatabaseReader(place.database)) as reader, closing(Vectors(place.folder)) as vectors:
        vector = [1.0, *[0.0] * (WIDTH - 1)]
        texts = [text for (text,) in reader.rows("SELECT digest FROM chunks WHERE digest != x''")]
        vectors.add(recipe.name, dict.fromkeys(texts, vector), text_count=2)
    reason = "engine.url is set, and editors make vectors with the local engine only"
    ending = (
        f"the command line uses them, but editors do not: {reason}; remove it from {tmp_path / 'home' / 'config.toml'}"
    )
    [(state, message)] = find_rows_about(place, remote, "embeddings")
    assert (state, message.endswith(ending)) == ("note", True)
    # in an editor embedding is done in the process of the model that answers
    [(state, message)] = find_rows_about(place, Config(index=embedding_config.index), "embeddings")
    assert (state, "lsp-harness model pull qwen2.5-coder-0.5b-instruct" in message) == ("note", True)
    [(state, _)] = find_rows_about(place, embedding_config, "embeddings")
    assert state == "ok"


def test_an_embedding_model_that_cannot_be_loaded_is_a_problem(write: Write, embedding_config: Config):
    place, file = write(FILES), Path(embedding_config.index.embedding_model)
    # of an architecture that llama.cpp does not know
    file.write_bytes(file.read_bytes().replace(b"bert", b"burt"))
    [(state, message)] = find_rows_about(place, embedding_config, "embeddings")
    assert (state, message.startswith(f"{WORDS}: llama.cpp cannot load {file.name}")) == ("note", True)


def test_vectors_are_counted(write: Write, embedding_config: Config):
    # with the grammar installed there is a declaration in it
    place, recipe = (
        write({path: text for path, text in FILES.items() if path != "h.ex"}),
        make_recipe(embedding_config.index),
    )
    [(state, message)] = find_rows_about(place, embedding_config, "embeddings")
    assert (state, message) == (
        "note",
        f"{WORDS} so far: {recipe.model} works, but none of 2 texts has a vector yet; {LATER} makes them",
    )
    with closing(DatabaseReader(place.database)) as reader, closing(Vectors(place.folder)) as vectors:
        texts = [text for (text,) in reader.rows("SELECT digest FROM chunks WHERE digest != x''")]
        vector = [1.0, *[0.0] * (WIDTH - 1)]
        vectors.add("small old", {texts[0]: vector}, text_count=2)
        [(state, message)] = find_rows_about(place, embedding_config, "embeddings")
        assert (state, message.startswith(f"{WORDS}: the vectors were made by small with other settings; ")) == (
            "note",
            True,
        )
        # one is of a text that is gone
        vectors.add(recipe.name, {texts[0]: vector, b"gone": vector}, text_count=2)
        counted = f"{recipe.model}, {WIDTH} dimensions: 1 of 2 texts have a vector"
        used = "search and edits by instruction use them"
        assert find_rows_about(place, embedding_config, "embeddings") == [
            ("ok", f"{counted} ({LATER} makes the missing ones); {used}")
        ]
        vectors.add(recipe.name, {texts[1]: vector}, text_count=2)
        assert find_rows_about(place, embedding_config, "embeddings") == [
            ("ok", f"{counted.replace('1 of', '2 of')}; {used}")
        ]
        vectors.matrix_path.write_bytes(b"")
        damaged = "the vectors are damaged; lsp-harness index embed makes new ones"
        assert find_rows_about(place, embedding_config, "embeddings") == [("note", f"{WORDS}: {damaged}")]


def test_doctor_has_the_rows_about_the_index(shell: Shell):
    shell.replies()
    shell.file("a.py", FILES["a.py"])
    shell.run("index", "rebuild")
    ending = [(row["what"], row["says"]) for row in shell.run("doctor", "--json").json]
    assert ("languages", "declarations and imports are known in 1 python") in ending
    [says] = [says for what, says in ending if what == "embeddings"]
    assert says.startswith(f"{WORDS}: the model all-minilm-l6-v2 is not downloaded yet")
    shell.set("LSP_HARNESS_INDEX__ENABLED", "false")
    assert not [row for row in shell.run("doctor", "--json").json if row["what"] == "embeddings"]
