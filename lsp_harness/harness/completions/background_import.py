"""The import of a large module without delay for the next messages."""

import asyncio
import sys
from collections.abc import Callable
from importlib import import_module


def call_after_import(module: str, call: Callable[[], None]) -> None:
    """Call a function that needs a module, after the present message was handled."""
    loop = asyncio.get_running_loop()
    if module in sys.modules:
        loop.call_soon(call)
    else:
        # in a thread, because the import may take 0.2 s
        imported = loop.run_in_executor(None, import_module, module)
        imported.add_done_callback(lambda _: call())
