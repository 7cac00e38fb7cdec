--- A workspace edit worked out on scratch copies: what every file would be afterwards. Nothing of the user's changes
--- until `apply`, and nothing does then if a text is not the one that was worked on.

---@class lsp_harness.Change one file of an edit
---@field uri string
---@field name string what people call the file
---@field buf? integer where it is loaded
---@field before? string[] nil for a file that does not exist
---@field after? string[] nil for a file that goes away
---@field note? string

---@class lsp_harness.Plan
---@field edit lsp.WorkspaceEdit
---@field encoding 'utf-8'|'utf-16'|'utf-32'
---@field changes lsp_harness.Change[]
---@field labels string[] of the annotations
---@field confirm boolean whether an annotation asks for the user's consent

local M = {}

local MOVED_ON = 'the text has changed since this was worked out'

---@param uri string
---@return integer?
local function loaded(uri)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.uri_from_bufnr(buf) == uri then
      return buf
    end
  end
end

--- The lines of a file as they are now, in its buffer or on disk.
---@param uri string
---@param buf? integer
---@return string[]?
local function lines(uri, buf)
  if buf then
    return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  end
  local path = vim.uri_to_fname(uri)
  if vim.fn.filereadable(path) == 1 then
    local read = vim.fn.readfile(path)
    -- as a buffer of an empty file is
    return #read > 0 and read or { '' }
  end
end

---@param text string[]
---@param edits lsp.TextEdit[]
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return string[]
local function edited(text, edits, encoding)
  local scratch = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, text)
  vim.lsp.util.apply_text_edits(edits, scratch, encoding)
  local result = vim.api.nvim_buf_get_lines(scratch, 0, -1, false)
  vim.api.nvim_buf_delete(scratch, { force = true })
  return result
end

--- The change of a file, which several parts of an edit may add to.
---@param plan lsp_harness.Plan
---@param uri string
---@return lsp_harness.Change
local function change(plan, uri)
  for _, known in ipairs(plan.changes) do
    if known.uri == uri then
      return known
    end
  end
  local buf = loaded(uri)
  local text = lines(uri, buf)
  ---@type lsp_harness.Change
  local new = { uri = uri, name = vim.fn.fnamemodify(vim.uri_to_fname(uri), ':~:.'), buf = buf }
  new.before, new.after = text, text
  plan.changes[#plan.changes + 1] = new
  return new
end

---@param plan lsp_harness.Plan
---@param part any one of `documentChanges`
---@return string? problem
local function operation(plan, part)
  if part.kind == 'rename' then
    change(plan, part.oldUri).note = 'is renamed to ' .. vim.uri_to_fname(part.newUri)
  elseif part.kind == 'delete' then
    local gone = change(plan, part.uri)
    gone.after, gone.note = nil, 'is deleted'
  elseif part.kind == 'create' then
    local new = change(plan, part.uri)
    if not new.before then
      new.note = 'is a new file'
    elseif part.options and part.options.overwrite then
      new.after = { '' }
    elseif not (part.options and part.options.ignoreIfExists) then
      return new.name .. ' exists already'
    end
  else
    local document, target = part.textDocument, change(plan, part.textDocument.uri)
    local version = document.version
    if type(version) == 'number' and target.buf and vim.lsp.util.buf_versions[target.buf] > version then
      return MOVED_ON
    end
    target.after = edited(target.after or { '' }, part.edits, plan.encoding)
  end
end

--- The annotations that are used, by label.
---@param plan lsp_harness.Plan
---@param id? string
local function annotation(plan, id)
  local said = id and (plan.edit.changeAnnotations or {})[id]
  if said then
    plan.confirm = plan.confirm or said.needsConfirmation == true
    if not vim.list_contains(plan.labels, said.label) then
      plan.labels[#plan.labels + 1] = said.label
    end
  end
end

---@param edit lsp.WorkspaceEdit
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return lsp_harness.Plan? plan
---@return string? problem
function M.of(edit, encoding)
  ---@type lsp_harness.Plan
  local plan = { edit = edit, encoding = encoding, changes = {}, labels = {}, confirm = false }
  local parts = edit.documentChanges
  if not parts then
    parts = {}
    for uri, edits in vim.spairs(edit.changes or {}) do
      parts[#parts + 1] = { textDocument = { uri = uri }, edits = edits }
    end
  end
  for _, part in ipairs(parts) do
    local problem = operation(plan, part)
    if problem then
      return nil, problem
    end
    annotation(plan, part.annotationId)
    for _, text_edit in ipairs(part.edits or {}) do
      annotation(plan, text_edit.annotationId)
    end
  end
  return plan
end

---@param text? string[]
---@return string
local function joined(text)
  if not text or (#text == 1 and text[1] == '') then
    return ''
  end
  return table.concat(text, '\n') .. '\n'
end

--- As a unified diff of all files. Empty when nothing would change.
---@param plan lsp_harness.Plan
---@return string[]
function M.diff(plan)
  local shown = {}
  for _, each in ipairs(plan.changes) do
    local hunks = vim.diff(joined(each.before), joined(each.after), { ctxlen = 3 }) --[[@as string]]
    if each.note then
      shown[#shown + 1] = ('# %s %s'):format(each.name, each.note)
    end
    if hunks ~= '' then
      shown[#shown + 1] = '--- ' .. (each.before and each.name or '/dev/null')
      shown[#shown + 1] = '+++ ' .. (each.after and each.name or '/dev/null')
      vim.list_extend(shown, vim.split(vim.trim(hunks), '\n', { plain = true }))
    end
  end
  return shown
end

--- Makes the edit, all of it or, where a text is another one by now, none of it.
---@param plan lsp_harness.Plan
---@return boolean applied
---@return string? problem
function M.apply(plan)
  for _, each in ipairs(plan.changes) do
    if not vim.deep_equal(lines(each.uri, loaded(each.uri)), each.before) then
      return false, MOVED_ON
    end
  end
  local applied, problem = pcall(vim.lsp.util.apply_workspace_edit, plan.edit, plan.encoding)
  return applied, not applied and tostring(problem) or nil
end

return M
