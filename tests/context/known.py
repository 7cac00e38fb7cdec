"""An empty index."""

from collections.abc import Callable, Mapping
from typing import Any


class Nothing:
    async def ask(self, uri: str, read: Callable[..., Any], otherwise: Any, *, slow: bool = False) -> Any:
        return otherwise

    def opened(self, uri: str) -> Mapping[str, Any]:
        return {}
