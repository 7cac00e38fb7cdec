"""The parts of the harness that an evaluation can switch off, and the settings that do so."""

from collections.abc import Mapping, Sequence
from typing import Any

from lsp_harness.config.load import apply_editor_settings
from lsp_harness.config.schema import Config
from lsp_harness.errors import UsageError

Settings = Mapping[str, Mapping[str, Any]]
ABLATIONS: Mapping[str, Settings] = {
    "one-candidate": {"generation": {"candidates": 1, "max_retries": 0}},
    "no-context": {
        "context": {"related_budget": 0, "docs_budget": 0, "few_shot_examples": 0, "session_budget": 0},
        "completion": {"repository_tokens": 0, "outline_tokens": 0},
    },
    "no-retry": {"generation": {"max_retries": 0}},
    "no-knowledge": {"knowledge": {"enabled": False}, "context": {"docs_budget": 0}},
    "no-review": {"verification": {"diff_review": False}},
    "no-checks": {"verification": {"kept": False, "lint": False, "test": False}},
    "no-tests": {"verification": {"test": False}},
    "no-plan": {"generation": {"plan": False}},
    "no-repairs": {"generation": {"repairs": False}},
}
"""Name → the settings that take a part away."""


def apply_ablations(config: Config, names: Sequence[str]) -> Config:
    """Return the settings without some parts of the harness.

    Raises:
        UsageError: There is no such ablation, or this version does not have the part yet.
    """
    for name in names:
        if name not in ABLATIONS:
            raise UsageError(f"there is no ablation {name!r}; the ablations are {', '.join(ABLATIONS)}")
        config, problems = apply_editor_settings(config, ABLATIONS[name])
        if problems:
            raise UsageError(f"the ablation {name} is not possible: {problems[0]}")
    return config


def set_candidates(config: Config, count: int) -> Config:
    """Return the settings with a number of candidates; 0 leaves them as they are."""
    if count < 0:
        raise UsageError(f"the number of candidates must be 0 or more, not {count}")
    return apply_editor_settings(config, {"generation": {"candidates": count}})[0] if count else config
