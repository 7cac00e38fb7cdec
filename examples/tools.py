"""Python functions as tools. They need the extra `mcp`: pip install 'lsp-harness[mcp]'."""

import asyncio

from lsp_harness.sdk import TextDelta, ToolEnd, query, tool


@tool
def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


@tool(name="weather", description="Say how the weather in a city is.")
async def get_weather(city: str) -> str:
    """Return the weather of a city that is always sunny."""
    await asyncio.sleep(0)
    return f"sunny in {city}"


async def main() -> None:
    """Ask a question that the tools answer."""
    tools = [count_words, get_weather]
    async for event in query("How is the weather in Paris?", tools=tools, allowed_tools=["mcp__sdk__weather"]):
        if isinstance(event, TextDelta):
            print(event.content, end="", flush=True)
        elif isinstance(event, ToolEnd):
            print(f"[{event.tool}: {event.output}]")
    print()


if __name__ == "__main__":
    asyncio.run(main())
