"""The tables of the settings, with the defaults of all keys.

Files, the environment, the settings of editors and the documentation follow this schema.
"""

import os
from dataclasses import dataclass, field, fields, is_dataclass
from types import GenericAlias
from typing import Any, get_args, get_type_hints

from lsp_harness.config.action_schema import Actions
from lsp_harness.config.permission_schema import HookSettings, Permissions, Sessions
from lsp_harness.config.runtime_schema import Runtime


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model the engine loads, and how."""

    path: str = "qwen2.5-coder-0.5b-instruct"
    """The name of a model in the catalogue (`lsp-harness model list`), or the path of a GGUF file. A file inside the
    project can only be named by the user's own settings.
    """
    context_length: int = 8192
    """The size of the model's memory (KV cache) in tokens, shared by all prompts in it. 2,048 more tokens are reserved
    for typing.
    """
    n_gpu_layers: int = -1
    """The number of model layers that run on a GPU; -1 is all. It has no effect without a GPU."""
    fim_order: str = "auto"
    """The order of a fill-in-the-middle prompt: `suffix-first`, `prefix-suffix-middle`, or `auto`. With `auto` the
    catalogue decides, and for a model that is not in it the order is `prefix-suffix-middle`.
    """


def is_model_file(path: str) -> bool:
    """Return whether a `model.path` is a file and not a name in the catalogue."""
    return path.endswith(".gguf") or "/" in path or os.sep in path


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """The process that runs the model."""

    url: str = ""
    """A server to use instead of the local engine: `http://host:8080`, several addresses separated by commas, or the
    path of a Unix socket.
    """
    model: str = ""
    """The name of the remote model. Without a `url`, write `provider/model`, for example `ollama/qwen2.5-coder:7b`. [A
    model for a team](team.md#services) lists the providers.
    """
    dialect: str = "auto"
    """The protocol of the remote server. `auto` detects it. [A model for a team](team.md#services) lists the protocols.
    """
    api_key_env: str = "LSP_HARNESS_API_KEY"
    """The name of the environment variable with the key for the remote server. Keys are never read from a file."""
    fim: str = "auto"
    """How a fill-in-the-middle prompt is sent to a remote server. The name of a [model family](team.md#model-families)
    uses its special tokens, `suffix` uses the format of the server, and `auto` chooses by the name of the model. With
    `none` no such prompt is sent: there is no completion, and fixes only rewrite whole functions.
    """
    retries: int = 3
    """How often a remote request is repeated if it fails before a part of its answer has arrived."""
    first_token_seconds: float = 60.0
    """How many seconds a remote server may take to begin an answer. After that the request fails."""
    next_token_seconds: float = 30.0
    """How many seconds a remote server may send nothing within an answer. After that the request fails."""
    silence_s: float = 10.0
    """How many seconds the local engine may give no sign of life, at least 0.5. After that it counts as stuck and is
    ended, and the next request starts another one. A long prompt is not a problem, because the engine reports that it
    works. [Engine](engine.md#an-engine-that-is-stuck)
    """
    start_early: bool = True
    """Start the local engine when the language server starts. Otherwise it starts when a document is opened."""
    script: str = ""
    """For tests: a JSON file with replies that replace those of a model."""
    idle_seconds: float = 900.0
    """The engine ends after this many seconds without a request. This setting and the five below take effect at the
    next start of the engine (`lsp-harness engine stop`).
    """
    library: str = ""
    """The library of llama.cpp: a name that `lsp-harness engine libraries list` shows, or a folder. If this is empty,
    the one that was chosen with `lsp-harness engine libraries use` is taken, else a prebuilt one for this machine, else
    the one that the package llama-cpp-python has compiled.
    """
    threads: int = 0
    """The number of threads that evaluate prompts; 0 is one for each core that the cgroup of the engine allows."""
    kv_disk_mb: int = 512
    """How many MiB of evaluated prompts are stored on disk, so that the engine need not evaluate them again after a
    restart; 0 stores none.
    """
    cache_reuse: int = 32
    """If lines move up or down in a prompt, unchanged parts of at least this many tokens are reused and not evaluated
    again; 0 turns this off.
    """
    port: int = 0
    """A port of this machine (127.0.0.1) on which the engine also serves other programs; 0 is none. See
    [Engine](engine.md).
    """


@dataclass(frozen=True, slots=True)
class Generation:
    """How many candidates are generated for a fix, and how much they vary."""

    candidates: int = 0
    """The number of candidates for a fix: filled lines and rewritten functions together. With 0, there are as many
    filled lines as this machine generates efficiently at once, and the rewrites in addition.
    """
    max_retries: int = 3
    """The number of further rewrites, whose prompt says what was wrong with the earlier candidates. If `candidates` is
    set, they are part of that number.
    """
    repairs: bool = True
    """Try repairs without a model first: the nearest name, the missing token or import, the fix of the linter. If this
    is off, the model is used at once.
    """
    plan: bool = True
    """Also edit the code that depends on the code of a prompt: overrides, callers and tests. If this is off, a prompt
    edits one symbol only. See [The code driver](code-driver.md#plans).
    """
    budget_s: int = 60
    """How many seconds candidates for one edit are made. When they are over, the best one that has passed is proposed,
    and no further one begins. 0 sets no limit.
    """
    format: bool = True
    """Format the lines that an edit by the model changes by the formatter that the project configures, before the
    checks. See [After an edit](after-an-edit.md).
    """
    test_repair_s: int = 120
    """How many seconds the repair of failing tests may take. See [Repair of failing tests](repair-tests.md)."""
    temperature_classify: float = 0.1
    """The temperature of the word that says what a prompt asks for. See [The code driver](code-driver.md)."""
    temperature: float = 0.6
    """The temperature of rewrites. The first rewrite and the first fill of each kind use 0, other fills 0.1 more."""


@dataclass(frozen=True, slots=True)
class Context:
    """The share of each part of an instruction prompt, in tokens of the model. These are hard limits. If the prompt and
    the answer would be larger than the model's context, the parts around the code are shortened first.
    """

    system_budget: int = 256
    """For the system prompt. A longer one is an error."""
    code_budget: int = 1536
    """For the code to change. A longer function is not rewritten as a whole; only single statements are filled in
    again.
    """
    related_budget: int = 384
    """For related code: the imports, the signatures of what the code calls, and its callers. Its tokens come from the
    part of `code_budget` that the code does not use; 0 leaves it out.
    """
    docs_budget: int = 128
    """For the signatures of what the code uses from installed packages. Its tokens come from the part of `code_budget`
    that the code and the related code do not use; 0 leaves them out. See [Knowledge](knowledge.md).
    """
    few_shot_examples: int = 1
    """The number of declarations of the project that are shown as examples, because they are similar to the code to
    change; 0 shows none. The default is one, because a model on a CPU needs time to evaluate each. See
    [Index](code-index.md#patterns).
    """
    few_shot_budget: int = 192
    """For these examples. Its tokens come from the part of `code_budget` that the other parts do not use. An example
    that does not fit as a whole is left out.
    """
    task_budget: int = 512
    """For the task, the feedback on earlier attempts, and other errors in the code. Parts that do not fit are left out,
    the other errors first.
    """
    session_budget: int = 200
    """For the history of the session: earlier decisions about this file and errors that still exist, in whole lines.
    Its tokens come from the part of `task_budget` that the task does not use; 0 leaves it out. See [Verbs](verbs.md).
    """


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
    """Tokens of code from other files of the workspace in the prompt: definitions of the names near the cursor, and
    similar code; 0 leaves it out. See [Index](code-index.md).
    """
    max_tokens: int = 64
    """The largest number of tokens in a suggestion. It is smaller if the machine would need too long for them."""
    max_lines: int = 8
    """The largest number of lines in a suggestion."""
    alternatives: int = 4
    """How many different suggestions are shown if the user requests suggestions, the most likely first."""
    latency_ms: int = 400
    """The time until the first text, in milliseconds. If a prompt would take longer to evaluate, a shorter one is used
    until the longer one has been evaluated in the background. After twice this time the suggestion ends with its first
    complete line, and after five times it ends in any case.
    """
    type_gate: bool = True
    """Do not show a suggestion that adds a type error about names, attributes, arguments or imports. It needs a type
    checker: `ty` for Python, TypeScript for itself and JavaScript. See [Types](types.md).
    """
    type_gate_ms: int = 50
    """The longest time for the type check of a suggestion, in milliseconds. A suggestion whose check takes longer is
    shown unchecked.
    """
    min_short_probability: float = 0.9
    """The answer to a shorter prompt is shown at once if the mean (geometric) probability of its tokens is at least
    this. Otherwise `patience_ms` applies, because such an answer is wrong more often than its probability says.
    """
    patience_ms: int = 2000
    """The time for the evaluation of a longer prompt, in milliseconds, if the answer to a shorter one is not shown. The
    suggestion then appears later, if the user still rests there. 0 shows the answer to the shorter prompt.
    """
    warm: bool = True
    """Evaluate the prompt before it is needed: after a document is opened or saved, after a suggestion is accepted, and
    when the cursor rests.
    """
    speculate: bool = True
    """While a suggestion is shown, compute the one that follows if it is accepted. This works only with the local
    engine.
    """


@dataclass(frozen=True, slots=True)
class Background:
    """Work before the user asks for it: prompts that are evaluated in advance, the suggestion after the displayed one,
    and vectors for search. A request of the user never waits. See [Cold start](cold-start.md#background-work).
    """

    when: str = "yield"
    """When such work runs: `always`; `yield`, which waits while other programs use half of the cores, or while the
    machine runs on battery; or `never`. With a remote server, `yield` is `always`.
    """
    remember_places: bool = True
    """Remember the last cursor of each file and how often it was opened, in the cache directory, without any text. When
    the file is opened again, the prompt at that place is evaluated.
    """
    hot_files: int = 3
    """While you do nothing and the local engine is idle, evaluate the prompts of this many files that you open most; 0
    turns it off. It needs `remember_places`.
    """
    prepare_fixes: int = 1000
    """Compute and verify the fix of a diagnostic after it has stood for this many milliseconds where you are; 0 turns
    it off. See [Verification](verification.md#fixes-that-are-ready).
    """
    fix_tokens: int = 4000
    """How many tokens the model may evaluate and generate for such fixes, for each document and minute."""


@dataclass(frozen=True, slots=True)
class Quiet:
    """When no suggestion is shown while the user types. A suggestion that the user requests is always shown. See
    [Quiet](quiet.md).
    """

    in_word: bool = True
    """No suggestion in the middle of a word."""
    in_comment: bool = True
    """No suggestion in a comment."""
    in_string: bool = True
    """No suggestion in a string or docstring. It has no effect in data and markup (JSON, YAML, HTML, …), where strings
    are the content.
    """
    after_deletion: bool = True
    """After a deletion, no suggestion on that line until something is typed there."""
    after_dismissal: bool = True
    """After a suggestion was dismissed, none at that place until more than two letters there have changed."""
    generated_files: bool = True
    """No suggestion in generated files, lock files and minified files."""
    min_probability: float = 0.65
    """No suggestion if the mean (geometric) probability of its tokens is lower than this; 0 shows all. The default fits
    the default model. The rule is off for a server that reports no probabilities.
    """
    debounce_ms: int = -1
    """How many milliseconds to wait after a key before a request is sent. -1 adapts to the typing rhythm of the user,
    up to a quarter of `completion.latency_ms`.
    """


@dataclass(frozen=True, slots=True)
class Verification:
    """The checks that an edit must pass before it is offered, and the checks after it was applied."""

    parse_check: bool = True
    """The edit must not add a syntax error."""
    kept: bool = True
    """A fix must not remove, replace or add code that is not related to its diagnostic. See [Fixes](fix.md)."""
    lint: bool = True
    """The edit must not add a finding of the linter, and the diagnostic to repair must disappear. The linter is ruff
    for Python, else the one that the project configures. See [Linters](lint.md).
    """
    test: bool = True
    """An edit by the model must not break a test. The tests that depend on the edited files run in a sandbox before the
    edit is shown. Without a sandbox, or in a workspace that is not trusted, no tests run. See
    [Tests as a check](project-tests.md).
    """
    type_check: str = "names"
    """The edit must not add a type error: `names`, which counts errors about names, attributes, arguments and imports,
    by ty or TypeScript if it is on the machine; `on`, which counts all errors of the checker of the project; `auto`,
    which does so only where the project configures a checker or one is running; or `off`. `true` means `on`. See
    [Types of edits](types.md#types-of-edits).
    """
    diff_review: str = "off"
    """The model is asked whether the edit addresses the task: `off`; `report`, which records the answer; or `veto`,
    with which a NO also fails the edit. `true` means `report`. See [Review](review.md).
    """
    debounce_ms: int = 300
    """How many milliseconds without a change pass before an accepted or applied edit is checked again."""
    on_save: bool = False
    """When a document is saved, check what was changed since the last save. See [Verification](verification.md)."""
    on_open: bool = True
    """Show the errors in documents that are open: syntax errors, and rules of ruff about code that fails when it runs.
    Findings about style are not shown, and nothing once another server reports the same error. See
    [Errors in open files](verification.md#errors-in-open-files).
    """


@dataclass(frozen=True, slots=True)
class Edits:
    """Edits other than ghost text: fixes, and edits by instruction."""

    confirm: str = "model"
    """Which edits the editor shows as a diff for confirmation, if it can: those written by the `model`, `always` (all)
    or `never` (none).
    """


@dataclass(frozen=True, slots=True)
class Index:
    """The index of the workspace folders: declarations, imports and the words in their files. See
    [Index](code-index.md).
    """

    enabled: bool = True
    """Index the folders of a workspace that the user trusts."""
    update_on_save: bool = True
    """Update the index when a file changes on disk. If this is off, the index is only updated when a server starts."""
    embedding_model: str = "all-minilm-l6-v2"
    """The model that makes the vectors for search by meaning (embeddings): a name in the catalogue, or the path of a
    GGUF file. See [Models](models.md#other-embedding-models).
    """
    embedding_query_prefix: str = "auto"
    """The text before a query when its vector is made. `auto` is the text that the model needs; most models need none.
    """
    embedding_document_prefix: str = "auto"
    """The text before a piece of code when its vector is made. If this setting or one of the two below changes, all
    vectors are made again.
    """
    embedding_pooling: str = "auto"
    """How the vectors of the tokens of a text are combined into one: `mean`, `cls`, `last`, or `auto`, which is the way
    in the GGUF file.
    """
    embedding_tokens: int = 128
    """How many tokens of a text are used for its vector, including the prefix; 1 to 510. More tokens cost more time and
    make search for code less precise.
    """


@dataclass(frozen=True, slots=True)
class Locate:
    """The search for the code that a task changes, if the user names no place. See [Index](code-index.md#locate)."""

    ranking: str = "index"
    """The chooser among the possible places: the `index` by its ranking, or the `model`, which gets at most eight of
    them within `context.task_budget`. A 0.5B model chooses worse than the index ([benchmarks](benchmarks.md#search)).
    """


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The signatures of installed packages ([Knowledge](knowledge.md)), and the fixes that you accepted."""

    enabled: bool = True
    """Add the signatures of the packages that the code uses to the prompt. In a retry, also add those of the packages
    that the failed attempts used.
    """
    python: str = ""
    """The virtual environment or the interpreter of the project, relative to the workspace folder. By default it is
    searched for ([Which Python](knowledge.md#which-python)).
    """
    error_cache: bool = True
    """Learn the fixes that you accept, and try them before the model if the same error appears again. See [Error
    cache](error-cache.md).
    """


@dataclass(frozen=True, slots=True)
class Config:
    """All tables of settings."""

    model: ModelSettings = field(default_factory=ModelSettings)
    engine: EngineSettings = field(default_factory=EngineSettings)
    generation: Generation = field(default_factory=Generation)
    context: Context = field(default_factory=Context)
    completion: Completion = field(default_factory=Completion)
    background: Background = field(default_factory=Background)
    quiet: Quiet = field(default_factory=Quiet)
    verification: Verification = field(default_factory=Verification)
    edits: Edits = field(default_factory=Edits)
    index: Index = field(default_factory=Index)
    locate: Locate = field(default_factory=Locate)
    knowledge: Knowledge = field(default_factory=Knowledge)
    sessions: Sessions = field(default_factory=Sessions)
    permissions: Permissions = field(default_factory=Permissions)
    hooks: HookSettings = field(default_factory=HookSettings)
    actions: Actions = field(default_factory=Actions)
    runtime: Runtime = field(default_factory=Runtime)
    missing_rules: tuple[str, ...] = ()
    """Why rules or hooks may be missing: files and values that cannot be read. Then no rule allows anything."""


Kind = type | GenericAlias
"""The type of a setting: bool, int, float, str, or a tuple of texts or of tables."""


def find_item_type(kind: Kind) -> type | None:
    """Return the type of the items of a list, or None if the setting is no list."""
    return get_args(kind)[0] if isinstance(kind, GenericAlias) else None


def list_item_keys(item: type) -> dict[str, tuple[Kind, Any]]:
    """Return key → (type, default) of the tables in a list. The place of a table is no key."""
    hints = get_type_hints(item)
    return {key.name: (hints[key.name], key.default) for key in fields(item) if key.name not in ("file", "line")}


def tables() -> dict[str, dict[str, tuple[Kind, Any]]]:
    """Return table → key → (type, default), in the order of the schema."""
    hints = get_type_hints(Config)
    return {
        table.name: {
            key.name: (get_type_hints(hints[table.name])[key.name], key.default) for key in fields(hints[table.name])
        }
        for table in fields(Config)
        if is_dataclass(hints[table.name])
    }
