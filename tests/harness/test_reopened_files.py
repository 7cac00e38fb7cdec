"""Files that are opened again after the engine ended, with an engine process and its prompts on disk."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.completion.document_completions import DocumentCompletions
from lsp_harness.config.schema import Config
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.visited_files import IDLE_S
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.supervisor import end_engine
from lsp_harness.workspace.workspace import Workspace
from tests.harness.test_visited_files import ManualClock
from tests.support import markup
from tests.support.markup import Source

FAR = "".join(f"def f{n}(a, b):\n    x = a + b\n    return x * {n}\n" for n in range(11))
"""About 220 tokens: what is evaluated again, up to 64 tokens, must be less than `KEPT_SHARE` of the whole prompt."""
HOT = FAR + "def area(r):\n    return r * <|>\n" + FAR
COLD = "x = 1\n<|>"
KEPT_SHARE = 0.15
"""Share of a prompt that is evaluated at most, if the rest of it is on disk or in memory: its healing, and its end."""


@pytest.fixture(params=["tiny", pytest.param("real", marks=pytest.mark.model)])
def engine_config(request: pytest.FixtureRequest, config: Config, home: Path) -> Config:
    """Return settings with a model of the test, or with the default model."""
    if request.param == "tiny":
        return config
    model = replace(Config().model, path=str(resolve_model(Config().model.path)))
    return replace(config, model=model, engine=replace(config.engine, threads=2))


class Session:
    """A session of a user: a harness, an engine of its own, and a time that the test moves on."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.config, self.folder, self.timer = config, folder, ManualClock()
        self.harness = Harness(config, make_engine, Workspace([folder]), works_ahead=True, clock=self.timer.clock)

    def open(self, text: str, name: str) -> Source:
        src = markup.parse(text, self.folder / name)
        self.harness.open(src.document)
        return src

    async def warm(self, src: Source, offset: int | None = None) -> None:
        """Prepare a place, and wait until that is done."""
        uri = src.document.uri
        self.harness.completions.warm(uri, offset)
        # the warming begins after the present message was handled
        while not (state := self.harness.documents.get(uri).find_part(DocumentCompletions)):
            await self.harness.services.engines.current.props()
        await state.prefetch.wait_until_idle()

    async def prepare_hot_files(self) -> None:
        self.timer.move(IDLE_S)
        await self.harness.completions.hot_files.wait_until_idle()

    async def complete(self, src: Source) -> int:
        """Ask for a completion at the marked place, and return how many tokens of its prompt were evaluated."""
        before, _ = await self.count_tokens()
        snapshot = self.harness.snapshot(src.document.uri)
        await self.harness.completions.complete(snapshot, src.cursor, automatic=False, single=True)
        after, _ = await self.count_tokens()
        return after - before

    async def count_tokens(self) -> tuple[int, int]:
        """Return how many prompt tokens the engine evaluated and reused so far."""
        totals: dict[str, Any] = (await self.harness.services.engines.current.props()).raw["totals"]
        return totals["prompt_tokens_evaluated"], totals["prompt_tokens_reused"]


@asynccontextmanager
async def open_session(config: Config, folder: Path) -> AsyncIterator[Session]:
    """Begin a session. At its end the engine ends too, and writes its prompts to disk."""
    session = Session(config, folder)
    yield session
    await session.harness.aclose()
    await end_engine(config)


async def work_on_hot_file(config: Config, folder: Path) -> int:
    """Work in the hot file as the first session does, and return the number of evaluated tokens."""
    async with open_session(config, folder) as first:
        src = first.open(HOT, "hot.py")
        (folder / "hot.py").write_bytes(src.document.data)
        await first.warm(src, src.cursor)
        evaluated, _ = await first.count_tokens()
        first.harness.close(src.document.uri)
        return evaluated


@pytest.mark.timeout(240)
async def test_the_prompt_of_a_hot_file_is_read_from_disk_at_its_opening(engine_config: Config, tmp_path: Path) -> None:
    before = await work_on_hot_file(engine_config, tmp_path)
    async with open_session(engine_config, tmp_path) as second:
        src = second.open(HOT, "hot.py")
        await second.warm(src)
        evaluated, reused = await second.count_tokens()
        assert evaluated < KEPT_SHARE * before < reused
        # nothing of the full prompt is left for the user's own request
        assert await second.complete(src) < KEPT_SHARE * before


@pytest.mark.timeout(240)
async def test_a_hot_file_is_prepared_before_it_is_opened(engine_config: Config, tmp_path: Path) -> None:
    without_disk = replace(engine_config, engine=replace(engine_config.engine, kv_disk_mb=0))
    before = await work_on_hot_file(without_disk, tmp_path)
    async with open_session(without_disk, tmp_path) as second:
        await second.warm(second.open(COLD, "cold.py"))
        await second.prepare_hot_files()
        prepared, _ = await second.count_tokens()
        assert prepared > before / 2
        assert await second.complete(second.open(HOT, "hot.py")) < KEPT_SHARE * before
