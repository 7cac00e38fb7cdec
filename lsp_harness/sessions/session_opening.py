"""Opens a session: the settings, the model, the gate, the tools and the log, from its options."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lsp_harness.chat.chat_model import Model
from lsp_harness.chat.mcp.mcp_servers import McpServers
from lsp_harness.chat.shown_tools import FindTool
from lsp_harness.chat.skills import SkillTool, find_skills
from lsp_harness.chat.tool import Tool
from lsp_harness.chat.tools.session_tasks import SessionTasks
from lsp_harness.chat.tools.tool_environment import EditorTexts, ToolEnvironment, can_read_all
from lsp_harness.chat.tools.tool_registry import create_tools
from lsp_harness.config import paths
from lsp_harness.config.load import is_in_trusted_folder
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.session_events import SessionStarted, TurnStopped
from lsp_harness.files.private_files import PrivateFiles
from lsp_harness.files.secret_values import hide_variables
from lsp_harness.harness.verification.edit_permission import CheckPermission
from lsp_harness.harness.verification.verifier import CheckSupply, create_verifier
from lsp_harness.index.query.related_tests import AffectedTest
from lsp_harness.inference.client import Engine
from lsp_harness.inference.engine_choice import describe_model
from lsp_harness.inference.models.measured_abilities import can_be_measured, find_abilities
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.artifacts import ArtifactStore
from lsp_harness.kernel.checkpoints.checkpoints import Checkpoints, RestorationGuard
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.limits import DEFAULT_MAX_STEPS, Limits
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.log.session_store import OpenedSession, SessionStore
from lsp_harness.kernel.session import Session
from lsp_harness.kernel.tasks.stop_pipe import remove_pipe
from lsp_harness.kernel.tasks.task_runner import TaskCallbacks, TaskRunner
from lsp_harness.permission.action import CHECK_TOOLS
from lsp_harness.permission.client_hooks import ClientHooks
from lsp_harness.permission.gate_policy import GatePolicy, make_hooks, make_policy, parse_tools
from lsp_harness.permission.hooks import Hooks
from lsp_harness.permission.permission_gate import PermissionGate
from lsp_harness.permission.rules import KIND_TOOLS, parse_rule, tool_matches
from lsp_harness.process.process_tree import end_marked
from lsp_harness.project.lazy_index import FindIndex, LazyIndex
from lsp_harness.sessions.edit_copies import FOLDER_LIMIT_S, EditCopies
from lsp_harness.sessions.model_choice import choose_model, create_model, read_session_settings
from lsp_harness.sessions.open_session import OpenSession, SessionParts, command_environment
from lsp_harness.sessions.pending_questions import PendingQuestions
from lsp_harness.sessions.reading_commands import ReadingCommands
from lsp_harness.sessions.server_choice import find_servers
from lsp_harness.sessions.session_options import DRIVERS, SessionOptions
from lsp_harness.sessions.session_tools import SessionTools
from lsp_harness.sessions.session_undo import UndoResult
from lsp_harness.sessions.subagent_tool import ParentSession, SubagentTool
from lsp_harness.verify.check import CheckContext
from lsp_harness.verify.reviewer import Reviewer
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.wire.session_options import Driver
from lsp_harness.wire.version import VERSION
from lsp_harness.workspace.workspace import Workspace

if TYPE_CHECKING:
    from lsp_harness.sessions.ability_measurement import Ask
    from lsp_harness.sessions.edit_driver import EditDriver
    from lsp_harness.wire.permission_mode import PermissionMode

DEFAULT_MODE = "trust"
"""The permission mode of a session without a person."""
ACTIONS_WITHOUT_TOOL = (*CHECK_TOOLS, "undo")
"""Actions that the lists of tools may name although no tool of a conversation has this name."""
MEASURED_TOOLS, MEASURED_STEPS = ("read", "glob", "grep"), 4
"""The tools with which a model must answer a question when its abilities are measured, and the most model calls."""
MODE_WITH_PERSON = "ask"
"""The permission mode of a session in an editor or a terminal, where a person can be asked."""


@dataclass(frozen=True, slots=True)
class SharedModel:
    """The model of a process that serves several sessions, so that it is loaded once.

    Attributes:
        config: The settings of the process.
        engine: The engine. The process closes it, after the sessions.
    """

    config: Config
    engine: Engine


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The parts that an editor or a parent lends to a session.

    Attributes:
        find_index: Returns the index that is kept for a folder, or None.
        editor_texts: The unsaved texts of the editor, or None without an editor.
        client_hooks: The functions of the client of the parent, or None without a parent.
        is_trusted: Whether the user has told the editor to trust the folder, so that its MCP servers and skills count.
    """

    find_index: FindIndex = lambda root: None
    editor_texts: EditorTexts | None = None
    client_hooks: ClientHooks | None = None
    is_trusted: bool = False


