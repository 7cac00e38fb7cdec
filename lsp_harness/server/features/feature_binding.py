"""The decorator of a feature, a function that handles a method of the client, and the binding of features to a client.

There are two shapes of features.

- A *request* is `async def name(client, snapshot, params) -> Result | None`. The snapshot is frozen when the message
  arrives, so the request does not see a change that follows it.
- A *notification* is `def name(client, params)`. It is synchronous, and only notifications change state. A request that
  changes state (`shutdown`) has this shape too, and its return value is the answer.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from lsp_harness.errors import DocumentOutOfSync
from lsp_harness.server.client_capabilities import ClientCapabilities
from lsp_harness.server.editor_client import EditorClient


def uri_of_document(params: Any) -> str:
    """Return the URI of the document that most requests are about."""
    return params.text_document.uri


def no_document(params: Any) -> None:
    """Return None: the request is about no document, or about all of them."""


def no_answer(error: DocumentOutOfSync) -> None:
    """Return None, the answer of most requests about a text that is not known any more."""


def refuse(error: DocumentOutOfSync) -> Any:
    """Answer with the error, because the user asked for something and must learn why nothing happens."""
    raise error


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """A method of the client, and the function that handles it.

    Attributes:
        method: The method in the protocol.
        run: The function that handles the message.
        document_uri: Returns the URI of the document that a request freezes, or None.
        answer_out_of_sync: Returns the answer to a request if the text of the document is not known any more.
        is_offered: Returns whether a client with these capabilities gets the feature.
    """

    method: str
    run: Callable[..., Any]
    document_uri: Callable[[Any], str | None]
    answer_out_of_sync: Callable[[DocumentOutOfSync], Any]
    is_offered: Callable[[ClientCapabilities], bool]

    def handle(self, client: EditorClient, params: Any) -> Any:
        """Handle a message of the client: the answer, or a coroutine that returns the answer."""
        if not inspect.iscoroutinefunction(self.run):
            return self.run(client, params)
        uri = self.document_uri(params)
        try:
            snapshot = client.freeze(uri) if uri is not None else None
        except DocumentOutOfSync as error:
            return self.answer_out_of_sync(error)
        return self.run(client, snapshot, params)


def feature(
    method: str,
    *,
    document_uri: Callable[[Any], str | None] = uri_of_document,
    answer_out_of_sync: Callable[[DocumentOutOfSync], Any] = no_answer,
    is_offered: Callable[[ClientCapabilities], bool] = lambda capabilities: True,
) -> Callable[[Callable[..., Any]], Feature]:
    """Make a function the handler of a method. See `Feature`."""

    def describe(run: Callable[..., Any]) -> Feature:
        return Feature(
            method=method,
            run=run,
            document_uri=document_uri,
            answer_out_of_sync=answer_out_of_sync,
            is_offered=is_offered,
        )

    return describe


def bind(client: EditorClient, features: Iterable[Feature]) -> None:
    """Bind all features that the client can use."""
    for each in features:
        if each.is_offered(client.capabilities):
            # no parameter is called `ls`, or pygls would wrap the handler in a coroutine that starts a turn too late
            client.server.feature(each.method)(partial(each.handle, client))
