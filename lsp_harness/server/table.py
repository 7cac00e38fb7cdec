"""Every method this server answers or listens to, `initialize` aside (see `opening`)."""

from types import ModuleType

from lsp_harness.server.features import (
    cancel_request,
    code_action,
    code_action_resolve,
    completion,
    diagnostic,
    did_change,
    did_change_configuration,
    did_change_workspace_folders,
    did_close,
    did_focus,
    did_move_cursor,
    did_open,
    did_save,
    execute_command,
    exit,
    initialized,
    inline_completion,
    set_trace,
    shutdown,
    work_done_progress_cancel,
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
    execute_command,
    diagnostic,
    did_change_configuration,
    did_change_workspace_folders,
    work_done_progress_cancel,
)
