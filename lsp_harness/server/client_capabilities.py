"""What the client can do, resolved once from its capabilities to flags.

Read from plain JSON and never rejected: a client that is newer than our LSP types must not be turned away for a value
in a corner we do not use.
"""

from dataclasses import dataclass
from typing import Any, cast

from lsp_harness.text.position import Encoding

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
LLM_GENERATED = 1


def at(raw: Any, path: str) -> Any:
    """The value at a dotted path, None where there is none."""
    for key in path.split("."):
        if not isinstance(raw, dict):
            return None
        raw = cast("dict[str, Any]", raw).get(key)
    return raw


def listed(raw: Any, path: str) -> list[Any]:
    found = at(raw, path)
    return cast("list[Any]", found) if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class Abilities:
    """Names follow the capabilities they stand for."""

    encoding: Encoding = "utf-16"
    inline_completion: bool = False
    insert_as_is: bool = False
    pull_diagnostics: bool = False
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
    """It watches files that a server names when it runs."""
    relative_patterns: bool = False
    """Also outside of the workspace."""
    change_annotations: bool = False
    create_files: bool = False
    related_information: bool = False
    code_description: bool = False
    show_document: bool = False
    text_document_content: bool = False
    symbol_trees: bool = False
    fallback: bool = False
    """It asks for definitions and references only where no other server has any: `experimental.lspHarness.fallback`."""
    status: bool = False
    """It wants `lspHarness/status`: `experimental.lspHarness.status`."""
    commands: frozenset[str] = frozenset()
    """Commands of its own that an action may name: `experimental.lspHarness.commands`."""

    @classmethod
    def of(cls, raw: Any) -> "Abilities":
        document, workspace = at(raw, "textDocument"), at(raw, "workspace")
        action = at(document, "codeAction")
        resolvable = listed(action, "resolveSupport.properties")
        return cls(
            encoding=_encoding(listed(raw, "general.positionEncodings")),
            inline_completion=at(document, "inlineCompletion") is not None,
            insert_as_is=1 in listed(document, "completion.completionItem.insertTextModeSupport.valueSet"),
            # who cannot be asked to pull again would learn of new findings with the next key only
            pull_diagnostics=at(document, "diagnostic") is not None
            and at(workspace, "diagnostics.refreshSupport") is True,
            action_literals=at(action, "codeActionLiteralSupport") is not None,
            llm_tag=LLM_GENERATED in listed(action, "tagSupport.valueSet"),
            resolve_edit="edit" in resolvable,
            resolve_command="command" in resolvable,
            apply_edit=at(workspace, "applyEdit") is True,
            document_changes=at(workspace, "workspaceEdit.documentChanges") is True,
            progress=at(raw, "window.workDoneProgress") is True,
            configuration=at(workspace, "configuration") is True,
            register_configuration=at(workspace, "didChangeConfiguration.dynamicRegistration") is True,
            watch_files=at(workspace, "didChangeWatchedFiles.dynamicRegistration") is True,
            relative_patterns=at(workspace, "didChangeWatchedFiles.relativePatternSupport") is True,
            change_annotations=at(workspace, "workspaceEdit.changeAnnotationSupport") is not None,
            create_files=at(workspace, "workspaceEdit.documentChanges") is True
            and "create" in listed(workspace, "workspaceEdit.resourceOperations"),
            # who pulls says so in another place, but both are the same to people
            related_information=_either(document, "relatedInformation"),
            code_description=_either(document, "codeDescriptionSupport"),
            show_document=at(raw, "window.showDocument.support") is True,
            text_document_content=at(workspace, "textDocumentContent") is not None,
            symbol_trees=at(document, "documentSymbol.hierarchicalDocumentSymbolSupport") is True,
            fallback=at(raw, "experimental.lspHarness.fallback") is True,
            status=at(raw, "experimental.lspHarness.status") is True,
            commands=frozenset(
                name for name in listed(raw, "experimental.lspHarness.commands") if isinstance(name, str)
            ),
        )


def _either(document: Any, name: str) -> bool:
    """An ability of diagnostics, whichever way they come."""
    return at(document, f"publishDiagnostics.{name}") is True or at(document, f"diagnostic.{name}") is True


def _encoding(wishes: list[Any]) -> Encoding:
    """The client's first that we know; UTF-16 is what everybody must know."""
    for wish in wishes:
        for known in ENCODINGS:
            if wish == known:
                return known
    return "utf-16"
