"""Tasks of completion that may outlive the request which started them."""

import asyncio
from typing import Any


class BackgroundTasks:
    """The tasks of one client that no request waits for. The client can wait for their end."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def add(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Cancel all tasks, and wait until the engine knows."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