ALONE = Surroundings()
"""The surroundings of a session without an editor and a parent."""


async def open_session(
    options: SessionOptions,
    shared: SharedModel | None = None,
    surroundings: Surroundings = ALONE,
    *,
    models: Sequence[Model] = (),
) -> OpenSession:
    """Open a new session, or continue one.

    Args:
        options: The options.
        shared: The model and the settings of this process. Options that name a model win against it.
        surroundings: What an editor or a parent lends to the session.
        models: The models, which somebody else closes. Without them, they are those of the options and settings.

    Raises:
        UsageError: An option is not valid, or there is no such session.
        ModelError: The model does not exist.
        ConfigError: The settings name a server that cannot be asked.
    """
    if options.model or options.provider:
        shared = None
    if options.only_answers:
        # a conversation only reads then
        options = replace(options, permission_mode="plan")
    if shared and not options.bare and options.setting_sources is None:
        config = shared.config
    else:
        config = read_session_settings(options if shared else _with_environment(options))
    if options.budget:
        config = replace(config, generation=replace(config.generation, budget_s=math.ceil(options.budget)))
    store = SessionStore()
    async with AsyncExitStack() as stack:
        # a program may give keys to the commands of its session that this process does not have
        stack.enter_context(hide_variables(command_environment(options)))
        # nobody knows what a lent model is
        measured = None if models else config
        models = list(models) or _create_models(config, options, shared, stack)
        opened = _open_log(options, store)
        stack.callback(opened.log.close)
        options = replace(options, driver=await _choose_driver(options, measured, models[0], opened))
        for task_id in opened.lost_tasks:
            await end_marked(task_id)
            remove_pipe(task_id)
        parts = await _create_parts(options, config, models, opened.log, store, surroundings, stack)
    log, model = opened.log, models[0].name
    start = SessionStarted(
        str(options.root), options.driver_name, model, parts.gate.mode, VERSION, options.parent or None, options.source
    )
    limits = Limits(
        options.max_turns or DEFAULT_MAX_STEPS,
        options.max_tokens_total or 0,
        options.max_seconds or 0.0,
        lambda: parts.running_tokens().total,
    )
    session = Session(log, start, limits)
    open_session = OpenSession(session, options, parts, opened.event_count, store)
    parts.on_task_end.append(open_session.report_task_end)
    return open_session


async def open_without_model(options: SessionOptions) -> OpenSession:
    """Open a session whose tools are wanted and no answers. No engine starts, and no model needs to exist.

    Raises:
        UsageError: An option is not valid, or there is no such session.
        ConfigError: The settings name a server that cannot be asked.
    """
    return await open_session(options, models=[Model("", ScriptedEngine(()))])


