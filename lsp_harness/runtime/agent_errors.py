"""The errors of the runtime, each with the code and the remedy that clients read."""

from http import HTTPStatus
from typing import Any, ClassVar

from lsp_harness.errors import HarnessError


class AgentError(HarnessError):
    """Base class of the errors about agents.

    Attributes:
        code: The name of the error in HTTP answers, events, the SDK and LSP errors.
        http_status: The status of an HTTP answer.
        resolution: What the user can do, in one sentence.
    """

    code: ClassVar[str] = "AGENT_ERROR"
    http_status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR

    def __init__(self, message: str, resolution: str = "") -> None:
        super().__init__(message)
        self.resolution = resolution

    @property
    def fields(self) -> dict[str, Any]:
        """The error as the object `error` of an HTTP answer."""
        return {"code": self.code, "message": self.message, "resolution": self.resolution}


class CliNotFound(AgentError):
    """The program of the agent is not installed."""

    code = "CLI_NOT_FOUND"
    http_status = HTTPStatus.FAILED_DEPENDENCY


class AuthRequired(AgentError):
    """The agent wants a login or a key first."""

    code = "AUTH_REQUIRED"
    http_status = HTTPStatus.UNAUTHORIZED


class SpawnFailed(AgentError):
    """The program cannot be started, or it ended before it was ready."""

    code = "SPAWN_FAILED"


class AgentTimeout(AgentError):
    """The agent did not answer in time. It goes on, and it can be asked again."""

    code = "TIMEOUT"
    http_status = HTTPStatus.GATEWAY_TIMEOUT


class AgentBusy(AgentError):
    """The agent works on another message."""

    code = "BUSY"
    http_status = HTTPStatus.CONFLICT


class AgentBlocked(AgentError):
    """The agent waits for the answer to a question. A text would answer the question instead."""

    code = "BLOCKED"
    http_status = HTTPStatus.CONFLICT


class AgentNotReady(AgentError):
    """The failure that an agent cannot take a message: its state is not known, or it is starting or has ended."""

    code = "NOT_READY"
    http_status = HTTPStatus.CONFLICT


class UnsentText(AgentError):
    """The prompt of the agent has a text that somebody typed and did not send. A message would be appended to it."""

    code = "UNSENT_TEXT"
    http_status = HTTPStatus.CONFLICT


class TooManyAgents(AgentError):
    """The refusal of another agent: as many run as the settings allow."""

    code = "MAX_AGENTS"
    http_status = HTTPStatus.TOO_MANY_REQUESTS


class UnknownAgent(AgentError):
    """There is no agent with this id."""

    code = "NOT_FOUND"
    http_status = HTTPStatus.NOT_FOUND


class InvalidSpec(AgentError):
    """The description of a new agent, or a message for it, is wrong."""

    code = "INVALID"
    http_status = HTTPStatus.BAD_REQUEST


class SpawnDenied(AgentError):
    """The permission gate does not allow to start the agent."""

    code = "DENIED"
    http_status = HTTPStatus.FORBIDDEN
