"""Tests of the binding: text to tokens and back, and the errors of llama.cpp."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.engine.decode import chat_template as module
from lsp_harness.engine.decode.chat_template import compile_template
from lsp_harness.engine.decode.llama import Aborted, Llama, TokenRow
from lsp_harness.engine.decode.memory_probe import probe_memory
from lsp_harness.engine.decode.sampler import find_likeliest_token
from lsp_harness.errors import EngineRefused, ModelError
from tests.support.tiny import tiny_gguf

from .conftest import Bench


def load(path: Path) -> Llama:
    return Llama(path, n_ctx=64, n_seq=1, n_batch=32, threads=1, n_gpu_layers=0, repack=False)


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=80))
def test_pieces_of_tokens_are_the_text(llama: Llama, text: str):
    pieces = [llama.vocabulary.piece(token) for token in llama.vocabulary.tokenize(text)]

    assert b"".join(pieces) == text.encode("utf-8", "replace")


def test_special_tokens_are_recognised_only_on_request(llama: Llama):
    text = "<|fim_prefix|>"

    assert len(llama.vocabulary.tokenize(text)) > 1
    (token,) = llama.vocabulary.tokenize(text, special=True)
    assert token == llama.vocabulary.fim_tokens["pre"]
    assert (llama.vocabulary.piece(token), llama.vocabulary.piece(token, special=True)) == (b"", text.encode())


def test_the_model_says_which_tokens_end_an_answer(llama: Llama):
    ends = [
        llama.vocabulary.ends_answer(*llama.vocabulary.tokenize(name, special=True))
        for name in ("<|im_end|>", "<|endoftext|>", "a", "<|im_start|>")
    ]

    # a mark that is no text ends it, too: nothing that is shown could follow it
    assert ends == [True, True, False, True]


def find_agreeing_tokens(llama: Llama, start: bytes) -> set[int]:
    pieces = {token: llama.vocabulary.piece(token) for token in range(llama.n_vocab)}
    return {token for token, piece in pieces.items() if piece and (piece.startswith(start) or start.startswith(piece))}


def test_blanks_are_encoded_by_the_longest_token_that_fits(llama: Llama):
    def pieces(start: bytes) -> set[bytes]:
        return {llama.vocabulary.piece(token) for token in llama.vocabulary.matching_tokens(start)}

    assert pieces(b"    ") == {b" " * 3, b" " * 4}
    assert pieces(b"   ") == {b" " * 2, b" " * 3, b" " * 4}
    # there is none of five or more
    assert pieces(b"      ") == {b" " * 4}
    assert {b" ", b" return"} <= pieces(b" ")
    # two newlines are a token, two tabs are none
    assert pieces(b"\n\n") == {b"\n", b"\n\n"}
    assert pieces(b"\t\t") == {b"\t"}


@settings(max_examples=200, deadline=None)
@given(
    start=st.one_of(
        st.sampled_from([" return", "    ", "   ", "\t ", "é", "``", "valu", "\n"]).map(str.encode),
        st.binary(min_size=1, max_size=6),
    )
)
def test_the_tokens_that_agree_with_a_text_are_found(llama: Llama, start: bytes):
    agree = find_agreeing_tokens(llama, start)
    if start.isspace():
        # at most one is left to the word behind them, or no longer one fits
        fitting = {
            len(llama.vocabulary.piece(token)) for token in agree if len(llama.vocabulary.piece(token)) <= len(start)
        }
        least = min(max(fitting), max(1, len(start) - 1))
        agree = {token for token in agree if len(llama.vocabulary.piece(token)) >= least}

    # the text as one whole token begins with it, and is named once
    matching_tokens = llama.vocabulary.matching_tokens(start)
    assert set(matching_tokens) == agree
    assert len(matching_tokens) == len(agree)


def test_a_conversation_is_written_by_the_models_own_template(llama: Llama):
    assert llama.chat_template.render([("system", "Be brief."), ("user", "Hé")]) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHé<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_conversation_of_many_short_turns_is_written_too(llama: Llama):
    prompt = llama.chat_template.render([("user", "")] * 1000)

    assert prompt == "<|im_start|>user\n<|im_end|>\n" * 1000 + "<|im_start|>assistant\n"


QWEN = """
{%- if messages[0]['role'] != 'system' %}{{- '<|im_start|>system\nBe kind.<|im_end|>\n' }}{%- endif %}
{%- for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools') }}{% endif %}
{{- '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
"""


def test_a_template_is_the_models_own_to_the_letter():
    form = compile_template(QWEN, bos="", eos="<|im_end|>")

    assert form
    # llama.cpp's built-in form of this template has no system message of its own
    assert form([("user", "Hi")]) == (
        "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )
    with pytest.raises(EngineRefused, match="cannot format this conversation: no tools"):
        form([("user", "Hi"), ("tool", "42")])


GEMMA = """
{%- if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{%- endif %}
{%- for m in messages %}{{- m.role + ': ' + m.content + '\n' }}{%- endfor %}
"""


def test_a_template_without_system_messages_puts_them_into_the_question():
    form = compile_template(GEMMA, bos="", eos="")

    assert form
    assert form([("system", "Be brief."), ("user", "Hi"), ("assistant", "Yes?")]) == (
        "user: Be brief.\n\nHi\nassistant: Yes?\n"
    )
    with pytest.raises(EngineRefused, match="System role not supported"):
        form([("system", "Be brief."), ("assistant", "Yes?")])


def test_a_template_that_is_refused_may_be_known_to_llama_cpp(llama: Llama, monkeypatch: pytest.MonkeyPatch):
    form = compile_template("{{ raise_exception('never') }}<|im_start|>", bos="", eos="")
    monkeypatch.setattr(llama.chat_template, "_render", form)

    assert llama.chat_template.render([("user", "a")]) == "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n"


def test_a_template_cannot_reach_python_objects():
    form = compile_template("{{ ''.__class__.__mro__[1].__subclasses__() }}", bos="", eos="")

    assert form
    with pytest.raises(EngineRefused, match="chat template"):
        form([("user", "Hi")])


def test_a_template_that_cannot_be_read_is_left_to_llama_cpp(llama: Llama, monkeypatch: pytest.MonkeyPatch):
    assert compile_template("{% for %}", bos="", eos="") is None
    monkeypatch.setattr(llama.chat_template, "_render", None)
    monkeypatch.setattr(module, "compile_template", lambda *_, **__: None)
    assert llama.chat_template.render([("user", "a")]) == "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n"
    monkeypatch.setattr(llama.chat_template, "_render", None)


def test_a_model_without_a_template_refuses_conversations(tmp_path: Path):
    model = load(tiny_gguf(tmp_path / "base.gguf", chat=False))

    with pytest.raises(EngineRefused, match="chat template"):
        model.chat_template.render([("user", "a")])
    model.close()


def test_a_damaged_file_is_a_model_error_and_harms_no_other_model(machine: Bench, tiny_model: Path, tmp_path: Path):
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(tiny_model.read_bytes()[:20000])

    with pytest.raises(ModelError, match=r"damaged\.gguf"):
        load(damaged)
    assert machine.run("def")[0]


def test_an_aborted_evaluation_keeps_the_earlier_tokens(machine: Bench):
    llama = machine.llama
    tokens = llama.vocabulary.tokenize("def f():\n")
    llama.decode([TokenRow(0, 0, tokens)])
    before = find_likeliest_token(llama.logits(-1), range(llama.n_vocab))

    llama.should_abort = lambda: True
    with pytest.raises(Aborted):
        llama.decode([TokenRow(0, len(tokens), tokens)])
    llama.should_abort = lambda: False

    assert llama.truncate(0, len(tokens) - 1)
    llama.decode([TokenRow(0, len(tokens) - 1, tokens[-1:])])
    assert find_likeliest_token(llama.logits(-1), range(llama.n_vocab)) == before


def test_more_than_the_cache_holds_is_refused(machine: Bench):
    llama = machine.llama
    for at in range(0, llama.n_ctx, llama.n_batch):
        llama.decode([TokenRow(0, at, [5] * llama.n_batch)])

    with pytest.raises(EngineRefused, match="context_length"):
        llama.decode([TokenRow(0, llama.n_ctx, [5])])


def test_the_likeliest_is_chosen_among_the_allowed_only(machine: Bench):
    llama = machine.llama
    llama.decode([TokenRow(0, 0, llama.vocabulary.tokenize("def"))])

    logits = llama.logits(-1)
    assert find_likeliest_token(logits, [7]) == 7
    first = find_likeliest_token(logits, range(llama.n_vocab))
    assert find_likeliest_token(logits, [first, 7, 8]) == first


def test_a_batch_has_rows_of_several_sequences(machine: Bench):
    llama = machine.llama
    item, other = llama.vocabulary.tokenize("def f():"), llama.vocabulary.tokenize("class Value:")
    firsts: list[int] = []
    for tokens in (item, other):
        llama.decode([TokenRow(0, 0, tokens)])
        firsts.append(find_likeliest_token(llama.logits(-1), range(llama.n_vocab)))
        llama.truncate(0, 0)

    llama.decode([TokenRow(1, 0, item), TokenRow(2, 0, other, len(other))])

    ends = (len(item) - 1, len(item) + len(other) - 1)
    assert [find_likeliest_token(llama.logits(at), range(llama.n_vocab)) for at in ends] == firsts
    assert llama.logits(len(item)).shape == (llama.n_vocab,)


def test_the_memory_of_a_model_is_described(machine: Bench):
    assert probe_memory(machine.llama) == {"cuts": True, "window": 0, "recurrent": False}
