"""An empty index."""

from collections.abc import Callable
from typing import Any

from lsp_harness.index.index_query import IndexQuery


class EmptyExecutor:
    """An executor that answers each question of the index with its default."""

    async def run(self, uri: str, question: Callable[..., Any], default: Any, *, is_slow: bool = False) -> Any:
        return default


NO_INDEX = IndexQuery(EmptyExecutor())
