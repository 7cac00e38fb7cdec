"""Every setting, with its default: the one source that files, environment, editors and documentation follow."""

import os
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, get_type_hints


@dataclass(frozen=True, slots=True)
class Model:
    """Which model the engine loads, and how."""

    path: str = "qwen2.5-coder-0.5b-instruct"
    """The name of a model in the catalogue (`lsp-harness model list`), or the path of a GGUF file. A file inside the project can only be named by the user's own settings."""
    context_length: int = 8192
    """The size of the model's memory (KV cache) in tokens, shared by all prompts that are kept in it; 2,048 more are reserved for typing."""
    n_gpu_layers: int = -1
    """The number of model layers to put on a GPU; -1 is all. Without a GPU it has no effect."""
    fim_order: str = "auto"
    """The order of a fill-in-the-middle prompt: `suffix-first`, `prefix-suffix-middle`, or `auto`, which takes what the catalogue says of the model and else `prefix-suffix-middle`."""


def is_model_file(path: str) -> bool:
    """Whether a `model.path` is a file's rather than a catalogue name."""
    return path.endswith(".gguf") or "/" in path or os.sep in path


@dataclass(frozen=True, slots=True)
class Engine:
    """The process that holds the model."""

    url: str = ""
    """A server to use instead of the local engine: `http://host:8080`, several addresses separated by commas, or the path of a Unix socket."""
    model: str = ""
    """The name of the remote model. Without a `url`, write `provider/model`, with one of these providers: openai, anthropic, openrouter, ollama, lmstudio, vllm, llama.cpp."""
    dialect: str = "auto"
    """The protocol of the remote server: `llama-server`, `openai`, `anthropic`, or `auto` to find out."""
    api_key_env: str = "LSP_HARNESS_API_KEY"
    """The name of the environment variable with the key for the remote server. Keys are never read from a file."""
    fim: str = "auto"
    """How a fill-in-the-middle prompt is sent to a remote server: with the special tokens of a model family (qwen2.5-coder, qwen3-coder, codegemma, starcoder, granite, deepseek-coder), with `suffix` in the server's own format, or with `auto` as the model's name suggests. With `none`, no such prompt is sent: there is no completion, and fixes only rewrite whole functions."""
    retries: int = 3
    """How often a remote request is repeated, as long as no part of its answer has arrived."""
    first_token_seconds: float = 60.0
    """How many seconds a remote server may take to begin an answer before the request fails."""
    next_token_seconds: float = 30.0
    """The same within an answer."""
    silence_s: float = 10.0
    """Seconds without a sign of life after which our own engine is taken for stuck and ended; the next request starts another. A long prompt is no silence: the engine says that it is at work. 0.5 at least. [Engine](engine.md#an-engine-that-is-stuck)"""
    script: str = ""
    """For tests: a JSON file of replies that are given instead of a model's."""
    idle_seconds: float = 900.0
    """The engine ends after this many seconds without a request. This setting and the four below take effect when the engine starts the next time (`lsp-harness engine stop`)."""
    threads: int = 0
    """The number of threads that evaluate prompts; 0 is one per core."""
    kv_disk_mb: int = 512
    """How many MiB of evaluated prompts are kept on disk, so that a restarted engine need not evaluate them again; 0 keeps none."""
    cache_reuse: int = 32
    """When lines move up or down in a prompt, unchanged parts of at least this many tokens are reused instead of evaluated again; 0 turns this off."""
    port: int = 0
    """A port of this machine (127.0.0.1) on which the engine serves other programs as well; 0 is none. See [Engine](engine.md)."""


@dataclass(frozen=True, slots=True)
class Generation:
    """How many candidates are generated for a fix, and how much they vary."""

    candidates: int = 0
    """The number of candidates for a fix, filled lines and rewritten functions together. 0 means as many filled lines as this machine generates efficiently at once, and the rewrites in addition."""
    max_retries: int = 3
    """Rewrites that are told what was wrong with the candidates before; of the `candidates` where these are set, else on top."""
    repairs: bool = True
    """Repairs that need no model are tried first: the nearest name, the missing token or import, the linter's own fix. Without them the model is asked at once."""
    temperature: float = 0.6
    """The sampling temperature of all rewrites but the first. The first rewrite and the first fill of each kind use temperature 0; other fills use 0.1 more than this."""


@dataclass(frozen=True, slots=True)
class Context:
    """The share of each part of an instruction prompt, in tokens of the model. These are hard limits. If the prompt and the answer
    would be larger than the model's context, the parts around the code are shortened first."""

    system_budget: int = 256
    """For the system prompt. A longer one is an error."""
    code_budget: int = 1536
    """For the code to change. A longer function is not rewritten as a whole; only single statements are filled in again."""
    related_budget: int = 384
    """For related code: the imports, the signatures of what the code calls, and its callers. It is taken from what the code does not use of its own share; 0 leaves it out."""
    docs_budget: int = 128
    """For the signatures of what the code uses from installed packages. It is taken from what code and related code do not use of the code's share; 0 leaves them out. See [Knowledge](knowledge.md)."""
    few_shot_examples: int = 1
    """The number of declarations of the project that are shown as examples, because they are built like the code to change; 0 shows none. The default is one, because a model on a CPU needs time to read each. See [Index](index.md#patterns)."""
    few_shot_budget: int = 192
    """For these examples. It is taken from what the other parts do not use of the code's share; an example that does not fit as a whole is left out."""
    task_budget: int = 512
    """For the task, the feedback on earlier attempts, and other errors in the code. What does not fit is left out, the other errors first."""
    session_budget: int = 200
    """For the history of the session: earlier decisions about this file and errors that are still there, in whole lines. It is taken from what the task does not use of its own share; 0 leaves it out. See [Verbs](verbs.md)."""


