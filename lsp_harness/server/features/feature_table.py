"""Every method that this server handles, except `initialize` (see `handshake`)."""

from types import ModuleType

from lsp_harness.server.features.documents import (
    did_change,
    did_close,
    did_focus,
    did_move_cursor,
    did_open,
    did_save,
    text_document_content,
)
from lsp_harness.server.features.language import (
    code_action,
    code_action_resolve,
    code_lens,
    completion,
    definition,
    diagnostic,
    document_symbol,
    inline_completion,
    references,
)
from lsp_harness.server.features.lifecycle import (
    cancel_request,
    exit,
    initialized,
    set_trace,
    shutdown,
    work_done_progress_cancel,
)
from lsp_harness.server.features.workspace import (
    did_change_configuration,
    did_change_watched_files,
    did_change_workspace_folders,
    execute_command,
    workspace_symbol,
)

FEATURES: tuple[ModuleType, ...] = (
    initialized,
    shutdown,
    exit,
    cancel_request,
    set_trace,
    did_open,
    did_save,
    did_change,
    did_close,
    did_focus,
    did_move_cursor,
    inline_completion,
    completion,
    code_action,
    code_action_resolve,
    code_lens,
    execute_command,
    diagnostic,
    document_symbol,
    workspace_symbol,
    definition,
    references,
    text_document_content,
    did_change_configuration,
    did_change_watched_files,
    did_change_workspace_folders,
    work_done_progress_cancel,
)