async def _choose_driver(options: SessionOptions, config: Config | None, model: Model, opened: OpenedSession) -> Driver:
    """Return the driver of a session: the one that the options name, else that of the saved session, else the one that
    fits the model. A server, a service and a script can talk with tools.

    Args:
        options: The options.
        config: The settings that name the model, or None if they do not.
        model: The model.
        opened: The log of the session.
    """
    if options.driver:
        return options.driver
    if options.json_schema is not None or options.system_prompt is not None or options.parent:
        # only a conversation has these
        return "chat"
    started = opened.log.state.started
    if started and started.driver in DRIVERS:
        return started.driver
    try:
        abilities = find_abilities(config) if config else None
        if config and abilities is None and can_be_measured(config):
            # imported for the first model that nobody has measured, because it needs the parser of code
            from lsp_harness.sessions.ability_measurement import measure_abilities

            abilities = await measure_abilities(config, model, ask_about_folder(model))
    except HarnessError:
        # the first prompt meets the same error and reports it
        return "code"
    return "chat" if abilities is None or abilities.tools else "code"


def ask_about_folder(model: Model) -> "Ask":
    """Return a function that asks a model one question about a folder, in a conversation whose tools only read."""

    async def ask(folder: str, question: str) -> TurnStopped:
        options = SessionOptions(
            cwd=folder,
            bare=True,
            driver="chat",
            session_persistence=False,
            permission_mode="plan",
            allowed_tools=MEASURED_TOOLS,
            max_turns=MEASURED_STEPS,
            source="setup",
        )
        opened = await open_session(options, models=[model])
        try:
            return await opened.submit(Ingress("message", question, source="setup"), opened.create_driver())
        finally:
            await opened.aclose()

    return ask


def _with_environment(options: SessionOptions) -> SessionOptions:
    """Return the options with the provider and the model of the environment, if the options have none."""
    if options.provider or options.model:
        return options
    environment = command_environment(options)
    provider, model = environment.get("LSP_HARNESS_PROVIDER", ""), environment.get("LSP_HARNESS_MODEL", "")
    return replace(options, provider=provider, model=model)


def _create_models(
    config: Config, options: SessionOptions, shared: SharedModel | None, stack: AsyncExitStack
) -> list[Model]:
    configs = [] if shared else [config]
    if options.fallback_model:
        configs.append(choose_model(config, "", options.fallback_model))
    models = [Model(describe_model(shared.config), shared.engine)] if shared else list[Model]()
    for choice in configs:
        models.append(create_model(choice, "", ""))
        stack.push_async_exit(_make_closer(models[-1].engine))
    return models


def _make_closer(engine: Engine) -> Callable[..., Awaitable[None]]:
    """Return an exit of a block that closes an engine. If the block failed, its error counts, and no other."""

    async def close(error_type: object, error: BaseException | None, traceback: object) -> None:
        try:
            await engine.aclose()
        except HarnessError:
            if error is None:
                raise

    return close


PERSONS = frozenset({"cli", "acp"})
"""Sources of sessions that a person opens, often only to close them. A program knows the name, and may come back."""


def _open_log(options: SessionOptions, store: SessionStore) -> OpenedSession:
    if not options.resume:
        log = store.create(is_saved=options.session_persistence is not False)
        if options.source in PERSONS:
            log.hold_prelude()
        return OpenedSession(log, 0)
    # a part of a name is about the sessions of this folder: another one would change other files
    return store.open(store.find(options.resume, options.root, is_strict=True))


