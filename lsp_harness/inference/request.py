"""What is asked of a model and what comes back, in the terms of llama-server's `/completion`."""

from dataclasses import dataclass, field
from typing import Any, Literal

Priority = Literal["interactive", "normal", "background"]
PRIORITIES: tuple[Priority, ...] = ("interactive", "normal", "background")
Stop = Literal["eos", "word", "limit", "deadline", "cancelled"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen. `temperature` 0 is greedy; `t_max_predict_ms` counts from the first token."""

    n_predict: int = 64
    temperature: float = 0.0
    seed: int = 0
    top_k: int = 40
    top_p: float = 0.95
    stop: tuple[str, ...] = ()
    grammar: str = ""
    t_max_predict_ms: int = 0


@dataclass(frozen=True, slots=True)
class Continuation:
    """Continue a prompt: text, or token ids, or a list that mixes both."""

    prompt: str | tuple[int | str, ...]
    sampling: Sampling = Sampling()
    priority: Priority = "normal"


@dataclass(frozen=True, slots=True)
class Infill:
    """Fill in the middle of `prefix` and `suffix`, told of `extra` (file name, text) before.

    `heal` generates the text back to the last token boundary of the prefix again, under constraint; what comes back
    is only what follows the prefix.
    """

    prefix: str
    suffix: str
    extra: tuple[tuple[str, str], ...] = ()
    heal: bool = True
    sampling: Sampling = Sampling()
    priority: Priority = "interactive"


@dataclass(frozen=True, slots=True)
class Usage:
    """`evaluated` prompt tokens were computed, `reused` came from the cache; times in milliseconds."""

    evaluated: int = 0
    reused: int = 0
    generated: int = 0
    prompt_ms: float = 0.0
    predicted_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of the answer, and the usage so far. The last one has `stop` set."""

    text: str
    stop: Stop | None = None
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Props:
    """What an engine says of itself (`/props`)."""

    model: str
    n_ctx: int
    pid: int
    raw: dict[str, Any] = field(default_factory=dict[str, Any])
