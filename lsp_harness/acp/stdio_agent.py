"""The agent over standard input and output, as editors start it."""

from acp import run_agent

from lsp_harness.acp.editor_agent import EditorAgent
from lsp_harness.harness.sessions.session_options import SessionOptions


async def serve_stdio(options: SessionOptions) -> None:
    """Serve a client until its output ends.

    Args:
        options: The options of all sessions.
    """
    agent = EditorAgent(options)
    try:
        # forks, and sessions that are closed or continued, are parts of the unstable protocol
        await run_agent(agent, use_unstable_protocol=True)
    finally:
        await agent.aclose()
