"""Prompts of a given size, made of real files."""

from benchmarks.engine.lab import Lab
from lsp_harness.errors import UsageError


async def make_prompt(lab: Lab, tokens: int, number: int = 0) -> str:
    """Return source text of about `tokens` tokens in whole lines. The text begins with file `number`.

    Raises:
        UsageError: The files of the edits have less text.
    """
    edits = lab.edits
    lines: list[str] = []
    tokens_left = tokens
    for edit in [*edits[number:], *edits[:number]]:
        text = [f"{line}\n" for line in (edit.before + edit.text + edit.after).split("\n")]
        for line, cost in zip(text, await lab.engine.client.count(text), strict=True):
            if cost > tokens_left:
                return "".join(lines)
            lines.append(line)
            tokens_left -= cost
    raise UsageError(f"the edits have fewer than {tokens} tokens of text; name a larger repository with --repo")
