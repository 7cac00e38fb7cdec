"""Generator of `docs/checks.md`: `python -m tools.checks_page`."""

import sys

from lsp_harness.verify import checks

PAGE_HEAD = """# Checks

Generated from the classes in `lsp_harness/verify/checks.py` by `make docs`; do not edit.

An edit must pass these checks, from cheap to expensive, before it is offered. The first failure ends the run, and its
line is part of the next prompt. A check that is not possible is shown as `skipped` with its reason, and never counts as
passed. The settings belong to [`[verification]`](config.md#verification).

What a verdict [is called](verification.md#what-a-verdict-says) depends on what was looked at: only `tests` decide what
an edit does, and only `gone` decides whether a diagnostic is gone.

| check | for | setting | passes if | a finding begins with |
| --- | --- | --- | --- | --- |
"""


def render() -> str:
    """Return docs/checks.md: the table of the checks, as Markdown."""
    rows = [
        f"| `{check.name}` | {'fixes' if check.is_about_finding else 'all edits'} "
        f"| {f'`{check.setting}`' if check.setting else 'always on'} | {check.criterion} | `{check.feedback_label}` |\n"
        for check in checks.CHECKS
    ]
    return "".join([PAGE_HEAD, *rows])


if __name__ == "__main__":
    sys.stdout.write(render())
