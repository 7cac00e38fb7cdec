"""Detection of the kind of a server by its answers to `/props` and `/v1/models`."""

from typing import Any, cast

from lsp_harness.errors import EngineRefused
from lsp_harness.inference.backends.anthropic import Anthropic
from lsp_harness.inference.backends.backend import Backend, Json
from lsp_harness.inference.backends.endpoint import Endpoint
from lsp_harness.inference.backends.llama_server import HarnessEngine, LlamaServer
from lsp_harness.inference.backends.openai import OpenAI

MAX_NAMES_IN_MESSAGE = 5
"""Model names that an error message lists."""


async def detect(endpoint: Endpoint) -> Backend:
    """Return the backend of the server at `endpoint`, by the settings or by its answers.

    Raises:
        EngineRefused: The server is of no known kind, or the settings name no model.
        RetryableError: The server cannot be asked now.
    """
    target = endpoint.target
    if target.dialect == "anthropic":
        if not target.model:
            raise EngineRefused(f"{endpoint.name} serves several models; set engine.model to one of them")
        # report a refused key or a missing server now and not at the first fix
        await endpoint.probe_json("/v1/models")
        return Anthropic(target.model)
    if target.dialect != "openai":
        props = await endpoint.probe_json("/props")
        if is_llama_server(props):
            return (HarnessEngine if "fim_order" in props else LlamaServer)(endpoint, cast("Json", props))
        if target.dialect == "llama-server":
            raise EngineRefused(
                f'{endpoint.name} has no /props, which every llama-server has; set engine.dialect to "auto"'
            )
    models: Any = await endpoint.probe_json("/v1/models")
    rows: Any = cast("Json", models).get("data") if isinstance(models, dict) else None
    if isinstance(rows, list):
        return await _detect_openai(endpoint, cast("list[Json]", rows))
    if target.dialect == "openai" and target.model:
        return OpenAI(endpoint, target.model)
    raise EngineRefused(
        f"{endpoint.name} is neither a llama-server nor an OpenAI-compatible server: it has no /props and no /v1/models; check engine.url"
    )


def is_llama_server(props: Any) -> bool:
    """Return whether `props` is the answer of a llama-server to `/props`."""
    return isinstance(props, dict) and "default_generation_settings" in props


async def _detect_openai(endpoint: Endpoint, rows: list[Json]) -> OpenAI:
    model_setting = endpoint.target.model
    names = [str(row.get("id", "")) for row in rows]
    if not model_setting and len(names) != 1:
        choices = ", ".join(names[:MAX_NAMES_IN_MESSAGE]) + (", …" if len(names) > MAX_NAMES_IN_MESSAGE else "")
        raise EngineRefused(
            f"{endpoint.name} serves {len(names)} models; set engine.model to one of {choices or 'its own'}"
        )
    model = model_setting or names[0]
    row = next((row for row in rows if row.get("id") == model), Json())
    if row.get("owned_by") != "vllm":
        return OpenAI(endpoint, model)
    version: Any = await endpoint.probe_json("/version")
    vllm = str(cast("Json", version).get("version", "")) if isinstance(version, dict) else ""
    return OpenAI(endpoint, model, vllm=vllm or "of an unknown version", n_ctx=int(row.get("max_model_len") or 0))
