"""The state of one harness, for a status line and for people who ask what the server does."""

from typing import Any

from lsp_harness.harness.completions.completion_verbs import CompletionVerbs
from lsp_harness.harness.services import Services


def read_state(services: Services, completions: CompletionVerbs) -> dict[str, Any]:
    """Return the state as far as it is known without asking any process."""
    indexes, engine, config = services.index.folder_indexes_if_any, services.engines.state(), services.config
    # the settings do not say which model a remote server has loaded
    remote_model = engine["model"] if config.engine.url else None
    return {
        **engine,
        "model": config.engine.model or remote_model or config.model.path,
        "trusted": services.workspace.is_trusted,
        "index": indexes.state() if indexes else "off",
        "unparsed": services.documents.list_without_tree(),
        **completions.state(),
    }


async def _describe_background(services: Services) -> dict[str, Any]:
    """Return when work that no user waits for runs, why it waits now, and how many pieces of it wait."""
    why = await services.background.find_refusal(is_after_checks=True)
    return {"when": services.config.background.when, "why": why or None, "waiting": services.background.waiting_count}


async def read_status(services: Services, completions: CompletionVerbs) -> dict[str, Any]:
    """Return the state of the engine, the last completion, the log, and the documents without a syntax tree."""
    log = services.session_log_if_any
    return {
        "engine": await services.engines.describe(),
        "completion": completions.last_figures,
        "background": await _describe_background(services),
        "log": str(log.path) if log else None,
        "unparsed": services.documents.list_without_tree(),
    }
