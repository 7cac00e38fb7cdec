"""Every setting, with its default: the one source that files, environment, editors and documentation follow."""

import os
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, get_type_hints


@dataclass(frozen=True, slots=True)
class Model:
    """Which model the engine loads, and how."""

    path: str = "qwen2.5-coder-0.5b-instruct"
    """A catalogue name, or the path of a GGUF file; of a file in the project only by the user's own settings."""
    context_length: int = 8192
    """Tokens of the KV cache, shared by all resident sequences; 2,048 more are kept for typing."""
    n_gpu_layers: int = -1
    """Layers to put on a GPU; -1 is all. Without one it has no effect."""
    fim_order: str = "auto"
    """How our engine lays out a hole: `suffix-first`, `prefix-suffix-middle`, or `auto`: what its card says, without a card `prefix-suffix-middle`."""


def names_file(path: str) -> bool:
    """Whether a `model.path` is a file's rather than a catalogue name."""
    return path.endswith(".gguf") or "/" in path or os.sep in path


@dataclass(frozen=True, slots=True)
class Engine:
    """The process that holds the model."""

    url: str = ""
    """A server to ask instead of our own engine: `http://host:8080`, several separated by commas, or a Unix socket path."""
    model: str = ""
    """The name of the remote model; without a `url` as `provider/model`: openai, anthropic, openrouter, ollama, lmstudio, vllm, llama.cpp."""
    dialect: str = "auto"
    """What a remote server speaks: `llama-server`, `openai`, `anthropic`, or `auto` to find out."""
    api_key_env: str = "LSP_HARNESS_API_KEY"
    """The environment variable that holds the key of a remote server. Keys are never read from a file."""
    fim: str = "auto"
    """How a remote server is given a hole: by the tokens of a model family (qwen2.5-coder, qwen3-coder, codegemma, starcoder, granite, deepseek-coder; `auto`: by the model's name), or with `suffix` in the server's own way; with `none` never, and fixes are rewrites only."""
    retries: int = 3
    """How often a remote request is tried again while nothing of its answer has come."""
    first_token_seconds: float = 60.0
    """A remote server that is silent for so long at the beginning of an answer has failed."""
    next_token_seconds: float = 30.0
    """The same within an answer."""
    silence_s: float = 10.0
    """Seconds without a sign of life after which our own engine is taken for stuck and ended; the next request starts another. A long prompt is no silence: the engine says that it is at work. [Engine](engine.md#an-engine-that-is-stuck)"""
    script: str = ""
    """A JSON file of replies for the scripted engine: a test double, not a model."""
    idle_seconds: float = 900.0
    """The engine exits after this long without a request; like the four settings below from its next start on (`lsp-harness engine stop`)."""
    threads: int = 0
    """Threads for prompts; 0 is one per core."""
    kv_disk_mb: int = 512
    """MiB of evaluated prompts that are kept on disk, so that a restarted engine need not read them again; 0 keeps none."""
    cache_reuse: int = 32
    """Where the lines around the cursor move up or down in a prompt, runs of so many tokens are moved along instead of read again; 0 moves none."""
    port: int = 0
    """A loopback port on which our engine serves other programs as well; 0 is none. [Engine](engine.md)"""


@dataclass(frozen=True, slots=True)
class Generation:
    """How many answers are tried, and how varied they are."""

    candidates: int = 0
    """Candidates for a fix, fills and rewrites together; 0 is as many fills as this machine makes best at once, and the rewrites."""
    max_retries: int = 3
    """Rewrites that are told what was wrong with the candidates before; of the `candidates` where these are set, else on top."""
    repairs: bool = True
    """Repairs that need no model are tried first: the nearest name, the missing token or import, the linter's own fix. Without them the model is asked at once."""
    temperature: float = 0.6
    """Of the rewrites after the first, which is greedy as the first fill of each kind is; the other fills are drawn 0.1 warmer."""


@dataclass(frozen=True, slots=True)
class Context:
    """Token shares of an instruction prompt; hard limits, counted by the model's own tokenizer. What these and the answer leave of
    the model's context is a limit, too: what is around the code gives way to it."""

    system_budget: int = 256
    """For what the model is told it is. A longer one is not sent, and that is an error."""
    code_budget: int = 1536
    """For the code to change; a longer function is not rewritten, only filled."""
    related_budget: int = 384
    """For what is related to it: the imports it needs, signatures of what it calls, and who calls it; of what the code leaves of its own share. 0 leaves it out."""
    docs_budget: int = 128
    """For signatures of what the code uses of installed packages; of what the code and what is related to it leave of the code's share. 0 leaves them out. [Knowledge](knowledge.md)"""
    few_shot_examples: int = 1
    """Whole declarations of the project that are built like the code to change, shown as examples; 0 leaves them out. One, because a model on a CPU reads each of them before it writes a word. [Index](index.md#patterns)"""
    few_shot_budget: int = 192
    """For the examples, of what the code and what is shown besides leave of the code's share; one that does not fit whole is left out."""
    task_budget: int = 512
    """For the task, what else is wrong in the code, and the feedback on earlier attempts; what does not fit is left out, of what else is wrong first."""
    session_budget: int = 200
    """For what the session has decided about the file before and what checks say that nothing has mended, of what the task leaves of its own share; whole lines. 0 leaves it out. [Verbs](verbs.md)"""