async def _create_parts(
    options: SessionOptions,
    config: Config,
    models: list[Model],
    log: SessionLog,
    store: SessionStore,
    surroundings: Surroundings,
    stack: AsyncExitStack,
) -> SessionParts:
    def record(event: SessionEvent) -> object:
        return log.append_to_running(event)

    root = options.root
    client_hooks = surroundings.client_hooks or ClientHooks(options.client_hooks)
    hooks = _create_hooks(config, options, record, client_hooks)
    questions = PendingQuestions()
    gate = PermissionGate(_create_policy(config, options), record, hooks)
    if options.ask_permissions:
        gate.callback = questions.decide
    if options.has_person:
        gate.person = questions
    parents = [store.folder / id for id in list(store.lineage(log.id))[1:]] if log.path.exists() else []
    artifacts = ArtifactStore(log.folder, record, parents)
    on_task_end: list[Callable[[str], None]] = []

    def report_end(task_id: str) -> None:
        for call in on_task_end:
            call(task_id)

    callbacks = TaskCallbacks(
        report=lambda task_id, text: log.send_frame("tool.output.delta", {"call_id": task_id, "content": text}),
        on_background_end=report_end,
    )
    tasks = TaskRunner(record, log.folder, artifacts=artifacts, callbacks=callbacks)
    guard = RestorationGuard(gate.check, lambda path: gate.policy.protected.edit_problem(path))
    checkpoints = Checkpoints(root, paths.state_folder() / "checkpoints", record, guard, limit_s=FOLDER_LIMIT_S)
    copies = EditCopies(
        checkpoints, record, lambda paths: hooks.run("fileChanged", {"session_id": log.id, "paths": list(paths)})
    )
    index = LazyIndex(root, is_enabled=config.index.enabled, find_shared=surroundings.find_index)
    stack.push_async_callback(index.aclose)

    async def find_affected(root: Path, path: str) -> Sequence[AffectedTest]:
        query = await index.ready(lambda line: None)
        return await query.affected_tests(root.as_uri(), path) if query else ()

    async def find_users(root: Path, path: str) -> Sequence[str]:
        query = await index.ready(lambda line: None)
        return await query.users(root.as_uri(), path) if query else ()

    # the gate decides about each program, as it does about the commands of this session
    is_trusted = surroundings.is_trusted or is_in_trusted_folder(root, config)
    checkers = CheckerPool(lambda: config.knowledge.python, may_run_code=lambda folder: is_trusted)
    stack.push_async_callback(checkers.aclose)
    private_files = PrivateFiles([root])
    # the model of a session may be changed
    reviewer = Reviewer(lambda: models[0].engine, private_files.reason)
    supply = CheckSupply(
        CheckPermission(lambda: gate),
        find_affected,
        checkers,
        lambda folder: is_trusted,
        reviewer,
        find_users=find_users,
    )
    verifier = create_verifier(supply, is_trusted=True)
    stack.push_async_callback(verifier.aclose)
    environment = ToolEnvironment(
        roots=[root],
        private_files=private_files,
        index=index,
        create_checks=lambda: verifier.create_checks(config.verification, CheckContext(verifier.tools)),
        tasks=SessionTasks(tasks, root, command_environment(options), ReadingCommands([root]).confine),
        artifacts=artifacts,
        before_edit=copies.keep,
        can_read=gate.is_readable if gate.policy.tells_files_apart else can_read_all,
        editor_texts=surroundings.editor_texts,
    )

    async def open_child(options: SessionOptions, models: Sequence[Model]) -> OpenSession:
        lent = replace(surroundings, find_index=index.open, client_hooks=client_hooks)
        return await open_session(options, None, lent, models=models)

    servers, server_remarks = await _start_servers(options, stack, is_trusted=is_trusted)
    # the tools that the client has listed are all shown, so that none must be looked for
    has_find_tool = options.allowed_tools is None
    tools = SessionTools(create_tools(environment), servers, gate.policy, has_find_tool=has_find_tool)
    skills = [] if options.bare else find_skills(options.root, is_trusted=is_trusted)
    if skills:
        tools.add(SkillTool(skills, record))
    agents = SubagentTool(ParentSession(options, models, log, gate, hooks, tasks), open_child)
    if not options.parent or SubagentTool.name in (options.allowed_tools or ()):
        tools.add(agents)
    warnings = [] if options.parent else _find_unknown_tools(tools.known, options)

    def create_edit_driver(undo: Callable[[], Awaitable[UndoResult]]) -> "EditDriver":
        # imported for the first edit, because it takes a third of a second
        from lsp_harness.sessions.edit_driver import EditDriver

        texts = surroundings.editor_texts
        return EditDriver(
            config,
            models[0].engine,
            Workspace([root]),
            verifier,
            gate,
            copies,
            index,
            undo,
            texts,
            only_answers=bool(options.only_answers),
        )

    # the session closes what was opened for it, and not the block that opens it
    closers = [stack.pop_all().aclose]
    return SessionParts(
        config=config,
        models=models,
        gate=gate,
        hooks=hooks,
        tasks=tasks,
        artifacts=artifacts,
        checkpoints=checkpoints,
        edit_copies=copies,
        create_edit_driver=create_edit_driver,
        tools=tools.shown,
        hidden_tools=tools.hidden,
        refresh_tools=tools.refresh,
        questions=questions,
        client_hooks=client_hooks,
        list_servers=servers.status,
        server_remarks=server_remarks,
        warnings=warnings,
        closers=closers,
        on_task_end=on_task_end,
        follow_mode=agents.follow_mode,
        running_tokens=agents.running_tokens,
        list_unsaved=lambda: tuple(surroundings.editor_texts.unsaved()) if surroundings.editor_texts else (),
    )


