"""Binds the modules in `features` to their methods. A module has one of two shapes.

- A *request* has `METHOD` and `async def run(client, snapshot, params) -> Result | None`. The snapshot is frozen when
  the message arrives, so the request does not see a change that follows it. The module may have
  `document_uri(params)`, which returns the URI of that document, and `answer_out_of_sync(error)`, which returns the
  answer if the text of the document is not known any more. Without it the answer is null.
- A *notification* has `METHOD` and `def run(client, params)`. It is synchronous, and only notifications change state.
  A request that changes state (`shutdown`) has this shape too, and its return value is the answer.

A module with `is_offered(capabilities)` is bound only for clients for which it returns true.
"""

import inspect
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from lsp_harness.errors import DocumentOutOfSync
from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.editor_client import EditorClient


def bind(client: EditorClient, features: Iterable[ModuleType]) -> None:
    """Bind all features that the client can use."""
    for feature in features:
        is_offered: Callable[[ClientCapabilities], bool] = getattr(feature, "is_offered", lambda _: True)
        if is_offered(client.capabilities):
            method: str = feature.METHOD
            # no parameter is called `ls`, or pygls would wrap the handler in a coroutine that starts a turn too late
            client.server.feature(method)(_handler(client, feature))


def _handler(client: EditorClient, feature: ModuleType) -> Callable[[Any], Any]:
    run: Callable[..., Any] = feature.run
    if not inspect.iscoroutinefunction(run):
        return lambda params: run(client, params)
    document_uri: Callable[[Any], str | None] = getattr(feature, "document_uri", _text_document_uri)
    answer: Callable[[DocumentOutOfSync], Any] = getattr(feature, "answer_out_of_sync", lambda error: None)

    def freeze_and_run(params: Any) -> Any:
        uri = document_uri(params)
        try:
            snapshot = client.freeze(uri) if uri is not None else None
        except DocumentOutOfSync as error:
            return answer(error)
        return run(client, snapshot, params)

    return freeze_and_run


def _text_document_uri(params: Any) -> str:
    return params.text_document.uri
