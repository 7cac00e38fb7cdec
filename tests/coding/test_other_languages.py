"""Prompts in other languages than English that name code."""

import pytest

from lsp_harness.coding.questions.other_languages import read_other_language

DECLARED = {"load_all", "Store", "load"}
PROMPTS = {
    "wo ist load_all definiert?": "where is load_all defined?",
    "wo wird denn load_all überall aufgerufen?": "who calls load_all?",
    "welche Tests laufen für load_all?": "which tests run load_all?",
    "erkläre mir load_all": "what does load_all do?",
    "benenne load_all in read_all um": "rename load_all to read_all",
    "füge einen Docstring zu load_all hinzu": "add a docstring to load_all",
    "zeig mir Store": "show me the code of Store",
    "¿dónde está load_all?": "where is load_all defined?",
    "¿qué funciones llaman a load_all?": "who calls load_all?",
    "à quoi sert la fonction load ?": "what does load do?",
    "où est Store ?": "where is Store defined?",
    "renomeia a função load_all para read_all por favor": "rename load_all to read_all",
    "где определена функция load_all?": "where is load_all defined?",
    "что делает load_all": "what does load_all do?",
    "谁调用了load_all这个函数": "who calls load_all?",
    "クラス Store はどこに定義されていますか？": "where is Store defined?",
    "load_all fonksiyonunu hangi fonksiyonlar çağırıyor": "who calls load_all?",
    "corrige load_all en src/store.py": "fix load_all in src/store.py: corrige load_all en src/store.py",
    "mach das rückgängig": "undo",
}


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_is_written_in_english(prompt: str):
    assert read_other_language(prompt, DECLARED) == PROMPTS[prompt]


@pytest.mark.parametrize(
    "prompt",
    ["load_all needs an explicit return type", "run ruff on load_all", "simplify load_all", "where is load_all?",
     "wo ist der Bahnhof?", "explain load_all", "load_all utilizes Store"],
)  # fmt: skip
def test_other_prompts_stay_as_they_are(prompt: str):
    assert read_other_language(prompt, DECLARED) == ""
