"""Reports the files that change in a folder. Each folder has a thread, because a large one is registered slowly."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path

QUIET_MS = 400
"""Changes that follow each other as quickly are one report."""
STEP_MS = 50


class _StopSignal:
    """The stop signal of a watch. The watch reads it for the first time after its folder is registered."""

    def __init__(self, watch: "FolderWatch") -> None:
        self._watch = watch
        self.is_stopped = False

    def is_set(self) -> bool:
        self._watch.report_registration()
        return self.is_stopped


class FolderWatch:
    """The watch of one folder.

    Args:
        folder: The folder. Its subfolders are watched, too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._signal = _StopSignal(self)
        self._loop = asyncio.get_running_loop()
        self._failure: OSError | None = None
        self._is_registered = False
        self._registered = asyncio.Event()
        self._batches: asyncio.Queue[set[Path] | None] = asyncio.Queue()

    async def start(self) -> None:
        """Begin to watch, and wait until no change is missed any more. Other work of the event loop goes on.

        Raises:
            OSError: The folder cannot be watched.
        """
        # no task of the shared thread pool: it has few threads, and this one stays until the end
        threading.Thread(target=self._run, name=f"watch {self._folder.name}", daemon=True).start()
        await self._registered.wait()
        if self._failure:
            raise self._failure

    def stop(self) -> None:
        """End the watch. `changes` ends soon after."""
        self._signal.is_stopped = True

    async def changes(self) -> AsyncGenerator[set[Path]]:
        """Yield the files that changed together, until the watch ends."""
        while (batch := await self._batches.get()) is not None:
            yield batch

    def report_registration(self) -> None:
        """Let `start` return. The thread of the watch calls it."""
        if not self._is_registered:
            self._is_registered = True
            self._call(self._registered.set)

    def _run(self) -> None:
        import watchfiles

        try:
            batches = watchfiles.watch(
                self._folder, debounce=QUIET_MS, step=STEP_MS, stop_event=self._signal, raise_interrupt=False
            )
            for batch in batches:
                paths = {Path(path) for _, path in batch}
                self._call(lambda paths=paths: self._batches.put_nowait(paths))
        except (OSError, RuntimeError) as error:
            self._failure = error if isinstance(error, OSError) else OSError(str(error))
        finally:
            self.report_registration()
            self._call(lambda: self._batches.put_nowait(None))

    def _call(self, function: Callable[[], object]) -> None:
        """Call a function in the event loop, unless that has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)