@dataclass(frozen=True, slots=True)
class Completion:
    """Inline completion at the cursor."""

    enabled: bool = True
    """Whether suggestions come by themselves; who asks for one gets it all the same."""
    prefix_tokens: int = 384
    """Tokens of the text before the cursor, and at most 60 lines of it."""
    suffix_tokens: int = 96
    """Tokens of the text after the cursor, and at most 19 lines of it."""
    outline_tokens: int = 400
    """Tokens of the file's outline; 0 leaves it out."""
    repository_tokens: int = 512
    """Tokens of what other files of the workspace say: definitions of what is used near the cursor, and code that is like it; 0 leaves it out. [Index](index.md)"""
    max_tokens: int = 64
    """Tokens that are generated at most; fewer where the machine would take too long for them."""
    max_lines: int = 8
    """Lines that are generated at most."""
    alternatives: int = 4
    """Different suggestions that who asks for one may choose from, the likeliest first."""
    latency_ms: int = 400
    """Milliseconds to the first text. A prompt that would take longer to evaluate gives way to a shorter one until it is warm. After twice that time a line that is complete ends the suggestion, after five times whatever there is is shown."""
    warm: bool = True
    """Evaluate the prompt before it is asked for: after open, save, accept, and where the cursor rests."""
    speculate: bool = True
    """Work out the suggestion after the one that is shown, as if that had been accepted; with our own engine only."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """When nothing is suggested by itself. Who asks for a suggestion gets it all the same. [Quiet](quiet.md)"""

    in_word: bool = True
    """Nothing in the middle of a word."""
    in_comment: bool = True
    """Nothing in a comment."""
    in_string: bool = True
    """Nothing in a string or docstring; in data and markup (JSON, YAML, HTML, …), where strings are the content, it has no effect."""
    after_deletion: bool = True
    """Nothing on a line on which something was deleted, until something is typed."""
    after_dismissal: bool = True
    """Nothing where a suggestion was dismissed, until more than two letters there have changed."""
    generated_files: bool = True
    """Nothing in files that say they are generated, lock files and minified ones."""
    min_probability: float = 0.65
    """Nothing whose tokens are less probable than this, by their geometric mean; 0 shows all. The default is for the default model. A server that gives no probabilities has no such rule."""
    debounce_ms: int = -1
    """Milliseconds after a key before the model is asked; -1 follows the user's own typing rhythm, up to a quarter of `completion.latency_ms`."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The gates an edit must pass before it is offered, and what is checked after it was taken."""

    parse_check: bool = True
    """No new syntax error."""
    lint: bool = True
    """No new finding of the linter (ruff for Python), and the diagnostic itself gone."""
    debounce_ms: int = 300
    """Quiet time before an accepted or applied edit is verified again."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Edits that are not ghost text: fixes, and what is done on an instruction."""

    confirm: str = "model"
    """Which edits an editor that can do so lays before the user as a diff before it applies them: those of the `model`, `always` all, `never` any."""


@dataclass(frozen=True, slots=True)
class Index:
    """The index of the workspace folders: what they declare and import, and the words of their texts. [Index](index.md)"""

    enabled: bool = True
    """Index the folders of a trusted workspace."""
    update_on_save: bool = True
    """Take up what changes on disk, when it does; else only when a server starts."""
    embedding_model: str = "all-minilm-l6-v2"
    """The model that embeds code: a catalogue name, or the path of a GGUF file. [Models](models.md#other-embedding-models)"""
    embedding_query_prefix: str = "auto"
    """What stands before a query that is embedded; `auto`: what is known of the model, which for most is nothing."""
    embedding_document_prefix: str = "auto"
    """The same before a text of the index; texts are embedded anew where it is another, as with the two settings below."""
    embedding_pooling: str = "auto"
    """How the vectors of a text's tokens become one: `mean`, `cls`, `last`, or `auto`: what the GGUF says."""
    embedding_tokens: int = 128
    """Tokens of a text that count, its prefix among them; 1 to 510. More make a vector of code less telling, and cost more."""


@dataclass(frozen=True, slots=True)
class Locate:
    """Finding the code that a task is about where nobody says it. [Index](index.md#locate)"""

    ranking: str = "index"
    """Who chooses among the candidates: the `index` by its ranks, or the `model`, which is shown eight of them at most, within `context.task_budget`. A model of 0.5B chooses worse than the index ([benchmarks](benchmarks.md#search))."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What installed packages say of themselves: their signatures, read from their own files. [Knowledge](knowledge.md)"""

    enabled: bool = True
    """Tell the model what the packages have that the code uses, and a retry what they have that the failed attempts used."""
    python: str = ""
    """The environment that has the Python packages, relative to the workspace folder; by default its `.venv`, `venv` or `env`, else `VIRTUAL_ENV` or `CONDA_PREFIX`."""


@dataclass(frozen=True, slots=True)
class Config:
    """All tables."""

    model: Model = field(default_factory=Model)
    engine: Engine = field(default_factory=Engine)
    generation: Generation = field(default_factory=Generation)
    context: Context = field(default_factory=Context)
    completion: Completion = field(default_factory=Completion)
    quiet: Quiet = field(default_factory=Quiet)
    verification: Verification = field(default_factory=Verification)
    edits: Edits = field(default_factory=Edits)
    index: Index = field(default_factory=Index)
    locate: Locate = field(default_factory=Locate)
    knowledge: Knowledge = field(default_factory=Knowledge)


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
