"""Prompts of a wanted size, cut from real files."""

from lsp_harness.bench.lab import Lab
from lsp_harness.errors import UsageError


async def make_prompt(lab: Lab, tokens: int, number: int = 0) -> str:
    """Source text of about `tokens` tokens (whole lines); another `number` begins with another file.

    Raises UsageError when the edits at hand have not so much text.
    """
    edits = lab.edits
    lines: list[str] = []
    left = tokens
    for edit in [*edits[number:], *edits[:number]]:
        text = [f"{line}\n" for line in (edit.before + edit.text + edit.after).split("\n")]
        for line, cost in zip(text, await lab.ours.client.count(text), strict=True):
            if cost > left:
                return "".join(lines)
            lines.append(line)
            left -= cost
    raise UsageError(f"the edits have fewer than {tokens} tokens of text; name a larger repository with --repo")
