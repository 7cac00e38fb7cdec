"""Tests that a retry gets the documentation of the packages that the failed attempt used."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.schema import Config
from lsp_harness.errors import NoAnswer
from lsp_harness.inference.request import ChatRequest
from lsp_harness.inference.scripted_engine import prompt_text
from lsp_harness.text.edit import apply
from lsp_harness.text.position import Span
from tests.harness import tools
from tests.harness.bench import Bench, Make, propose_fix
from tests.harness.tools import make_settings
from tests.knowledge.packages import REQUESTS, SITE, install, make_venv, write
from tests.support import markup

pytestmark = pytest.mark.process

BROKEN = """
    import requests


    def load(url):
        reply = requests.get(url)
        return replay.text
        #      ^^ F821 what is this
    """
WRONG = "```python\ndef load(url):\n    return requests.fetch(adress).text\n```"
RIGHT = "```python\ndef load(url):\n    return requests.get(url).text\n```"
NO_FETCH = "requests 2.32.3 has no fetch; it has: patch(url, data=None, **kwargs)"
GET = "requests 2.32.3 has: get(url, params=None, **kwargs)"


def make_edit_settings(candidates: int, retries: int, **more: Any) -> Config:
    """Return settings for fixes that may add a call of a library, because only these get documentation."""
    verification = {"kept": False, **more.pop("verification", {})}
    return tools.make_edit_settings(candidates, retries, verification=verification, **more)


@pytest.fixture
def site_packages(tmp_path: Path) -> Path:
    site = make_venv(tmp_path)
    install(site, "requests", "2.32.3", REQUESTS)
    return site


def rewrite_prompts(b: Bench) -> list[str]:
    return [prompt_text(request) for request in b.engine.foreground_requests if isinstance(request, ChatRequest)]


async def test_a_retry_lists_the_names_that_the_package_has(bench: Make, site_packages: Path):
    b = bench("return requests.fetch(adress)", WRONG, RIGHT, config=make_edit_settings(3, 2))
    src = b.open(BROKEN)
    proposal = await propose_fix(b, src)
    assert b"return requests.get(url).text\n" in apply(src.document.data, proposal.edits)
    first, second = rewrite_prompts(b)
    for prompt in (first, second):
        said = prompt[prompt.index("Earlier attempts failed:") :].strip().splitlines()
        assert said[1].startswith("LINT: F821 Undefined name `adress`")
        assert said[-1] == NO_FETCH


async def test_a_retry_shows_the_signature_of_a_wrong_call(bench: Make, site_packages: Path):
    b = bench("return requests.get(adress, query=1)", RIGHT, config=make_edit_settings(2, 1))
    await propose_fix(b, b.open(BROKEN))
    assert rewrite_prompts(b)[0].strip().endswith(GET)


async def test_an_upgraded_package_is_used_without_a_restart(bench: Make, site_packages: Path):
    b = bench(*["return requests.get(adress)", RIGHT] * 2, config=make_edit_settings(2, 1))
    src = b.open(BROKEN)
    await propose_fix(b, src)
    (site_packages / "requests-2.32.3.dist-info").rename(site_packages / "requests-3.0.dist-info")
    write(site_packages, {"requests-3.0.dist-info/METADATA": "Name: requests\nVersion: 3.0\n"})
    write(site_packages, {"requests/api.py": "def get(url, /): ...\n"})
    await propose_fix(b, src)
    assert rewrite_prompts(b)[0].strip().endswith(GET)
    assert rewrite_prompts(b)[1].strip().endswith("requests 3.0 has: get(url, /)")


async def test_documentation_has_room_in_the_budget_for_the_task_or_is_left_out(bench: Make, site_packages: Path):
    b = bench(
        "return requests.get(adress)",
        RIGHT,
        config=make_edit_settings(2, 1, context={"task_budget": 20, "docs_budget": 0}),
    )
    await propose_fix(b, b.open(BROKEN))
    [prompt] = rewrite_prompts(b)
    assert "LINT: F821 Undefined name `adress`" in prompt
    assert "requests 2.32.3" not in prompt


@pytest.mark.parametrize("knowledge", [{"enabled": False}, {"python": "elsewhere"}])
async def test_the_settings_choose_the_environment_of_the_documentation(
    bench: Make, site_packages: Path, knowledge: dict[str, object]
):
    b = bench("return requests.get(adress)", RIGHT, config=make_edit_settings(2, 1, knowledge=knowledge))
    await propose_fix(b, b.open(BROKEN))
    assert "F821" in rewrite_prompts(b)[0]
    assert "requests 2.32.3" not in rewrite_prompts(b)[0]


async def test_another_environment_in_the_settings_is_used_at_once(bench: Make, site_packages: Path):
    b = bench(*["return requests.get(adress)", RIGHT] * 2, config=make_edit_settings(2, 1))
    src = b.open(BROKEN)
    await propose_fix(b, src)
    install(
        b.folder / "other" / Path(SITE).relative_to(".venv"), "requests", "1.0", {"requests.py": "def get(u): ...\n"}
    )
    b.harness.configure(make_settings(b.harness.config, knowledge={"python": "other"}))
    await propose_fix(b, src)
    assert [prompt.strip().splitlines()[-1] for prompt in rewrite_prompts(b)] == [GET, "requests 1.0 has: get(u)"]


async def test_a_retry_without_documentation_is_made_if_the_package_has_a_secret(bench: Make, site_packages: Path):
    token = "ghp_" + "a" * 36
    write(site_packages, {"requests/api.py": f'def get(url, key="{token}"): ...\n'})
    b = bench("return requests.get(adress)", RIGHT, config=make_edit_settings(2, 1))
    await propose_fix(b, b.open(BROKEN))
    assert rewrite_prompts(b)[0].strip().endswith('requests 2.32.3 has: get(url, key="…")')
    assert token not in "".join([*rewrite_prompts(b), *b.engine.counted])


async def test_an_edit_by_instruction_gets_documentation_within_the_remaining_budget(bench: Make, site_packages: Path):
    config = make_settings(generation={"candidates": 1, "max_retries": 1}, verification={"debounce_ms": 0})
    text = "import requests\n\n\ndef <|>load(url):\n    return 1\n"
    b = bench(WRONG, RIGHT, WRONG, "```python\ndef load(:\n```", config=config)
    src = markup.parse(text, b.folder / "a.py")
    b.harness.open(src.document)

    async def instruct(words: str) -> None:
        where = b.harness.snapshot(src.document.uri), Span(src.marks[0], src.marks[0])
        await b.harness.edits.instruct(*where, words, lambda progress: None)

    await instruct("load it")
    assert (
        rewrite_prompts(b)[1]
        .strip()
        .endswith(f"Earlier attempts failed:\nLINT: F821 Undefined name `adress`\n{NO_FETCH}")
    )
    b.harness.configure(replace(config, context=replace(config.context, task_budget=12)))
    with pytest.raises(NoAnswer):
        await instruct("load it in nine words and not one less")
    assert rewrite_prompts(b)[3].strip().endswith("Instruction: load it in nine words and not one less")


@pytest.mark.parametrize(("share", "shown"), [(128, 2), (8, 1), (0, 0)])
async def test_a_first_prompt_has_documentation_within_its_budget(
    bench: Make, site_packages: Path, share: int, shown: int
):
    config = make_edit_settings(1, 1, context={"docs_budget": share}, verification={"debounce_ms": 0})
    b = bench("```python\ndef load(url):\n    return requests.get(url).text\n```", config=config)
    text = "import requests\n\n\ndef <|>load(url):\n    requests.patch(url)\n    return requests.get(url)\n"
    src = markup.parse(text, b.folder / "a.py")
    b.harness.open(src.document)
    where = b.harness.snapshot(src.document.uri), Span(src.marks[0], src.marks[0])
    made = await b.harness.edits.instruct(*where, "give its text", lambda progress: None)
    [prompt] = rewrite_prompts(b)
    said = ["patch(url, data=None, **kwargs)\n", "get(url, params=None, **kwargs)  # Sends a GET request.\n"]
    assert [line in prompt for line in said] == [n < shown for n in range(2)]
    assert ("What the installed packages have:\n```python\n# requests 2.32.3 has\n" in prompt) == bool(shown)
    [built] = [
        one.data for one in b.harness.services.session.log.turns[made.proposal.turn] if one.type == "context.built"
    ]
    assert ("packages" in built["sections"]) == bool(shown)


async def test_a_text_outside_of_the_workspace_has_no_packages(bench: Make, site_packages: Path):
    b = bench("return requests.get(adress)", RIGHT, config=make_edit_settings(2, 1))
    b.harness.workspace.set_roots([])
    await propose_fix(b, b.open(BROKEN))
    assert "requests 2.32.3" not in rewrite_prompts(b)[0]
