"""Settings from the editor, section `lspHarness`: read at the start and again when they change."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from lsprotocol import types

from lsp_harness.config.load import Problem
from lsp_harness.config.schema import Config
from lsp_harness.server.editor_client import Client
from lsp_harness.server.lsp_conversion import SOURCE

log = logging.getLogger(__name__)

SECTION = "lspHarness"


def merged(base: Config, settings: dict[str, Any], roots: Sequence[Path]) -> tuple[Config, list[str]]:
    """The configuration with the editor's settings on top, and what is wrong with them."""
    from lsp_harness.config.load import apply_editor_settings

    return apply_editor_settings(base, section(settings), roots)


def section(settings: dict[str, Any]) -> dict[str, Any]:
    """Some clients send the section, some what is in it."""
    inner = settings.get(SECTION, settings)
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}


def apply(client: Client, settings: Any) -> None:
    if not isinstance(settings, dict):
        return
    client.given = cast("dict[str, Any]", settings)
    config, faults = merged(client.base, client.given, client.harness.workspace.roots)
    for fault in faults:
        client.warn(fault)
    if config != client.harness.config:
        client.harness.configure(config)


def reload(client: Client) -> None:
    """A settings file may say something else."""
    loaded, problems = client.load_project()
    # what the editor said at the start still stands
    client.base, _ = merged(loaded, client.options, client.harness.workspace.roots)
    report(client, problems)
    apply(client, client.given)


def report(client: Client, problems: Sequence[Problem]) -> None:
    """What is wrong in settings files, as diagnostics on them; the rest as a line in the client's log view."""
    by_file: dict[str, list[types.Diagnostic]] = {uri: [] for uri in client.settings_files}
    for problem in problems:
        if problem.file is None:
            client.warn(problem.message)
            continue
        line = types.Range(types.Position(problem.line, 0), types.Position(problem.line + 1, 0))
        found = types.Diagnostic(line, problem.message, severity=types.DiagnosticSeverity.Warning, source=SOURCE)
        by_file.setdefault(problem.file.as_uri(), []).append(found)
    for uri, found in by_file.items():
        client.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))
    client.settings_files = {uri for uri, found in by_file.items() if found}


async def pull(client: Client) -> None:
    """Asks for the section; the answer is null where it is not set."""
    params = types.ConfigurationParams(items=[types.ConfigurationItem(section=SECTION)])
    answers = await client.server.workspace_configuration_async(params)
    if answers:
        apply(client, answers[0])


async def follow(client: Client) -> None:
    """Asks to be told of changes, and for the settings as they are."""
    if client.able.register_configuration:
        wanted = types.Registration(
            id="lsp-harness-configuration",
            method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
            register_options={"section": SECTION},
        )
        await client.server.client_register_capability_async(types.RegistrationParams(registrations=[wanted]))
    if client.able.configuration:
        await pull(client)
