"""Binds the files in `features` to their methods. There are two shapes, and no third:

- a *request* has `METHOD` and `async def run(client, snapshot, params) -> Result | None`. The snapshot is frozen when
  the message arrives, so a change that comes right behind it is not seen. `document(params)`, where a file has it, says
  which document that is. Where its text is not known any more, the answer is `unknown(error)`, where the file has that, else null;
- a *notification* has `METHOD` and `def run(client, params)`, synchronous, the only kind that changes state. A request
  that changes state (`shutdown`) takes this shape too, and its return value is the answer.
"""

import inspect
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from lsp_harness.errors import DocumentOutOfSync
from lsp_harness.server.editor_client import Client


def bind(client: Client, features: Iterable[ModuleType]) -> None:
    for feature in features:
        offered: Callable[[Any], bool] = getattr(feature, "offered", lambda _: True)
        if offered(client.able):
            method: str = feature.METHOD
            # no parameter called `ls`, or pygls would wrap the handler in a coroutine that starts a turn too late
            client.server.feature(method)(_handler(client, feature))


def _handler(client: Client, feature: ModuleType) -> Callable[[Any], Any]:
    run: Callable[..., Any] = feature.run
    if not inspect.iscoroutinefunction(run):
        return lambda params: run(client, params)
    document: Callable[[Any], str | None] = getattr(feature, "document", _named)

    unknown: Callable[[DocumentOutOfSync], Any] = getattr(feature, "unknown", lambda error: None)

    def freeze_and_run(params: Any) -> Any:
        uri = document(params)
        try:
            snapshot = client.freeze(uri) if uri is not None else None
        except DocumentOutOfSync as error:
            return unknown(error)
        return run(client, snapshot, params)

    return freeze_and_run


def _named(params: Any) -> str:
    return params.text_document.uri
