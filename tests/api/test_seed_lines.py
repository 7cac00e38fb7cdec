"""Tests of the commands and programs of the first description of the runtime, word by word.

They get the token from outside: curl by a file in CURL_HOME, and node by a WebSocket that offers a subprotocol.
"""

import asyncio
import json
import os

import pytest

from tests.api.conftest import ApiProcess, spawn, wait_for_status
from tests.support.programs import find_program_problem

TERMINAL_SNIPPET = """
const ws = new WebSocket(`ws://localhost:3100/ws/agents/${agentId}/terminal`);

// Receive terminal output
ws.onmessage = (event) => {
  if (event.data.startsWith('{')) {
    // Control message (e.g., { type: 'connected' })
    const ctrl = JSON.parse(event.data);
    console.log('Control:', ctrl.type);
  } else {
    // Raw terminal data - send to xterm.js
    terminal.write(event.data);
  }
};

// Send keyboard input
terminal.onData((data) => {
  ws.send(data);
});
"""
EVENTS_SNIPPET = """
const ws = new WebSocket('ws://localhost:3100/ws/events');

ws.onmessage = (event) => {
  const { event: eventType, data, timestamp } = JSON.parse(event.data);

  switch (eventType) {
    case 'agent_ready':
      console.log(`Agent ${data.agent.name} is ready`);
      break;
    case 'login_required':
      // Show terminal UI for user to authenticate
      openTerminal(data.agent.id, data.loginUrl);
      break;
  }
};
"""
needs_node = pytest.mark.skipif(bool(find_program_problem("node")), reason=find_program_problem("node"))


async def run_curl_line(api: ApiProcess, line: str) -> str:
    """Run a line of a shell, in which the port is that of the description, and return its output."""
    line = line.replace(":3100", f":{api.port}")
    environment = {**os.environ, "CURL_HOME": str(api.curl_home)}
    process = await asyncio.create_subprocess_shell(line, env=environment, stdout=-1, stderr=-1)
    async with asyncio.timeout(30):
        output, errors = await process.communicate()
    assert process.returncode == 0, errors
    return output.decode()


async def start_node(api: ApiProcess, program: str) -> asyncio.subprocess.Process:
    """Run a program in node whose WebSockets offer the token."""
    offer = f"""
const Plain = globalThis.WebSocket;
globalThis.WebSocket = class extends Plain {{
  constructor(url) {{ super(url, ['lsp-harness', 'lsp-harness.bearer.' + process.env.API_TOKEN]); }}
}};
{program.replace(":3100", f":{api.port}")}"""
    environment = {**os.environ, "API_TOKEN": api.token}
    flags = ("--experimental-websocket", "--no-warnings", "--input-type=commonjs", "-e")
    return await asyncio.create_subprocess_exec("node", *flags, offer, env=environment, stdout=-1, stderr=-1)


async def read_until(process: asyncio.subprocess.Process, *texts: str) -> str:
    """Read the output of a program until it has all texts, and end it."""
    assert process.stdout
    output = ""
    try:
        async with asyncio.timeout(30):
            while not all(text in output for text in texts):
                data = await process.stdout.read(65_536)
                assert data, f"{output}\n{await process.stderr.read() if process.stderr else ''}"
                output += data.decode("utf-8", "replace")
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    return output


@pytest.mark.parametrize("kind", ["echo", "shell", "fake"])
async def test_the_curl_lines_answer_as_the_description_says(api: ApiProcess, kind: str):
    agent = json.loads(
        await run_curl_line(
            api,
            'curl -X POST http://localhost:3100/agents \\\n  -H "Content-Type: application/json" \\\n'
            f'  -d \'{{"name": "my-{kind}", "type": "{kind}", "workdir": "{api.root}"}}\'',
        )
    )
    place = f"http://localhost:3100/agents/{agent['id']}"
    assert (agent["name"], agent["type"], agent["workdir"]) == (f"my-{kind}", kind, str(api.root))
    async with api.client() as client:
        await wait_for_status(client, agent["id"], "ready")
    message = "echo What files" if kind == "shell" else "What files"
    reply = json.loads(
        await run_curl_line(
            api,
            f'curl -X POST {place}/send \\\n  -H "Content-Type: application/json" \\\n'
            f'  -d \'{{"message": "{message}", "timeout": 30000}}\'',
        )
    )
    assert reply["sent"] is True
    assert "What files" in reply["response"]
    assert "echo What" not in reply["response"], "the message itself is no answer"
    logs = json.loads(await run_curl_line(api, f"curl {place}/logs?lines=50"))
    assert any("What files" in line for line in logs["lines"])
    assert len(json.loads(await run_curl_line(api, f"curl {place}/logs?tail=1"))["lines"]) == 1
    assert json.loads(await run_curl_line(api, f"curl {place}"))["status"] == "ready"
    assert json.loads(await run_curl_line(api, "curl http://localhost:3100/health"))["agents"]["ready"] == 1
    streamed = await run_curl_line(api, f"curl -N --max-time 2 {place}/stream || test $? = 28")
    assert "What files" in streamed
    assert await run_curl_line(api, f"curl -X DELETE -w '%{{http_code}}' {place}") == "204"
    assert json.loads(await run_curl_line(api, f"curl {place}"))["status"] == "stopped"


@needs_node
async def test_the_program_for_the_terminal_shows_and_types(api: ApiProcess):
    async with api.client() as client:
        agent = await spawn(client, "shell")
        program = f"""
const agentId = '{agent["id"]}';
let type;
const terminal = {{
  write: (text) => process.stdout.write(text),
  onData: (call) => {{ type = call; }},
}};
{TERMINAL_SNIPPET}
ws.addEventListener('message', (event) => {{
  if (event.data.startsWith('{{"type": "connected"')) {{
    // Resize terminal
    ws.send(JSON.stringify({{ type: 'resize', cols: 120, rows: 41 }}));
    type('stty size\\r');
  }}
}});
"""
        output = await read_until(await start_node(api, program), "Control: connected", "41 120")
        assert "Control: connected" in output


@needs_node
async def test_the_example_for_events_sees_an_agent_become_ready_and_its_login(api: ApiProcess):
    program = f"""
const openTerminal = (id, url) => console.log(`Login ${{id}} ${{url}}`);
{EVENTS_SNIPPET}
ws.addEventListener('open', () => console.log('open'));
"""
    node = await start_node(api, program)
    assert node.stdout
    async with asyncio.timeout(30):
        while b"open" not in await node.stdout.readline():
            pass
    async with api.client() as client:
        agent = await spawn(client, "fake", name="mine")
        await client.post(f"/agents/{agent['id']}/send?wait=false", json={"message": "/login"})
        output = await read_until(node, "Agent mine is ready", f"Login {agent['id']} https://login.example.com/")
    assert "state=end" in output, "the address of the login is whole"
