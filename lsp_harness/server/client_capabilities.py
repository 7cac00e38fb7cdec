"""The capabilities of the client, resolved once to flags.

They are read from plain JSON and never rejected: a client that is newer than our LSP types must work even if a
capability that we do not use has an unknown value.
"""

from dataclasses import dataclass
from typing import Any

from lsp_harness.server.json_value import list_at, value_at
from lsp_harness.text.position import Encoding

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
LLM_GENERATED = 1
"""The number of `CodeActionTag.LLMGenerated`."""
AS_IS = 1
"""The number of `InsertTextMode.asIs`."""


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """The abilities of a client as flags. Their names follow the LSP capabilities that they stand for."""

    encoding: Encoding = "utf-16"
    inline_completion: bool = False
    insert_as_is: bool = False
    pull_diagnostics: bool = False
    code_lens: bool = False
    """The client shows lenses, and requests them again when the server asks for it."""
    action_literals: bool = False
    llm_tag: bool = False
    resolve_edit: bool = False
    resolve_command: bool = False
    apply_edit: bool = False
    document_changes: bool = False
    progress: bool = False
    configuration: bool = False
    register_configuration: bool = False
    watch_files: bool = False
    """The client watches files that the server registers while it runs."""
    relative_patterns: bool = False
    """The client also watches files outside of the workspace."""
    change_annotations: bool = False
    create_files: bool = False
    related_information: bool = False
    code_description: bool = False
    show_document: bool = False
    text_document_content: bool = False
    symbol_trees: bool = False
    fallback: bool = False
    """The client asks for definitions and references if no other server has any: `experimental.lspHarness.fallback`."""
    status: bool = False
    """The client wants the notification `lspHarness/status`: `experimental.lspHarness.status`."""
    events: bool = False
    """The client wants the events of sessions: `experimental.lspHarness.events`."""
    permissions: bool = False
    """The client shows questions about permissions by itself: `experimental.lspHarness.permissions`."""
    agents: bool = False
    """The client wants the events of agents: `experimental.lspHarness.agents`. With `events` it gets them, too."""
    questions: bool = False
    """The client asks the user what agents ask, and answers: `experimental.lspHarness.questions`."""
    commands: frozenset[str] = frozenset()
    """The commands of the client that a code action may name: `experimental.lspHarness.commands`."""

    @classmethod
    def from_json(cls, raw: Any) -> "ClientCapabilities":
        """Resolve the value of `capabilities` in `initialize`."""
        document, workspace = value_at(raw, "textDocument"), value_at(raw, "workspace")
        action = value_at(document, "codeAction")
        resolvable = list_at(action, "resolveSupport.properties")
        return cls(
            encoding=_choose_encoding(list_at(raw, "general.positionEncodings")),
            inline_completion=value_at(document, "inlineCompletion") is not None,
            insert_as_is=AS_IS in list_at(document, "completion.completionItem.insertTextModeSupport.valueSet"),
            # without a refresh, the client would show new findings only after the next key
            pull_diagnostics=value_at(document, "diagnostic") is not None
            and value_at(workspace, "diagnostics.refreshSupport") is True,
            # without a refresh, a lens would appear only after the next key, when it is gone again
            code_lens=value_at(document, "codeLens") is not None
            and value_at(workspace, "codeLens.refreshSupport") is True,
            action_literals=value_at(action, "codeActionLiteralSupport") is not None,
            llm_tag=LLM_GENERATED in list_at(action, "tagSupport.valueSet"),
            resolve_edit="edit" in resolvable,
            resolve_command="command" in resolvable,
            apply_edit=value_at(workspace, "applyEdit") is True,
            document_changes=value_at(workspace, "workspaceEdit.documentChanges") is True,
            progress=value_at(raw, "window.workDoneProgress") is True,
            configuration=value_at(workspace, "configuration") is True,
            register_configuration=value_at(workspace, "didChangeConfiguration.dynamicRegistration") is True,
            watch_files=value_at(workspace, "didChangeWatchedFiles.dynamicRegistration") is True,
            relative_patterns=value_at(workspace, "didChangeWatchedFiles.relativePatternSupport") is True,
            change_annotations=value_at(workspace, "workspaceEdit.changeAnnotationSupport") is not None,
            create_files=value_at(workspace, "workspaceEdit.documentChanges") is True
            and "create" in list_at(workspace, "workspaceEdit.resourceOperations"),
            related_information=_diagnostic_flag(document, "relatedInformation"),
            code_description=_diagnostic_flag(document, "codeDescriptionSupport"),
            show_document=value_at(raw, "window.showDocument.support") is True,
            text_document_content=value_at(workspace, "textDocumentContent") is not None,
            symbol_trees=value_at(document, "documentSymbol.hierarchicalDocumentSymbolSupport") is True,
            fallback=value_at(raw, "experimental.lspHarness.fallback") is True,
            status=value_at(raw, "experimental.lspHarness.status") is True,
            events=value_at(raw, "experimental.lspHarness.events") is True,
            permissions=value_at(raw, "experimental.lspHarness.permissions") is True,
            agents=value_at(raw, "experimental.lspHarness.agents") is True,
            questions=value_at(raw, "experimental.lspHarness.questions") is True,
            commands=frozenset(
                name for name in list_at(raw, "experimental.lspHarness.commands") if isinstance(name, str)
            ),
        )


def _diagnostic_flag(document: Any, name: str) -> bool:
    """Return a flag of diagnostics. A client that pulls diagnostics announces it in another place."""
    return value_at(document, f"publishDiagnostics.{name}") is True or value_at(document, f"diagnostic.{name}") is True


def _choose_encoding(offers: list[Any]) -> Encoding:
    """Return the first encoding of the client that we know, or UTF-16, which every client must know."""
    for offer in offers:
        if offer in ENCODINGS:
            return offer
    return "utf-16"
