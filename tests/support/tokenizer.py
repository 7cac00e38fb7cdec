"""The tokenizer and the chat template of a model file, without its weights."""

from collections.abc import Sequence
from pathlib import Path

from lsp_harness.engine.decode.chat_template import ChatTemplate
from lsp_harness.engine.decode.fim_prompt import tokenize_infill
from lsp_harness.engine.decode.vocabulary import Vocabulary
from lsp_harness.engine.native.loaded_library import SILENT_LOG, lib
from lsp_harness.inference.request import ChatRequest, Infill, ModelRequest


class Tokenizer:
    """A tokenizer that counts texts and requests as the engine does."""

    def __init__(self, model: Path) -> None:
        lib.llama_log_set(SILENT_LOG, None)
        lib.llama_backend_init()
        params = lib.llama_model_default_params()
        params.vocab_only = True
        self._model = lib.llama_model_load_from_file(str(model).encode(), params)
        self._vocabulary = Vocabulary(lib.llama_model_get_vocab(self._model))
        self._template = ChatTemplate(self._model, self._vocabulary)
        self.fim_tokens = self._vocabulary.fim_tokens

    def count(self, texts: Sequence[str]) -> list[int]:
        return [len(self._vocabulary.tokenize(text)) for text in texts]

    def render(self, messages: Sequence[tuple[str, str]]) -> str:
        return self._template.render(messages)

    def count_request(self, request: ModelRequest) -> int:
        """Return the tokens that a model evaluates for a request."""
        if isinstance(request, Infill):
            return len(tokenize_infill(self._vocabulary, request, "suffix-first").prompts[0].tokens)
        assert isinstance(request, ChatRequest)
        return len(self._vocabulary.tokenize(self.render(request.messages), special=True))

    def close(self) -> None:
        lib.llama_model_free(self._model)
