"""Tests of the embedding recipe: prefixes by the name of the model, and a key that changes with every influence."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.config.schema import Index
from lsp_harness.errors import ConfigError, ModelError, ModelMissing
from lsp_harness.inference.embedding_recipe import make_recipe, model_name
from lsp_harness.inference.models.bert import convert
from lsp_harness.inference.models.catalogue import card
from tests.support.encoder import make_tiny_encoder

NOMIC = ("search_query: ", "search_document: ")
E5 = ("query: ", "passage: ")
BGE = ("Represent this sentence for searching relevant passages: ", "")


def make_index_settings(path: Path, name: str = "Tiny", *, seed: int = 1) -> Index:
    """Return the settings for a file with a model of this name."""
    convert(make_tiny_encoder(seed=seed), path, name=name, license="mit")
    return Index(embedding_model=str(path))


@pytest.mark.parametrize(
    ("name", "file", "prefixes"),
    [
        ("nomic-embed-text-v1.5", "m", NOMIC),
        ("Nomic Embed Text v1", "m", NOMIC),
        ("Tiny", "nomic-embed-text-v2-moe.Q4_K_M", NOMIC),
        ("Multilingual E5 Small", "m", E5),
        ("", "e5_base_v2", E5),
        ("E5 Mistral 7b Instruct", "e5-mistral-7b-instruct", ("", "")),
        ("multilingual-e5-large-instruct", "m", ("", "")),
        ("Bge Small En v1.5", "m", BGE),
        ("", "bge-base-en-v1.5-f16", BGE),
        ("bge-m3", "m", ("", "")),
        ("all-MiniLM-L6-v2", "m", ("", "")),
        ("Tiny", "made5-up", ("", "")),
    ],
)
def test_texts_get_the_prefixes_of_their_model(tmp_path: Path, name: str, file: str, prefixes: tuple[str, str]):
    recipe = make_recipe(make_index_settings(tmp_path / f"{file}.gguf", name))
    assert (recipe.query_prefix, recipe.document_prefix) == prefixes


def test_a_model_of_the_catalogue_is_recognised_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LSP_HARNESS_MODELS", str(tmp_path))
    convert(make_tiny_encoder(), tmp_path / card("nomic-embed-text-v1.5").file, name="Tiny", license="mit")
    recipe = make_recipe(Index(embedding_model="nomic-embed-text-v1.5"))
    assert (recipe.model, recipe.query_prefix, recipe.document_prefix) == ("nomic-embed-text-v1.5", *NOMIC)


def test_the_settings_decide(tmp_path: Path):
    settings = make_index_settings(tmp_path / "nomic-embed-text.gguf")
    recipe = make_recipe(
        replace(settings, embedding_query_prefix="find: ", embedding_document_prefix="", embedding_tokens=7)
    )
    assert (recipe.query_prefix, recipe.document_prefix, recipe.tokens) == ("find: ", "", 7)


def test_the_key_changes_with_every_influence_on_a_vector(tmp_path: Path):
    path = tmp_path / "m.gguf"
    settings = make_index_settings(path)
    first = make_recipe(settings)
    assert make_recipe(settings) == first
    assert model_name(first.name) == str(path)
    others = [
        replace(settings, embedding_document_prefix="code: "),
        replace(settings, embedding_pooling="cls"),
        replace(settings, embedding_tokens=64),
        make_index_settings(tmp_path / "other.gguf", seed=2),
    ]
    assert len({first.name, *(make_recipe(other).name for other in others)}) == 5
    # what is kept does not depend on what stands before a query
    assert make_recipe(replace(settings, embedding_query_prefix="find: ")).name == first.name
    # another file in its place
    make_index_settings(path, seed=2)
    second = make_recipe(settings)
    os.utime(path, ns=(1, 1))
    assert len({first.name, second.name, make_recipe(settings).name}) == 3


def test_an_impossible_recipe_is_refused_with_a_remedy(tmp_path: Path, tiny_model: Path):
    settings = make_index_settings(tmp_path / "m.gguf")
    with pytest.raises(ConfigError, match=r"index\.embedding_pooling must be one of auto, mean, cls, last, not 'max'"):
        make_recipe(replace(settings, embedding_pooling="max"))
    for tokens in (0, 511):
        with pytest.raises(ConfigError, match=r"index\.embedding_tokens must be between 1 and 510"):
            make_recipe(replace(settings, embedding_tokens=tokens))
    with pytest.raises(ModelMissing, match="no model file"):
        make_recipe(Index(embedding_model=str(tmp_path / "absent.gguf")))
    with pytest.raises(ModelError, match=r"is not an embedding model: set index\.embedding_model"):
        make_recipe(Index(embedding_model=str(tiny_model)))
    # a model that generates can be made to embed, if somebody wants it
    assert make_recipe(Index(embedding_model=str(tiny_model), embedding_pooling="last")).model == str(tiny_model)
