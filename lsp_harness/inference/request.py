"""What is asked of a model and what comes back, in the terms of llama-server's `/completion`."""

from dataclasses import dataclass, field
from typing import Any, Literal

Priority = Literal["interactive", "normal", "background"]
PRIORITIES: tuple[Priority, ...] = ("interactive", "normal", "background")
Stop = Literal["eos", "word", "limit", "deadline", "cancelled"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen. `temperature` 0 is greedy; `t_max_predict_ms` counts from the first token, and once it is over
    the end of a line ends the text, as with llama-server."""

    n_predict: int = 64
    temperature: float = 0.0
    seed: int = 0
    top_k: int = 40
    top_p: float = 0.95
    stop: tuple[str, ...] = ()
    grammar: str = ""
    t_max_predict_ms: int = 0
    n: int = 1
    """Candidates over one evaluated prompt, with seeds `seed`, `seed + 1`, …; their chunks carry `index`."""
    top_logprobs: int = -1
    """With 0 or more, chunks carry the log probability of each token and of so many likeliest ones."""
    confidence: bool = False
    """Chunks carry the log probability of each token as it comes along, of what agrees with the healed text; unlike
    `top_logprobs` this evaluates nothing anew, and a server that has none at hand gives none."""
    expected: tuple[str, ...] = ()
    """Names that are made likelier where a word begins that is no member; by our engine only."""
    unbound: tuple[str, ...] = ()
    """Names that are made likelier where one is bound; by our engine only. `total`: at the beginning of a statement, or as a
    parameter; `const total`: behind that word; ` total`: behind something."""
    lookup: bool = True
    """Draft tokens that repeat the prompt's own text. They are verified: the answer is the same, only sooner."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose request it is. The KV cache is shared out by `client`; only `persist` ones may be written to disk.

    `id` is the client's own name for the request, by which one candidate of it can be cancelled (`/cancel`).
    `affinity` names the document: of several servers the same one is asked for it again. It is never sent.
    """

    client: str = ""
    id: str = ""
    persist: bool = False
    affinity: str = ""


@dataclass(frozen=True, slots=True)
class Continuation:
    """Continue a prompt: text, or token ids, or a list that mixes both."""

    prompt: str | tuple[int | str, ...]
    sampling: Sampling = Sampling()
    priority: Priority = "normal"
    owner: Owner = Owner()
    cache_reuse: int | None = None
    """Runs of so many tokens that are resident at other positions are moved, not evaluated; with 0 none is, and
    without it none by our engine."""


@dataclass(frozen=True, slots=True)
class InfillContext:
    """What an infill is told: the text on both sides of the hole, and `extra` (file name, text) before it."""

    prefix: str
    suffix: str
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Infill:
    """Fill in the middle.

    `heal` generates the text back to the last token boundary of the prefix again, under constraint; what comes back
    is only what follows the prefix. `shorter` are cheaper prompts for the same hole, longest first: the engine, which
    knows what is resident and how fast it is, takes the first prompt whose new tokens it can evaluate within
    `budget_ms`, else the last. With `budget_ms` 0 `around` is always taken.
    """

    around: InfillContext
    heal: bool = True
    sampling: Sampling = Sampling()
    priority: Priority = "interactive"
    owner: Owner = Owner()
    shorter: tuple[InfillContext, ...] = ()
    budget_ms: float = 0.0
    cache_reuse: int | None = None
    """As that of a continuation; without it, as the server was started."""


@dataclass(frozen=True, slots=True)
class Usage:
    """`evaluated` prompt tokens were computed, `reused` came from the cache; times in milliseconds."""

    evaluated: int = 0
    reused: int = 0
    generated: int = 0
    prompt_ms: float = 0.0
    predicted_ms: float = 0.0
    drafted: int = 0
    accepted: int = 0
    """Of the drafted tokens, those the model would have chosen itself."""
    rung: int = 0
    """Which prompt was taken: 0 is the first choice, more is one of `Infill.shorter`."""
    spelled: int = 0
    """Of the evaluated tokens, those this candidate's healing took."""
    shifted: int = 0
    """Of the reused tokens, those that were at other positions before."""


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token as text, its natural log probability, and the likeliest at its place."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of candidate `index`, and the usage so far. The last one of each candidate has `stop` set."""

    text: str
    stop: Stop | None = None
    usage: Usage = Usage()
    index: int = 0
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Props:
    """What an engine says of itself (`/props`)."""

    model: str
    n_ctx: int
    pid: int
    raw: dict[str, Any] = field(default_factory=dict[str, Any])
    features: dict[str, bool | str] = field(default_factory=dict[str, bool | str])
    """What the server can do, by name; a text says how far, or what is done instead."""
