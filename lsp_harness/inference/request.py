"""The requests to a model and its answers, in the terms of llama-server's `/completion`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Priority = Literal["interactive", "normal", "background"]
PRIORITIES: tuple[Priority, ...] = ("interactive", "normal", "background")
Stop = Literal["eos", "word", "limit", "deadline", "cancelled", "tool_calls"]
Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen, and when generation ends.

    A `temperature` of 0 is greedy. `t_max_predict_ms` counts from the first token; after it, the end of a line ends the
    text, as with llama-server.
    """

    n_predict: int = 64
    temperature: float = 0.0
    seed: int = 0
    top_k: int = 40
    top_p: float = 0.95
    stop: tuple[str, ...] = ()
    grammar: str = ""
    t_max_predict_ms: int = 0
    n: int = 1
    """Number of candidates over one evaluated prompt.

    Their seeds are `seed`, `seed + 1`, …; their chunks carry `index`.
    """
    greedy_first: bool = False
    """The first candidate is greedy, whatever the temperature. Only our engine does this."""
    top_logprobs: int = -1
    """If this is 0 or more, chunks carry the log probability of each token and of this many likeliest alternatives."""
    confidence: bool = False
    """Chunks carry the log probability of each token, or of its part after the healed text.

    Unlike `top_logprobs`, this evaluates nothing again. A server that does not have the values at hand sends none.
    """
    expected: tuple[str, ...] = ()
    """Names that become more likely where a word begins that is not a member. Only our engine uses them."""
    unbound: tuple[str, ...] = ()
    """Names that become more likely where a name is bound. Only our engine uses them.

    `total` is bound at the beginning of a statement or as a parameter, `const total` after that word, ` total` after
    something else.
    """
    lookup: bool = True
    """Draft tokens that repeat text of the prompt.

    The model verifies them, so the answer comes sooner, and is the same except for the rounding of larger batches.
    """


@dataclass(frozen=True, slots=True)
class Owner:
    """The sender of a request.

    Attributes:
        client: The clients share the KV cache.
        id: The client's own name for the request. `/cancel` uses it to cancel the request or one candidate.
        persist: The evaluated prompt may be written to disk.
        affinity: The document. Of several servers, the same one is asked about it again. It is never sent.
    """

    client: str = ""
    id: str = ""
    persist: bool = False
    affinity: str = ""


@dataclass(frozen=True, slots=True)
class Continuation:
    """A request to continue a prompt: a text, or a sequence of token ids and texts."""

    prompt: str | tuple[int | str, ...]
    sampling: Sampling = Sampling()
    priority: Priority = "normal"
    owner: Owner = Owner()
    cache_reuse: int | None = None
    """Runs of at least this many tokens are moved in the KV cache instead of evaluated again; 0 moves none.

    With None our engine moves none either.
    """


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request to answer a conversation. The server formats the messages by the model's own template.

    Attributes:
        messages: Pairs of role (`system`, `user` or `assistant`) and content, oldest first.
    """

    messages: Sequence[tuple[str, str]]
    sampling: Sampling = Sampling()
    priority: Priority = "normal"
    owner: Owner = Owner()


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a service gets it. `schema` is the JSON schema of its input, an object."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call in an earlier answer. Its `id` pairs it with its result."""

    id: str
    tool: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message of a conversation with tools.

    Attributes:
        role: Who wrote it; "tool" is the result of a call.
        text: The text. It may be empty if there are calls.
        calls: The calls of an answer. Their results are the next messages, in the same order.
        call_id: The call that a result is for.
        is_error: Whether that call failed.
    """

    role: Role
    text: str
    calls: tuple[PastCall, ...] = ()
    call_id: str = ""
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ToolChat:
    """A request to answer a conversation, or to call tools. Only servers with the feature `tools` take it.

    Attributes:
        messages: The messages, oldest first.
        tools: The tools that the model may call.
        answer_schema: The JSON schema of an answer without calls, for structured output. Not every service keeps it.
        must_answer: The model may not call tools, but must answer by the schema.
    """

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    answer_schema: Mapping[str, Any] | None = None
    must_answer: bool = False
    sampling: Sampling = Sampling()
    priority: Priority = "normal"
    owner: Owner = Owner()


@dataclass(frozen=True, slots=True)
class InfillContext:
    """The text on both sides of a hole, and `extra` pairs of (file name, text) before it."""

    prefix: str
    suffix: str
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Infill:
    """A request to fill in the middle.

    Attributes:
        context: The text around the hole.
        heal: Generate the text after the last token boundary of the prefix again, under constraint. The answer contains
            only what follows the prefix.
        shorter: Cheaper prompts for the same hole, longest first. The engine knows what is evaluated already and how
            fast it is. It takes the first prompt whose new tokens it can evaluate within `budget_ms`, else the last
            one.
        budget_ms: Time for the evaluation of the prompt. With 0, `context` is always used.
        cache_reuse: As in `Continuation`. With None, the setting applies with which the server was started.
    """

    context: InfillContext
    heal: bool = True
    sampling: Sampling = Sampling()
    priority: Priority = "interactive"
    owner: Owner = Owner()
    shorter: tuple[InfillContext, ...] = ()
    budget_ms: float = 0.0
    cache_reuse: int | None = None


ModelRequest = Continuation | ChatRequest | ToolChat | Infill


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts and times of one answer.

    Attributes:
        evaluated: Prompt tokens that were computed.
        reused: Prompt tokens that came from the KV cache.
        generated: Tokens of the answer.
        drafted: Tokens that were proposed without the model.
        accepted: Drafted tokens that the model would have chosen itself.
        rung: The prompt that was used: 0 is the first choice, more is one of `Infill.shorter`.
        spelled: Evaluated tokens that the healing of this candidate took.
        shifted: Reused tokens that were at other positions before.
    """

    evaluated: int = 0
    reused: int = 0
    generated: int = 0
    prompt_ms: float = 0.0
    predicted_ms: float = 0.0
    drafted: int = 0
    accepted: int = 0
    rung: int = 0
    spelled: int = 0
    shifted: int = 0


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """The text of a token, its natural log probability, and the likeliest tokens at its place."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call that a model wrote. `arguments` is its text, which should be a JSON object but may be anything."""

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of candidate `index`, and the usage so far. The last chunk of each candidate has `stop` set.

    The answer to a `ToolChat` has its reasoning in `thinking`, and its last chunk has all `calls`.
    """

    text: str
    stop: Stop | None = None
    usage: Usage = Usage()
    index: int = 0
    logprobs: tuple[TokenLogprob, ...] = ()
    thinking: str = ""
    calls: tuple[WrittenCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Props:
    """The properties that an engine reports (`/props`)."""

    model: str
    n_ctx: int
    pid: int
    raw: dict[str, Any] = field(default_factory=dict[str, Any])
    features: dict[str, bool | str] = field(default_factory=dict[str, bool | str])
    """Feature → whether the server has it. A text says how far, or what is done instead."""
