"""A real Neovim that tests type into and read from.

No method sleeps: Neovim itself waits, and handles its events in the meantime.
"""

from pathlib import Path
from typing import Any

from pynvim import Nvim

SECONDS = 30


class Editor:
    """One Neovim with the plugin as a native package."""

    def __init__(self, nvim: Nvim, folder: Path) -> None:
        self.nvim = nvim
        self.folder = folder

    def lua(self, code: str, *args: Any) -> Any:
        return self.nvim.exec_lua(code, *args)

    def open(self, name: str = "demo.py", text: str = "", *, attached: bool = True) -> None:
        path = self.folder / name
        path.write_text(text)
        self.nvim.command(f"edit {path}")
        if attached:
            self.until("require('lsp_harness.server').client(0) ~= nil")

    def type(self, keys: str) -> None:
        """Type keys. Neovim handles keys before requests, so they and their autocommands are done when this returns."""
        self.nvim.input(keys)
        self.nvim.eval("1")

    def until(self, condition: str, *args: Any) -> None:
        """Wait until a Lua expression is true. `...` in it are the arguments."""
        code = f"""
            local args = {{ ... }}
            local function holds(...) return {condition} end
            return vim.wait({SECONDS * 1000}, function() return holds(unpack(args)) end, 5)
        """
        assert self.lua(code, *args), f"never came true: {condition} {args or ''}\n{self.report()}"

    def report(self) -> str:
        # if the plugin is not loaded yet, there is no namespace
        statusline = self.lua(
            "local ok, module = pcall(require, 'lsp_harness') return ok and module.statusline() or ''"
        )
        return (
            f"buffer {self.buffer}\nghost {self.ghost}\nstatusline {statusline}\n"
            f"events {self.events()}\n{self.nvim.command_output('messages')}"
        )

    # -- the state of the editor
    @property
    def buffer(self) -> list[str]:
        return list(self.nvim.current.buffer)

    @property
    def cursor(self) -> tuple[int, int]:
        row, col = self.nvim.current.window.cursor
        return row, col

    @property
    def ghost(self) -> list[str]:
        """The lines of ghost text. The text between its pieces on the first line is in angle brackets."""
        marks = self.lua("""
            local space = require('lsp_harness.view').namespace
            return vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
        """)
        if not marks:
            return []
        line = self.buffer[marks[0][1]].encode()
        first, below, end = "", [], None
        for _id, _row, col, details in marks:
            if end is not None:
                first += f"<{line[end:col].decode()}>"
            end = col
            first += "".join(text for text, _highlight in details.get("virt_text", []))
            below += ["".join(text for text, _highlight in chunks) for chunks in details.get("virt_lines", [])]
        return [first, *below]

    def shows(self, *lines: str) -> None:
        """Wait until ghost text is shown. It must be this."""
        self.until("require('lsp_harness').visible()")
        assert self.ghost == list(lines)

    @property
    def messages(self) -> str:
        return self.nvim.command_output("messages")

    def says(self, text: str) -> None:
        """Wait until a message with this text was shown."""
        self.until("vim.fn.execute('messages'):find(..., 1, true) ~= nil", text)

    def hush(self) -> None:
        """Stop automatic requests, for which a script has no reply."""
        self.lua("require('lsp_harness.config').debounce_ms = 60000")

    @property
    def statusline(self) -> str:
        return self.lua("return require('lsp_harness').statusline()")

    def choosing(self, wanted: str) -> None:
        """Answer all selections from now on with the item that contains this. `offered` are the items."""
        self.lua(
            """
            local wanted = ...
            vim.ui.select = function(items, options, done)
              _G.offered = vim.iter(items):map(options.format_item):totable()
              for index, shown in ipairs(offered) do
                if shown:find(wanted, 1, true) then return done(items[index], index) end
              end
              done(nil)
            end
            """,
            wanted,
        )

    def diagnose(
        self,
        row: int,
        start: int,
        end: int,
        message: str,
        *,
        source: str = "linter",
        code: str = "L1",
        linter: str = "linter",
    ) -> None:
        """Set a diagnostic as a linter plugin does. Each `linter` has one."""
        self.lua(
            """
            local row, from, to, message, source, code, linter = ...
            vim.diagnostic.set(vim.api.nvim_create_namespace(linter), 0, {
              { lnum = row, col = from, end_lnum = row, end_col = to, message = message,
                source = source, code = code },
            })
            """,
            *(row, start, end, message, source, code, linter),
        )

    def previews(self) -> tuple[str, list[str]]:
        """Wait for the window that shows an edit, and return its title and its lines."""
        self.until("vim.bo.filetype == 'diff'")
        title = self.lua("return (vim.api.nvim_win_get_config(0).title or {{ vim.wo.winbar }})[1][1]")
        return title.strip(), self.buffer

    # -- the messages to the fake server
    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        return [event for event in self.lua("return events") if kind in (None, event["event"])]

    def asked(self) -> list[str]:
        return [event["left"] for event in self.events("asked")]

    def until_event(self, kind: str, **facts: Any) -> None:
        self.until("_G.seen(...)", {"event": kind, **facts})

    def release(self) -> None:
        """Let the server send the answers that it delays, and wait until Neovim has handled them."""
        self.lua("require('lsp_harness.server').client(0):notify('fake/release', {})")
        self.settle()

    def settle(self) -> None:
        """Make a round trip, after which all earlier messages of the server have arrived."""
        answer = self.lua("""
            local client = require('lsp_harness.server').client(0)
            return client:request_sync('workspace/executeCommand', { command = 'lspHarness.status' }, 5000, 0)
        """)
        assert "result" in answer
