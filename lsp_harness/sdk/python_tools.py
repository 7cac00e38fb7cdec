"""Python functions as tools of the model: the decorator `tool`.

A decorated function stays an ordinary function. A function without the decorator is a tool, too, with its own name and
the first line of its docstring.
"""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, overload

from lsp_harness.sdk.daemon_thread import call_in_thread
from lsp_harness.sdk.harness_options import usage_error

F = TypeVar("F", bound=Callable[..., Any])
MARK = "__lsp_harness_tool__"
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class PythonTool:
    """A function with the name and the description that the model sees."""

    function: Callable[..., Any]
    name: str
    description: str

    def as_async(self, failure: type[Exception]) -> Callable[..., Any]:
        """Return the function as a coroutine function with the same parameters.

        A function that is not async runs in a thread of its own, so that it does not stall the events.

        Args:
            failure: Raised in place of an exception of the function, with its name and its message for the model.
        """
        function = self.function
        is_async = inspect.iscoroutinefunction(function)

        @wraps(function)
        async def call(*args: Any, **keywords: Any) -> Any:
            try:
                result = function(*args, **keywords) if is_async else await call_in_thread(function, *args, **keywords)
                return await result if inspect.isawaitable(result) else result
            except Exception as error:
                raise failure(f"{type(error).__name__}: {error}") from error

        return call


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(*, name: str | None = None, description: str | None = None) -> Callable[[F], F]: ...
def tool(
    function: Callable[..., Any] | None = None, /, *, name: str | None = None, description: str | None = None
) -> Any:
    """Mark a function as a tool, with or without arguments.

    Args:
        function: The function, if the decorator has no arguments.
        name: The name of the tool. The default is that of the function.
        description: What the tool does. The default is the first line of the docstring.
    """

    def mark(marked: F) -> F:
        setattr(marked, MARK, {"name": name, "description": description})
        return marked

    return mark(function) if function is not None else mark


def collect_tools(functions: Sequence[Callable[..., Any]]) -> list[PythonTool]:
    """Return the tools of functions. Raise HarnessError if one cannot be a tool."""
    tools = [_read_tool(function) for function in functions]
    names = [item.name for item in tools]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise usage_error(f"several tools have the name {twice[0]}; give one of them another by @tool(name=…)")
    return tools


def _read_tool(function: Callable[..., Any]) -> PythonTool:
    if not callable(function):
        raise usage_error(f"{function!r} in tools is not a function")
    marks: dict[str, str | None] = getattr(function, MARK, {})
    name = marks.get("name") or getattr(function, "__name__", "")
    if not TOOL_NAME.fullmatch(name):
        raise usage_error(f"the tool {function!r} needs a name of letters, digits, _ and -: use @tool(name=…)")
    lines = (inspect.getdoc(function) or "").strip().splitlines()
    return PythonTool(function, name, marks.get("description") or (lines[0] if lines else ""))
