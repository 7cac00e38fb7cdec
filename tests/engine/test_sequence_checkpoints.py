"""Checkpoints: a model whose state cannot be rolled back answers as without reuse, and a key costs its own tokens."""

from collections.abc import Iterator

import pytest

from lsp_harness.engine.cache import sequence_checkpoints
from lsp_harness.engine.cache.kv_cache import CacheLimits, KvCache
from lsp_harness.engine.cache.sequence_checkpoints import INTERVAL_TOKENS, MAX_SLOT_CHECKPOINTS
from lsp_harness.engine.decode.llama import Llama, TokenRow
from lsp_harness.engine.decode.memory_probe import probe_memory
from lsp_harness.engine.decode.model_runtime import Prompt, TokenRequest
from lsp_harness.inference.request import Owner, Sampling
from tests.support.tiny import WINDOW, tiny_gguf

from .conftest import Bench

FILE = "def area(width, height):\n    return width * height\n\n\ndef half(value):\n    return value / 2\n\n\n"
TYPED = "print(area(3, half(4)))\nvalue = "


@pytest.fixture(scope="module")
def hybrid_llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llama]:
    """A tiny model whose first layer is a convolution and whose second one is attention."""
    file = tiny_gguf(tmp_path_factory.mktemp("hybrid") / "hybrid.gguf", architecture="lfm2")
    model = Llama(file, n_ctx=2048, n_seq=6, n_batch=32, threads=1, n_gpu_layers=0, repack=False)
    yield model
    model.close()


class HybridBench(Bench):
    def forget(self) -> None:
        super().forget()
        self.kv = KvCache(self.llama, CacheLimits(cells=self.llama.n_ctx, slots=self.llama.n_seq), can_truncate=False)
        self.model.kv = self.kv


@pytest.fixture
def hybrid(hybrid_llama: Llama) -> HybridBench:
    return HybridBench(hybrid_llama)


def test_the_memory_of_a_hybrid_model_is_described(hybrid: HybridBench) -> None:
    memory = probe_memory(hybrid.llama)
    assert (memory["cuts"], memory["recurrent"], memory["window"]) == (False, True, 0)
    assert 0 < memory["checkpoint_bytes"] < 4096


def answer_afresh(machine: Bench, prompt: str) -> str:
    machine.forget()
    return machine.run(prompt, Sampling(n_predict=8))[0]


