"""The settings of the editor, in the section `lspHarness`. They are read at the start and again when they change."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from lsprotocol import types

from lsp_harness.config.load import Problem
from lsp_harness.config.schema import Config
from lsp_harness.server.editor_client import EditorClient
from lsp_harness.server.lsp_conversion import SOURCE

log = logging.getLogger(__name__)

SECTION = "lspHarness"


def merge(base: Config, settings: dict[str, Any], roots: Sequence[Path]) -> tuple[Config, list[str]]:
    """Return the configuration with the settings of an editor on top, and a message about each wrong setting."""
    from lsp_harness.config.load import apply_editor_settings

    return apply_editor_settings(base, section(settings), roots)


def section(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the content of the section. Some clients send the section, others only its content."""
    inner = settings.get(SECTION, settings)
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}


def apply(client: EditorClient, settings: Any) -> None:
    """Use the settings that the editor sent. Anything but an object is ignored."""
    if not isinstance(settings, dict):
        return
    client.editor_settings = cast("dict[str, Any]", settings)
    config, faults = merge(client.base_config, client.editor_settings, client.harness.workspace.roots)
    for fault in faults:
        client.warn(fault)
    if config != client.harness.config:
        client.harness.configure(config)


def reload(client: EditorClient) -> None:
    """Read the settings files again, because one of them may have changed."""
    project_config, problems = client.load_project()
    client.base_config, _ = merge(project_config, client.initial_settings, client.harness.workspace.roots)
    report(client, problems)
    apply(client, client.editor_settings)


def report(client: EditorClient, problems: Sequence[Problem]) -> None:
    """Show problems of settings files as diagnostics. Problems without a file become lines in the client's log view."""
    if client.base_config.actions.custom:
        # imported late, because it imports the checks
        from lsp_harness.coding.project_actions import read_actions

        problems = [*problems, *read_actions(client.base_config)[1]]
    by_file: dict[str, list[types.Diagnostic]] = {uri: [] for uri in client.settings_files}
    for problem in problems:
        if problem.file is None:
            client.warn(problem.message)
            continue
        line = types.Range(types.Position(problem.line, 0), types.Position(problem.line + 1, 0))
        diagnostic = types.Diagnostic(line, problem.message, severity=types.DiagnosticSeverity.Warning, source=SOURCE)
        by_file.setdefault(problem.file.as_uri(), []).append(diagnostic)
    for uri, diagnostics in by_file.items():
        client.server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))
    client.settings_files = {uri for uri, diagnostics in by_file.items() if diagnostics}


async def pull(client: EditorClient) -> None:
    """Request the section from the client and use it. The answer is null if the section is not set."""
    params = types.ConfigurationParams(items=[types.ConfigurationItem(section=SECTION)])
    answers = await client.server.workspace_configuration_async(params)
    if answers:
        apply(client, answers[0])


async def follow(client: EditorClient) -> None:
    """Register for changes of the settings, and request the present ones."""
    if client.capabilities.register_configuration:
        registration = types.Registration(
            id="lsp-harness-configuration",
            method=types.WORKSPACE_DID_CHANGE_CONFIGURATION,
            register_options={"section": SECTION},
        )
        await client.server.client_register_capability_async(types.RegistrationParams(registrations=[registration]))
    if client.capabilities.configuration:
        await pull(client)
