"""Measures what a model can do, with a few fixed prompts: choose a word, fill a hole, and answer questions with tools.

A model must pass all prompts of an ability, so that the measurement ends at the first one that fails.
"""

import re
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lsp_harness.chat.chat_model import Model
from lsp_harness.coding.plan.understanding import Intent, understand_prompt
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.events.session_events import TurnStopped
from lsp_harness.inference.client import Engine
from lsp_harness.inference.models.measured_abilities import MeasuredAbilities, keep_abilities
from lsp_harness.inference.request import Chunk, Infill, InfillContext, Sampling

WORDS: tuple[tuple[str, Intent], ...] = (
    ("why does the parser skip empty lines?", "explain"),
    ("add a parameter timeout to open_socket", "edit"),
    ("close raises a ValueError, repair it", "fix"),
    ("write unit tests for Queue", "generate"),
)
HOLES = (
    (
        "def add(first, second):\n    return ",
        "\n\n\ndef subtract(first, second):\n    return first - second\n",
        "first + second",
    ),
    ("for (let index = 0; index < items.length; ", ") {\n  total += items[index];\n}\n", "index"),
)
"""The text before a hole, the text behind it, and what its answer contains."""
FILES = {
    "shop.py": "def apply_voucher(price, percent):\n    return price - price * percent / 100\n",
    "users.py": "class UserStore:\n    def load(self, name):\n        return self.rows[name]\n",
    "notes.txt": "The colour of the door is turquoise.\n",
}
"""The project that the questions are about."""
QUESTIONS = (
    ("Which file defines apply_voucher?", r"\bshop\.py\b"),
    ("Which methods does the class UserStore in users.py have?", r"\bload\b"),
    ("What is the colour of the door? Read notes.txt.", r"\bturquoise\b"),
)
"""A question, and the pattern of its answer."""
NO_ANSWER = re.compile(r'"(?:name|arguments|parameters)"\s*:|</?tool|<\|')
"""A part of a tool call or of a prompt, which is printed by models that cannot talk with tools."""
MAX_TOKENS = 24
"""Most tokens of what fills a hole."""
Ask = Callable[[str, str], Awaitable[TurnStopped]]
"""Asks a model a question about a folder, in a conversation with tools that only read."""


@dataclass(frozen=True, slots=True)
class AbilityMeasurement:
    """The measurement of one model.

    Attributes:
        engine: The client of the model, which somebody else closes.
        ask: Asks the model a question, with tools that read a folder.
    """

    engine: Engine
    ask: Ask

    async def run(self) -> MeasuredAbilities:
        """Return what the model can do. Raise HarnessError if it cannot answer at all."""
        words = await self._chooses_words()
        holes = await self._fills_holes()
        # who cannot choose a word does not choose the right tool
        tools = words and await self._uses_tools()
        return MeasuredAbilities(words, holes, tools)

    async def _chooses_words(self) -> bool:
        for prompt, intent in WORDS:
            if await understand_prompt(self.engine, prompt, 0.0) != intent:
                return False
        return True

    async def _fills_holes(self) -> bool:
        for prefix, suffix, expected in HOLES:
            request = Infill(InfillContext(prefix, suffix), sampling=Sampling(n_predict=MAX_TOKENS))
            answer = ""
            async with aclosing(cast("Any", self.engine.stream(request))) as chunks:
                async for chunk in cast("AsyncIterator[Chunk]", chunks):
                    answer += chunk.text
            if expected not in answer:
                return False
        return True

    async def _uses_tools(self) -> bool:
        with tempfile.TemporaryDirectory(prefix="lsp-harness-") as folder:
            for name, text in FILES.items():
                (Path(folder) / name).write_text(text)
            for question, answer in QUESTIONS:
                if not await self._answers(folder, question, answer):
                    return False
        return True

    async def _answers(self, folder: str, question: str, answer: str) -> bool:
        """Return whether the model answers a question in words that fit a pattern."""
        stopped = await self.ask(folder, question)
        text = stopped.text
        return stopped.reason == "completed" and re.search(answer, text) is not None and not NO_ANSWER.search(text)


async def measure_abilities(config: Config, model: Model, ask: Ask) -> MeasuredAbilities:
    """Measure what the model of the settings can do, and keep the result.

    Args:
        config: The settings, which name the model.
        model: The model.
        ask: Asks the model a question, with tools that read a folder.

    Raises:
        HarnessError: The model does not exist, or cannot answer at all.
    """
    warn_once(f"measuring once what {model.name} can do")
    abilities = await AbilityMeasurement(model.engine, ask).run()
    keep_abilities(config, abilities)
    return abilities