def test_each_key_costs_its_own_tokens_and_answers_as_without_reuse(hybrid: HybridBench) -> None:
    keys = [FILE * 4 + TYPED[:end] for end in range(1, len(TYPED) + 1)]
    expected = [answer_afresh(hybrid, key) for key in keys]
    hybrid.forget()
    costs: list[int] = []
    for key, text in zip(keys, expected, strict=True):
        answered, last = hybrid.run(key, Sampling(n_predict=8))
        assert answered == text
        costs.append(last.usage.evaluated)
    tokens = [len(hybrid.llama.vocabulary.tokenize(key)) for key in keys]
    assert costs[0] == tokens[0] > 2 * INTERVAL_TOKENS
    # a letter may join the token before it, and then the prompt goes on before that token
    assert max(costs[1:]) <= INTERVAL_TOKENS + 8
    assert sorted(costs[1:])[len(costs) // 2] <= 2


def test_a_change_above_costs_the_tokens_behind_the_checkpoint_before_it(hybrid: HybridBench) -> None:
    before, after = FILE * 8 + "first = 1\n" + FILE * 3, FILE * 8 + "other = 2\n" + FILE * 3
    expected = answer_afresh(hybrid, after)
    hybrid.forget()
    hybrid.run(before, Sampling(n_predict=8))
    answered, last = hybrid.run(after, Sampling(n_predict=8))
    assert answered == expected
    changed = len(hybrid.llama.vocabulary.tokenize(FILE * 8))
    size = len(hybrid.llama.vocabulary.tokenize(after))
    assert size - changed <= last.usage.evaluated <= size - changed + INTERVAL_TOKENS + hybrid.llama.n_batch


def read_answers(machine: Bench, *requests: TokenRequest) -> list[dict[int, str]]:
    """Return the text of each candidate of requests that run together."""
    answers: list[dict[int, str]] = []
    for chunks in machine.together(*requests):
        texts: dict[int, str] = {}
        for chunk in chunks:
            texts[chunk.index] = texts.get(chunk.index, "") + chunk.text
        answers.append(texts)
    return answers


def test_several_candidates_and_clients_share_a_prompt(hybrid: HybridBench) -> None:
    def make(client: str, text: str, count: int) -> TokenRequest:
        tokens = hybrid.llama.vocabulary.tokenize(text)
        return TokenRequest((Prompt(tokens),), Sampling(n_predict=6, n=count), Owner(client, client))

    requests = make("a", FILE * 3, 2), make("b", FILE * 3 + "x", 1), make("c", FILE * 2, 2)
    expected: list[dict[int, str]] = []
    for request in requests:
        hybrid.forget()
        expected += read_answers(hybrid, request)
    hybrid.forget()
    assert read_answers(hybrid, *requests) == expected
    # and once more, from what the first ones have left
    assert read_answers(hybrid, *requests) == expected


def test_a_request_that_was_aborted_goes_back_to_a_checkpoint(hybrid: HybridBench) -> None:
    hybrid.run(FILE * 4, Sampling(n_predict=4))
    tokens = hybrid.llama.vocabulary.tokenize(FILE * 4 + TYPED)
    slot = hybrid.kv.acquire(tokens, 4)
    kept = len(slot.tokens)
    # a step that was aborted has changed the state of the model, and the cache does not know its tokens
    hybrid.llama.decode([TokenRow(slot.seq, kept, tokens[kept : kept + 3])])
    hybrid.kv.roll_back(slot)
    hybrid.kv.release(slot)
    assert len(slot.tokens) == kept > 0
    answered, last = hybrid.run(FILE * 4 + TYPED, Sampling(n_predict=8))
    assert last.usage.reused == kept
    assert answered == answer_afresh(hybrid, FILE * 4 + TYPED)


def test_checkpoints_are_few_and_their_bytes_are_limited(hybrid: HybridBench, monkeypatch: pytest.MonkeyPatch) -> None:
    hybrid.run(FILE * 24, Sampling(n_predict=1))
    [slot] = [slot for slot in hybrid.kv.slots if slot.tokens]
    assert slot.checkpoints is not None
    assert len(slot.checkpoints) == MAX_SLOT_CHECKPOINTS
    assert max(slot.checkpoints) == len(hybrid.llama.vocabulary.tokenize(FILE * 24))
    state = len(next(iter(slot.checkpoints.values())))
    monkeypatch.setattr(sequence_checkpoints, "MAX_TOTAL_BYTES", 3 * state)
    hybrid.run("other " + FILE * 4, Sampling(n_predict=1))
    assert hybrid.kv.checkpoints
    assert hybrid.kv.checkpoints.total_bytes <= 3 * state
    [other] = [one for one in hybrid.kv.slots if one.tokens and one is not slot]
    assert other.checkpoints
    assert max(other.checkpoints) == len(other.tokens)


@pytest.fixture(scope="module")
def window_llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llama]:
    """A tiny model whose first layer has a sliding window."""
    file = tiny_gguf(tmp_path_factory.mktemp("window") / "window.gguf", architecture="gemma2")
    model = Llama(file, n_ctx=2048, n_seq=6, n_batch=32, threads=1, n_gpu_layers=0, repack=False)
    yield model
    model.close()


def test_a_sliding_window_is_cut_like_any_other_memory(window_llama: Llama) -> None:
    machine = Bench(window_llama)
    memory = probe_memory(machine.llama)
    assert (memory["cuts"], memory["window"]) == (True, WINDOW)
    keys = [FILE * 4 + TYPED[:end] for end in range(1, len(TYPED) + 1)]
    # a change that lies further back than the window
    keys += [FILE * 3 + "first = 1\n" + FILE * 4, FILE * 3 + "other = 2\n" + FILE * 4]
    assert len(machine.llama.vocabulary.tokenize(FILE * 4)) > 3 * WINDOW
    expected = [answer_afresh(machine, key) for key in keys]
    machine.forget()
    costs: list[int] = []
    for key, text in zip(keys, expected, strict=True):
        answered, last = machine.run(key, Sampling(n_predict=8))
        assert answered == text
        costs.append(last.usage.evaluated)
    assert max(costs[1 : len(TYPED)]) <= 2
    changed = len(machine.llama.vocabulary.tokenize(FILE * 3))
    assert costs[-1] <= len(machine.llama.vocabulary.tokenize(keys[-1])) - changed + 2
