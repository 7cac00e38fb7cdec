"""The client of the official SDK, over both transports and in both versions of the protocol."""

import asyncio
import json
from typing import Any

import pytest
from mcp_types import ElicitResult

from tests.mcp.conftest import GEO, LATEST, Connect, ServedFolder, connect_forked, read_result_text

TOOLS = {
    *("find_symbol", "references", "get_context", "relations", "locate"),
    *("fix_error", "digest", "docs"),
    *("verify_file", "verify_change", "propose_edit", "run_turn"),
}
WRONG, RIGHT = (f"```python\ndef area(radius):\n    return {text} * radius ** 2\n```" for text in ("tau", "math.pi"))


async def test_a_client_lists_calls_and_reads(connect: Connect, served: ServedFolder):
    served.script("edit", RIGHT, RIGHT, RIGHT)
    async with connect(served) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools.keys() == TOOLS
        assert all(tool.description and tool.input_schema["properties"] for tool in tools.values())
        found = await client.call_tool("find_symbol", {"name": "area"})
        assert "def area(radius):\n    return 3 * radius" in read_result_text(found)

        lines: list[str] = []

        async def follow(progress: float, total: float | None, message: str | None) -> None:
            lines.append(message or "")

        proposed = await client.call_tool("propose_edit", {"task": "use math.pi in area"}, progress_callback=follow)
        assert "+    return math.pi * radius ** 2" in read_result_text(proposed)
        assert "Generate" in lines

        session = (proposed.structured_content or {})["session"]
        sessions = (await client.read_resource("lsp-harness://sessions")).contents[0]
        assert session in sessions.text  # pyright: ignore[reportAttributeAccessIssue] - it is a text
        templates = {item.uri_template for item in (await client.list_resource_templates()).resource_templates}
        assert "lsp-harness://verdicts/{session}/{turn}" in templates
    assert (served.root / "geo.py").read_text() == GEO


async def test_both_versions_of_the_protocol_are_offered(
    connect: Connect, served: ServedFolder, request: pytest.FixtureRequest
):
    async with connect(served) as client:
        expected = LATEST if LATEST in request.node.name else "2025-11-25"
        assert client.protocol_version == expected


async def test_a_wrong_call_is_an_error_in_words(connect: Connect, served: ServedFolder):
    async with connect(served) as client:
        missing = await client.call_tool("find_symbol", {"name": "volume"})
        assert missing.is_error
        assert "there is no symbol volume" in read_result_text(missing)
        outside = await client.call_tool("verify_change", {"path": "../x.py", "text": "x = 1\n"})
        assert outside.is_error
        assert "outside of the workspace" in read_result_text(outside)


async def test_the_messages_name_no_tool_that_the_server_lacks(served: ServedFolder):
    async with connect_forked(served, LATEST) as client:
        missing = read_result_text(await client.call_tool("find_symbol", {"name": "aera"}))
        assert "there is no symbol aera in the workspace; the most similar names are: area" in missing
        no_file = read_result_text(await client.call_tool("verify_file", {"path": "src/geo.py"}))
        assert "there is no file src/geo.py; the most similar are: geo.py" in no_file
        folder = read_result_text(await client.call_tool("verify_file", {"path": "."}))
        assert "is a folder" in folder
        assert not any(word in f"{missing} {no_file} {folder}".split() for word in ("grep", "glob", "read", "edit"))


async def test_tools_return_relations_fixes_digests_and_documentation(served: ServedFolder):
    (served.root / "shop.py").write_text("class Cart:\n    def total(self):\n        return 0\n")
    (served.root / "test_shop.py").write_text("import shop\n\n\ndef test_total(cart):\n    assert cart.total() == 0\n")
    (served.root / "broken.py").write_text("def volume(side)\n    return side ** 3\n")
    output = "geo.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n"
    async with connect_forked(served, LATEST) as client:
        relations = read_result_text(await client.call_tool("relations", {"name": "area"}))
        assert relations.startswith("geo.py:4-5 function area\n\nwhat calls it:\n  geo.py:9 edge")
        tests = read_result_text(await client.call_tool("relations", {"name": "Cart/total"}))
        assert "its tests:\n  test_shop.py:5 test_total (not proved)" in tests
        context = read_result_text(await client.call_tool("get_context", {"name": "Cart/total"}))
        assert "perhaps its tests:\n  test_shop.py:5 test_total (not proved)" in context
        fixed = read_result_text(await client.call_tool("fix_error", {"path": "broken.py"}))
        assert "-def volume(side)\n+def volume(side):" in fixed
        assert fixed.endswith("(not applied)")
        nothing = read_result_text(await client.call_tool("fix_error", {"path": "geo.py", "line": 1}))
        assert "there is no error on this line (syntax" in nothing
        assert "F401" in read_result_text(await client.call_tool("digest", {"output": output}))
        docs = read_result_text(await client.call_tool("docs", {"name": "geo.area"}))
        assert docs.splitlines()[0] == "geo: def area(radius)"
        located = read_result_text(await client.call_tool("locate", {"task": "make edge faster"}))
        assert located.startswith("geo.py:8-9 function edge\ndef edge(radius):")
    assert (served.root / "broken.py").read_text().startswith("def volume(side)\n")


async def test_a_call_that_is_cancelled_ends_its_turn(connect: Connect, served: ServedFolder):
    served.script({"text": "Let me think", "hang": True})
    async with connect(served) as client:
        begun = asyncio.Event()

        async def follow(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        call = asyncio.ensure_future(
            client.call_tool("propose_edit", {"task": "use math.pi in area"}, progress_callback=follow)
        )
        await asyncio.wait_for(begun.wait(), 60)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        # a session that still ran would be locked, and would have no end
        text = ""
        async with asyncio.timeout(30):
            while "cancelled" not in text:
                resource: Any = (await client.read_resource("lsp-harness://sessions")).contents[0]
                [row] = [row for row in json.loads(resource.text) if row["driver"] == "code"]
                shown: Any = (await client.read_resource(f"lsp-harness://sessions/{row['id']}")).contents[0]
                text = shown.text


@pytest.mark.parametrize("given", [{"allow": True}, {"allow": True, "remember": "always"}])
async def test_a_turn_asks_the_user_of_the_client(served: ServedFolder, given: dict[str, Any]):
    served.script("edit", RIGHT, RIGHT, RIGHT)
    questions: list[str] = []

    async def answer(context: Any, parameters: Any) -> ElicitResult:
        questions.append(parameters.message)
        assert parameters.requested_schema["properties"]["remember"]["enum"] == ["once", "session", "always"]
        return ElicitResult(action="accept", content=given)

    async with connect_forked(served, "legacy", elicitation_callback=answer) as client:
        result = await client.call_tool("run_turn", {"prompt": "use math.pi in area", "driver": "code"})
    assert "; applied" in read_result_text(result)
    [question] = questions
    assert "geo.py" in question
    settings = served.home / "config.toml"
    assert (settings.exists() and 'pattern = "geo.py"' in settings.read_text()) == ("remember" in given)
    assert "math.pi * radius ** 2" in (served.root / "geo.py").read_text()


async def test_without_a_person_who_allows_an_edit_no_file_is_written(connect: Connect, served: ServedFolder):
    served.script("edit", RIGHT, RIGHT, RIGHT)
    async with connect(served) as client:
        result = await client.call_tool("run_turn", {"prompt": "use math.pi in area", "driver": "code"})
    assert "not applied" in read_result_text(result)
    assert "nobody is there to answer" in read_result_text(result)
    assert (served.root / "geo.py").read_text() == GEO
