"""Every setting, with its default: the one source that files, environment, editors and documentation follow."""

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, get_type_hints


@dataclass(frozen=True, slots=True)
class Model:
    """Which model the engine loads, and how."""

    path: str = "qwen2.5-coder-0.5b-instruct"
    """A catalogue name, or the path of a GGUF file."""
    context_length: int = 8192
    """Tokens of the KV cache, shared by all resident sequences."""
    n_gpu_layers: int = -1
    """Layers to put on a GPU; -1 is all. Without one it has no effect."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The process that holds the model."""

    url: str = ""
    """A Unix socket path of an engine started elsewhere; empty starts or joins our own."""
    script: str = ""
    """A JSON file of replies for the scripted engine: a test double, not a model."""
    idle_seconds: float = 900.0
    """The engine exits after this long without a request."""
    threads: int = 0
    """Threads for prompts; 0 is one per core."""


@dataclass(frozen=True, slots=True)
class Generation:
    """How many answers are tried, and how varied they are."""

    candidates: int = 8
    """Candidates for an edit; the first to clear every gate wins."""
    max_retries: int = 3
    """Rounds of candidates, each told what was wrong with the one before."""
    temperature: float = 0.6
    temperature_classify: float = 0.1


@dataclass(frozen=True, slots=True)
class Context:
    """Token shares of a prompt; hard limits."""

    system_budget: int = 256
    code_budget: int = 1536
    task_budget: int = 512
    few_shot_examples: int = 3


@dataclass(frozen=True, slots=True)
class Completion:
    """Inline completion at the cursor."""

    enabled: bool = True
    prefix_tokens: int = 384
    suffix_tokens: int = 96
    outline_tokens: int = 400
    max_tokens: int = 64
    max_lines: int = 8
    latency_ms: int = 3000
    """Generation stops here and keeps what there is."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The gates an edit must pass before it is offered."""

    parse_check: bool = True
    lint: bool = True
    type_check: bool = False
    test: bool = True
    diff_review: bool = True
    debounce_ms: int = 300
    """Quiet time before an accepted or applied edit is verified again."""


@dataclass(frozen=True, slots=True)
class Index:
    embedding_model: str = "nomic-embed-text"
    update_on_save: bool = True


@dataclass(frozen=True, slots=True)
class Config:
    """All tables."""

    model: Model = field(default_factory=Model)
    engine: Engine = field(default_factory=Engine)
    generation: Generation = field(default_factory=Generation)
    context: Context = field(default_factory=Context)
    completion: Completion = field(default_factory=Completion)
    verification: Verification = field(default_factory=Verification)
    index: Index = field(default_factory=Index)


def tables() -> dict[str, dict[str, tuple[type, Any]]]:
    """Table → key → (type, default), in order."""
    hints = get_type_hints(Config)
    return {
        table.name: {
            key.name: (get_type_hints(hints[table.name])[key.name], key.default) for key in fields(hints[table.name])
        }
        for table in fields(Config)
        if is_dataclass(hints[table.name])
    }


Severity = Literal["error", "warning", "information", "hint"]