@dataclass(frozen=True, slots=True)
class Completion:
    """Inline completion (ghost text) at the cursor."""

    enabled: bool = True
    """Show suggestions while the user types. If this is off, a suggestion can still be requested."""
    prefix_tokens: int = 384
    """Tokens of the text before the cursor in the prompt, at most 60 lines."""
    suffix_tokens: int = 96
    """Tokens of the text after the cursor in the prompt, at most 19 lines."""
    outline_tokens: int = 400
    """Tokens of the file's outline (imports and signatures) in the prompt; 0 leaves it out."""
    repository_tokens: int = 512
    """Tokens of code from other files of the workspace in the prompt: definitions of what is used near the cursor, and similar code; 0 leaves it out. See [Index](index.md)."""
    max_tokens: int = 64
    """The largest number of tokens in a suggestion. It is smaller if the machine would need too long for them."""
    max_lines: int = 8
    """The largest number of lines in a suggestion."""
    alternatives: int = 4
    """How many different suggestions are shown if the user requests one, the most likely first."""
    latency_ms: int = 400
    """The time until the first text, in milliseconds. If a prompt would take longer to evaluate, a shorter one is used until the longer one has been evaluated in the background. After twice this time the suggestion ends with the first complete line, after five times it is shown as it is."""
    warm: bool = True
    """Evaluate the prompt before it is needed: after a document is opened or saved, after a suggestion is accepted, and when the cursor rests."""
    speculate: bool = True
    """While a suggestion is shown, compute the one that would follow if it were accepted. Only with the local engine."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """When no suggestion is shown while the user types. A suggestion that the user requests is always shown. See [Quiet](quiet.md)."""

    in_word: bool = True
    """No suggestion in the middle of a word."""
    in_comment: bool = True
    """No suggestion in a comment."""
    in_string: bool = True
    """No suggestion in a string or docstring. It has no effect in data and markup (JSON, YAML, HTML, …), where strings are the content."""
    after_deletion: bool = True
    """After a deletion, no suggestion on that line until something is typed there."""
    after_dismissal: bool = True
    """After a suggestion was dismissed, none at that place until more than two letters there have changed."""
    generated_files: bool = True
    """No suggestion in generated files, lock files and minified files."""
    min_probability: float = 0.65
    """No suggestion if the mean (geometric) probability of its tokens is lower than this; 0 shows all. The default fits the default model. For a server that reports no probabilities, the rule is off."""
    debounce_ms: int = -1
    """How many milliseconds to wait after a key before the model is asked. -1 adapts to the user's typing rhythm, up to a quarter of `completion.latency_ms`."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The checks that an edit must pass before it is offered, and the checks after it was applied."""

    parse_check: bool = True
    """The edit must not add a syntax error."""
    kept: bool = True
    """A fix drops, replaces and adds no code that its diagnostic is not about. [Fixes](fix.md)"""
    lint: bool = True
    """The edit must not add a finding of the linter (ruff, for Python), and the diagnostic to repair must be gone."""
    debounce_ms: int = 300
    """How many milliseconds without a change to wait before an accepted or applied edit is checked again."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Edits other than ghost text: fixes, and edits by instruction."""

    confirm: str = "model"
    """Which edits the editor shows as a diff for confirmation, if it can: those written by the `model`, `always` (all) or `never` (none)."""


@dataclass(frozen=True, slots=True)
class Index:
    """The index of the workspace folders: declarations, imports and the words in their files. See [Index](index.md)."""

    enabled: bool = True
    """Index the folders of a workspace that the user trusts."""
    update_on_save: bool = True
    """Update the index when a file changes on disk. If this is off, the index is only updated when a server starts."""
    embedding_model: str = "all-minilm-l6-v2"
    """The model that makes the vectors for search by meaning (embeddings): a name in the catalogue, or the path of a GGUF file. See [Models](models.md#other-embedding-models)."""
    embedding_query_prefix: str = "auto"
    """The text that is put before a query before its vector is made. `auto` takes what the model needs, which for most models is nothing."""
    embedding_document_prefix: str = "auto"
    """The text that is put before a piece of code before its vector is made. If this setting or one of the two below changes, all vectors are made again."""
    embedding_pooling: str = "auto"
    """How the vectors of the tokens of a text are combined into one: `mean`, `cls`, `last`, or `auto`, which takes what the GGUF file says."""
    embedding_tokens: int = 128
    """How many tokens of a text are used for its vector, including the prefix; 1 to 510. More tokens cost more time and make search for code less precise."""


@dataclass(frozen=True, slots=True)
class Locate:
    """Finding the code that a task would change, if the user names no place. See [Index](index.md#locate)."""

    ranking: str = "index"
    """What chooses among the places found: the `index` by its ranking, or the `model`, which is shown at most eight of them within `context.task_budget`. A 0.5B model chooses worse than the index ([benchmarks](benchmarks.md#search))."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The signatures of installed packages, read from their files. See [Knowledge](knowledge.md)."""

    enabled: bool = True
    """Put the signatures of the packages that the code uses into the prompt, and into a retry those of the packages that the failed attempts used."""
    python: str = ""
    """The virtual environment with the Python packages, relative to the workspace folder. The default is `.venv`, `venv` or `env` there, else `VIRTUAL_ENV` or `CONDA_PREFIX`."""


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
