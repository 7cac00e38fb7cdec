"""Tests that the model completes a typed word, and of what the next key costs."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsp_harness.engine.cache.host_cache import HostCache
from lsp_harness.engine.decode.branch import TextDecoder
from lsp_harness.engine.decode.fim_prompt import tokenize_infill
from lsp_harness.engine.decode.model_runtime import Prompt, TokenRequest
from lsp_harness.engine.decode.sampler import compute_logprob
from lsp_harness.inference.request import Infill, InfillContext, Sampling

from .conftest import PROMPT, Bench


@pytest.mark.parametrize("prefix", ["def f():\n    ret", "def f():\n    ", "x = valu", "print(va", "a\t\t", "é"])
def test_healed_text_is_generated_first_and_removed_from_the_answer(machine: Bench, prefix: str):
    sampling = Sampling(n_predict=12)
    work = tokenize_infill(
        machine.llama.vocabulary, Infill(InfillContext(prefix, "\n\nprint(f())\n"), sampling=sampling), "suffix-first"
    )
    [prompt] = work.prompts
    text, last = machine.run(prompt.tokens, sampling, prompt.forced)

    slot = max(machine.kv.slots, key=lambda slot: slot.last_used_s)
    resident = b"".join(machine.llama.vocabulary.piece(token) for token in slot.tokens[len(prompt.tokens) :])
    assert resident.startswith(prompt.forced)
    assert prompt.forced
    result = TextDecoder(()).add(resident[len(prompt.forced) :])
    assert text.startswith(result)
    assert last.stop == "limit"
    assert last.usage.generated == 12


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text("abeinrst_ ", min_size=1, max_size=9), min_size=1, max_size=4), st.booleans())
def test_partial_words_get_the_answers_of_an_empty_cache(machine: Bench, words: list[str], deleted: bool):
    sampling = Sampling(n_predict=6)
    typed = [word[:size] for word in words for size in range(1, len(word) + 1)]
    typed += reversed(typed) if deleted else ()
    machine.forget()
    warm = [machine.run(PROMPT, sampling, text.encode()) for text in typed]

    size = len(machine.llama.vocabulary.tokenize(PROMPT))
    for number, (text, (said, last)) in enumerate(zip(typed, warm, strict=True)):
        machine.forget()
        alone, fresh = machine.run(PROMPT, sampling, text.encode())
        assert alone == said
        assert last.usage.evaluated <= fresh.usage.evaluated - (size if number else 0)
        # the same key again has nothing to spell
        again = machine.run(PROMPT, sampling, text.encode())[1].usage
        assert (again.evaluated, again.evaluated + again.reused) == (0, fresh.usage.evaluated)


def test_tokens_of_a_healed_word_are_not_evaluated_again(machine: Bench):
    sampling = Sampling(n_predict=6)
    machine.run(PROMPT, sampling, b"abeinrst")
    _, first = machine.run(PROMPT, sampling, b"abeinrst_")
    _, second = machine.run(PROMPT, sampling, b"abeinrst_")

    before = len(machine.llama.vocabulary.tokenize(PROMPT))
    # of the ninth letter nothing was known, of all nine everything
    assert before < first.usage.reused < second.usage.reused
    assert first.usage.evaluated + first.usage.reused == second.usage.reused
    assert second.usage.evaluated == 0


def test_a_request_for_no_tokens_has_the_healing_evaluated(machine: Bench):
    text, warmed = machine.run(PROMPT, Sampling(n_predict=0), b"abeinrst")
    [*chunks, last] = machine.together(
        TokenRequest((Prompt(machine.llama.vocabulary.tokenize(PROMPT), b"abeinrst"),), Sampling(n_predict=6))
    )[0]

    assert (text, warmed.usage.generated, warmed.stop) == ("", 0, "limit")
    assert warmed.usage.evaluated > len(machine.llama.vocabulary.tokenize(PROMPT))
    assert (last.usage.evaluated, last.usage.reused) == (0, warmed.usage.evaluated)
    # what comes first is of the answer
    assert chunks[0].text
    machine.forget()
    alone = machine.run(PROMPT, Sampling(n_predict=6), b"abeinrst")[0]
    assert "".join(chunk.text for chunk in (*chunks, last)) == alone


def test_a_request_for_probabilities_gets_those_of_every_token(machine: Bench):
    result = Sampling(n_predict=6, top_logprobs=0)
    machine.run(PROMPT, Sampling(n_predict=6), b"abeinrst")

    assert machine.run(PROMPT, result, b"abeinrst")[1].usage.reused == len(machine.llama.vocabulary.tokenize(PROMPT))


def test_no_tokens_are_spelled_ahead_if_the_memory_cannot_be_cut(machine: Bench):
    machine.kv.can_truncate = False
    size = len(machine.llama.vocabulary.tokenize(PROMPT))
    _, warmed = machine.run(PROMPT, Sampling(n_predict=0), b"abeinrst")
    _, other = machine.run(PROMPT, Sampling(n_predict=2), b"xyz")

    assert (warmed.usage.evaluated, other.usage.reused) == (size, size)


def test_spelled_tokens_are_found_after_parking(machine: Bench):
    sampling = Sampling(n_predict=6)
    machine.host_cache = machine.model.host_cache = HostCache(machine.llama, 1024)
    machine.kv.on_evict = lambda slot: machine.host_cache.store(slot, machine.kv.slots) if machine.host_cache else None
    result, first = machine.run(PROMPT * 3, sampling, b"abeinrst")
    [used] = [slot for slot in machine.kv.slots if slot.tokens]
    machine.kv.on_evict(used)
    machine.kv.clear(used)
    again, last = machine.run(PROMPT * 3, sampling, b"abeinrst")

    assert (again, last.usage.evaluated, last.usage.reused) == (result, 0, first.usage.evaluated)


def test_a_sampled_token_does_not_replace_the_likeliest_one(machine: Bench):
    alone = machine.run(PROMPT, Sampling(n_predict=6), b"abe")[0]
    machine.forget()
    drawn = Sampling(n_predict=6, temperature=2.0)
    first = machine.run(PROMPT, drawn, b"ab")[0]
    assert machine.run(PROMPT, Sampling(n_predict=6), b"abe")[0] == alone
    assert machine.run(PROMPT, drawn, b"ab")[0] == first


@pytest.mark.parametrize("forced", ["é = 日本", "q", " return"])
def test_forced_text_does_not_count_as_generated_text(machine: Bench, forced: str):
    text, last = machine.run(PROMPT, Sampling(n_predict=1), forced.encode())

    assert text
    assert last.stop == "limit"
    assert last.usage.generated == 1


def test_confidence_of_a_healed_word_is_computed_among_matching_tokens(machine: Bench):
    result = Sampling(n_predict=6, confidence=True)
    machine.run(PROMPT, Sampling(n_predict=6), b"abeinrst")
    size = len(machine.llama.vocabulary.tokenize(PROMPT))
    [healed] = machine.together(TokenRequest((Prompt(machine.llama.vocabulary.tokenize(PROMPT), b"abeinrst"),), result))
    [plain] = machine.together(TokenRequest((Prompt(machine.llama.vocabulary.tokenize(PROMPT)),), result))

    # what healing evaluated before is had again, as it is without
    assert healed[-1].usage.reused > size
    assert all(item.logprob <= 1e-6 for chunk in (*healed, *plain) for item in chunk.logprobs)
    [first, *_] = healed[0].logprobs
    row = np.array([0.0, 1.0, 2.0, 8.0], np.float32)
    assert compute_logprob(row, 2) < compute_logprob(row, 2, np.array([1, 2], np.int32)) < 0
    assert first.text.endswith(healed[0].text)
