"""A client of the running `lsp-harness api`, which it finds by the files in the runtime folder."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from lsp_harness.api.access.api_state import ApiState, read_state
from lsp_harness.errors import HarnessError, UsageError

CONNECT_TIMEOUT_S = 5.0


class ApiRequestRefused(HarnessError):
    """The server answered with an error.

    Attributes:
        code: The error code of the answer.
    """

    def __init__(self, code: str, message: str, resolution: str) -> None:
        super().__init__(f"{message}; {resolution}" if resolution else message)
        self.code = code


class ApiClient:
    """A client of one server.

    Args:
        state: The place of the server. None finds the one that runs.

    Raises:
        UsageError: No server runs.
    """

    def __init__(self, state: ApiState | None = None) -> None:
        self.state = state or read_state()

    @property
    def headers(self) -> dict[str, str]:
        """The headers with the token."""
        return {"authorization": f"Bearer {self.state.token}"}

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        **query: Any,
    ) -> Any:
        """Send a request, and return the JSON of the answer, or None for an empty one.

        Raises:
            ApiRequestRefused: The server answered with an error.
            UsageError: The server does not answer.
        """
        import httpx2

        timeout = httpx2.Timeout(timeout_s, connect=CONNECT_TIMEOUT_S)
        fields = {name: value for name, value in query.items() if value is not None}
        with _server_errors(), httpx2.Client(base_url=self.state.url, headers=self.headers, timeout=timeout) as client:
            answer = client.request(method, path, json=body, params=fields)
        if answer.is_success:
            return answer.json() if answer.content else None
        error = answer.json().get("error", {})
        raise ApiRequestRefused(
            error.get("code", ""), error.get("message", "the request failed"), error.get("resolution", "")
        )

    def stream(self, path: str) -> Iterator[bytes]:
        """Yield the plain bytes of a stream until it ends.

        Raises:
            UsageError: The server does not answer.
        """
        import httpx2

        headers, timeout = {**self.headers, "accept": "text/plain"}, httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S)
        with (
            _server_errors(),
            httpx2.Client(base_url=self.state.url, headers=headers, timeout=timeout) as client,
            client.stream("GET", path) as answer,
        ):
            if not answer.is_success:
                answer.read()
                error = answer.json().get("error", {})
                raise ApiRequestRefused(error.get("code", ""), error.get("message", ""), error.get("resolution", ""))
            yield from answer.iter_raw()


def agent_path(agent: str, *parts: str) -> str:
    """Return the address of an agent by its id or name."""
    return "/".join(["/agents", *(quote(part, safe="") for part in (agent, *parts))])


@contextmanager
def _server_errors() -> Generator[None]:
    import httpx2

    try:
        yield
    except httpx2.HTTPError as error:
        raise UsageError("the server does not answer; start it again with `lsp-harness api`") from error
