--- Why the server says what it says: its verdicts, as read-only Markdown buffers `lsp-harness-verdict:/…`.

local server = require('lsp_harness.server')
local tell = require('lsp_harness.tell')

local M = {}

local SCHEME = 'lsp-harness-verdict'
local CONTENT = 'workspace/textDocumentContent'

--- Asks for a verdict the standard way where the server has it, else by its command.
---@param client vim.lsp.Client
---@param uri string
---@param done fun(err?: lsp.ResponseError, result?: { text: string })
---@return boolean asked
local function ask(client, uri, done)
  local schemes = vim.tbl_get(client.server_capabilities, 'workspace', 'textDocumentContent', 'schemes')
  if vim.list_contains(schemes or {}, SCHEME) then
    return (client:request(CONTENT, { uri = uri }, done))
  elseif server.offers(client, server.WHY) then
    return (client:request('workspace/executeCommand', { command = server.WHY, arguments = { uri } }, done))
  end
  return false
end

---@param buf integer
---@param text string
local function fill(buf, text)
  if not vim.api.nvim_buf_is_valid(buf) then
    return
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, '\r?\n'))
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

--- Asks one server after the other: a verdict is known to the one it is from.
---@param buf integer
---@param uri string
---@param clients vim.lsp.Client[]
---@param said string what to show when there is no further one
local function read(buf, uri, clients, said)
  local client = table.remove(clients, 1)
  if not client then
    fill(buf, said)
    return
  end
  local asked = ask(client, uri, function(err, result)
    if err then
      read(buf, uri, clients, err.message)
    else
      fill(buf, result.text)
    end
  end)
  if not asked then
    read(buf, uri, clients, said)
  end
end

function M.listen(group)
  vim.api.nvim_create_autocmd('BufReadCmd', {
    group = group,
    pattern = SCHEME .. ':/*',
    callback = function(event)
      vim.bo[event.buf].buftype = 'nofile'
      vim.bo[event.buf].swapfile = false
      vim.bo[event.buf].filetype = 'markdown'
      read(event.buf, event.match, server.all(), 'No server here knows this verdict.')
    end,
  })
end

---@param uri string
function M.open(uri)
  vim.cmd.split({ args = { vim.fn.fnameescape(uri) } })
end

---@param diagnostic vim.Diagnostic
---@return string? uri
local function verdict(diagnostic)
  local href = vim.tbl_get(diagnostic, 'user_data', 'lsp', 'codeDescription', 'href')
  return type(href) == 'string' and vim.startswith(href, SCHEME .. ':') and href or nil
end

--- Opens the verdict of a diagnostic on the cursor's line; of those under the cursor where there are some.
function M.why()
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  local found = vim.tbl_filter(verdict, vim.diagnostic.get(0, { lnum = row - 1 }))
  local under = vim.tbl_filter(function(each)
    return each.col <= col and col < math.max(each.end_col or 0, each.col + 1)
  end, found)
  found = #under > 0 and under or found
  if #found == 0 then
    tell('no diagnostic of lsp-harness here')
  elseif #found == 1 then
    M.open(verdict(found[1]))
  else
    vim.ui.select(found, {
      prompt = 'Why:',
      format_item = function(each)
        return (each.message:gsub('%s+', ' '))
      end,
    }, function(each)
      if each then
        M.open(verdict(each))
      end
    end)
  end
end

return M
