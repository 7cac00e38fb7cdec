"""A server of tools over stdio: `python -m tests.support.mcp_server [FLAW]`.

The flaw "silent" answers nothing, "dead" ends at once with a message, and "noisy" writes a lot to its standard error.
"""

import asyncio
import os
import sys

from mcp.server import MCPServer

server = MCPServer("demo")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail(reason: str) -> str:
    """Fail with a reason."""
    raise ValueError(reason)


@server.tool()
async def slow() -> str:
    """Never answer."""
    await asyncio.Event().wait()
    return ""


@server.tool()
def die() -> str:
    """End the server."""
    os._exit(3)


@server.tool()
def environment(name: str) -> str:
    """Return a variable of the environment."""
    return os.environ.get(name, "not set")


@server.tool()
def token() -> str:
    """Return something that looks like a secret."""
    return "ghp_" + "a" * 36


@server.tool()
def process() -> int:
    """Return the id of the process."""
    return os.getpid()


if __name__ == "__main__":
    flaw = sys.argv[1] if len(sys.argv) > 1 else ""
    if flaw == "dead":
        sys.exit("no licence")
    if flaw == "silent":
        sys.stdin.read()
    if flaw == "noisy":
        sys.stderr.write("noise\n" * 100_000)
    server.run(transport="stdio")
