"""Several prompts in one session, and the same session continued by a second client."""

import asyncio

from lsp_harness.sdk import HarnessClient, TextDelta


async def ask(client: HarnessClient, prompt: str) -> None:
    """Print the prompt and its answer."""
    print(f"> {prompt}")
    async for event in await client.send(prompt):
        if isinstance(event, TextDelta):
            print(event.content, end="", flush=True)
    print()


async def main() -> None:
    """Talk, leave, and come back."""
    # a small model would call a tool instead of answering
    async with HarnessClient(driver="chat", allowed_tools=[]) as client:
        await ask(client, "My favourite colour is teal.")
        await ask(client, "Which colour did I name?")
        session_id = client.session_id
    async with HarnessClient(resume=session_id, driver="chat", allowed_tools=[]) as client:
        print(f"resumed {client.session_id} with {client.started.resumed_events} events")
        await ask(client, "And now?")


if __name__ == "__main__":
    asyncio.run(main())