async def _start_servers(
    options: SessionOptions, stack: AsyncExitStack, *, is_trusted: bool
) -> tuple[McpServers, list[str]]:
    """Return the MCP servers of the session, which run until the stack is closed, and what is wrong with them."""
    chosen = find_servers(options, is_trusted=is_trusted)
    servers = await stack.enter_async_context(McpServers(chosen.specs, options.root))
    remarks = [*chosen.remarks, *servers.problems.values()]
    for remark in remarks:
        warn_once(remark)
    return servers, remarks


def _find_unknown_tools(tools: Mapping[str, Tool], options: SessionOptions) -> list[str]:
    """Return a warning for each entry of the lists of tools that is about no tool: a mistake in it goes unnoticed."""
    names, warnings = {*tools, FindTool.name, *ACTIONS_WITHOUT_TOOL}, list[str]()
    for option, kinds in (("allowed_tools", ()), ("disallowed_tools", chain(*KIND_TOOLS.values()))):
        # a denial may also name a kind of tools
        names |= set(kinds)
        for text in getattr(options, option) or ():
            pattern = parse_rule(text, "allow").tool
            if not any(tool_matches(pattern, name) for name in names):
                similar = get_close_matches(pattern.casefold(), names, 1)
                hint = f"; did you mean {similar[0]}?" if similar else f"; the tools are {', '.join(sorted(tools))}"
                warnings.append(f"{option} has {text!r}, and there is no such tool{hint}")
    return warnings


def _create_policy(config: Config, options: SessionOptions) -> GatePolicy:
    asks = options.source == "lsp" or options.has_person
    default = options.default_mode or (MODE_WITH_PERSON if asks else DEFAULT_MODE)
    policy, problems = make_policy(config, [options.root], cast("PermissionMode", default))
    for problem in problems:
        warn_once(problem.sentence)
    try:
        allowed, disallowed = parse_tools(options.allowed_tools), parse_tools(options.disallowed_tools) or ()
    except ValueError as error:
        raise UsageError(f"the list of tools is not valid: {error}") from error
    mode = options.permission_mode or policy.mode
    if options.permission_timeout:
        policy = replace(policy, callback_timeout_s=options.permission_timeout)
    return replace(
        policy,
        mode=mode,  # pyright: ignore[reportArgumentType] - the options were checked
        allowed_tools=allowed,
        disallowed_tools=disallowed,
        can_confine=ReadingCommands.can_confine,
    )


def _create_hooks(
    config: Config, options: SessionOptions, record: Callable[[SessionEvent], object], client_hooks: ClientHooks
) -> Hooks:
    hooks, problems = make_hooks(config)
    for problem in problems:
        warn_once(problem.sentence)
    return Hooks([*(() if options.bare else hooks), *client_hooks.hooks()], record, options.root)
