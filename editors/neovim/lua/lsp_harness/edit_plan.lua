--- Computes the result of a workspace edit on scratch buffers, without changing the user's texts. `apply` then makes
--- the edit, but only if every text is still the one that the plan was computed from.

---@class lsp_harness.Change the change of one file
---@field uri string
---@field name string the path to show
---@field buf? integer the buffer, if the file is loaded
---@field before? string[] lines; nil if the file does not exist
---@field after? string[] lines; nil if the file is deleted
---@field note? string

---@class lsp_harness.Plan
---@field edit lsp.WorkspaceEdit
---@field encoding 'utf-8'|'utf-16'|'utf-32'
---@field changes lsp_harness.Change[]
---@field labels string[] labels of the annotations
---@field confirm boolean whether an annotation requires the user's consent

local M = {}

local OUTDATED = 'the text has changed since this edit was computed'

---@param uri string
---@return integer?
local function find_loaded_buffer(uri)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.uri_from_bufnr(buf) == uri then
      return buf
    end
  end
end

--- Return the current lines of a file, from its buffer or from disk. Return nil if the file does not exist.
---@param uri string
---@param buf? integer
---@return string[]?
local function read_lines(uri, buf)
  if buf then
    return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  end
  local path = vim.uri_to_fname(uri)
  if vim.fn.filereadable(path) == 1 then
    local lines = vim.fn.readfile(path)
    -- a buffer of an empty file has one empty line
    return #lines > 0 and lines or { '' }
  end
end

---@param lines string[]
---@param edits lsp.TextEdit[]
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return string[]
local function apply_text_edits(lines, edits, encoding)
  local scratch = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, lines)
  vim.lsp.util.apply_text_edits(edits, scratch, encoding)
  local result = vim.api.nvim_buf_get_lines(scratch, 0, -1, false)
  vim.api.nvim_buf_delete(scratch, { force = true })
  return result
end

--- Return the change of a file. Several parts of an edit may add to it.
---@param plan lsp_harness.Plan
---@param uri string
---@return lsp_harness.Change
local function change_of_file(plan, uri)
  for _, change in ipairs(plan.changes) do
    if change.uri == uri then
      return change
    end
  end
  local buf = find_loaded_buffer(uri)
  local lines = read_lines(uri, buf)
  ---@type lsp_harness.Change
  local change = { uri = uri, name = vim.fn.fnamemodify(vim.uri_to_fname(uri), ':~:.'), buf = buf }
  change.before, change.after = lines, lines
  plan.changes[#plan.changes + 1] = change
  return change
end

--- Add one of the `documentChanges` to the plan.
---@param plan lsp_harness.Plan
---@param part any
---@return string? problem
local function add_part(plan, part)
  if part.kind == 'rename' then
    change_of_file(plan, part.oldUri).note = 'is renamed to ' .. vim.uri_to_fname(part.newUri)
  elseif part.kind == 'delete' then
    local change = change_of_file(plan, part.uri)
    change.after, change.note = nil, 'is deleted'
  elseif part.kind == 'create' then
    local change = change_of_file(plan, part.uri)
    if not change.before then
      change.note = 'is a new file'
    elseif part.options and part.options.overwrite then
      change.after = { '' }
    elseif not (part.options and part.options.ignoreIfExists) then
      return change.name .. ' exists already'
    end
  else
    local version, change = part.textDocument.version, change_of_file(plan, part.textDocument.uri)
    if type(version) == 'number' and change.buf and vim.lsp.util.buf_versions[change.buf] > version then
      return OUTDATED
    end
    change.after = apply_text_edits(change.after or { '' }, part.edits, plan.encoding)
  end
end

--- Add the label and the `needsConfirmation` of an annotation to the plan.
---@param plan lsp_harness.Plan
---@param id? string
local function add_annotation(plan, id)
  local annotation = id and (plan.edit.changeAnnotations or {})[id]
  if annotation then
    plan.confirm = plan.confirm or annotation.needsConfirmation == true
    if not vim.list_contains(plan.labels, annotation.label) then
      plan.labels[#plan.labels + 1] = annotation.label
    end
  end
end

--- Compute the plan of an edit, or return why the edit cannot be applied.
---@param edit lsp.WorkspaceEdit
---@param encoding 'utf-8'|'utf-16'|'utf-32'
---@return lsp_harness.Plan? plan
---@return string? problem
function M.new(edit, encoding)
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
    local problem = add_part(plan, part)
    if problem then
      return nil, problem
    end
    add_annotation(plan, part.annotationId)
    for _, text_edit in ipairs(part.edits or {}) do
      add_annotation(plan, text_edit.annotationId)
    end
  end
  return plan
end

---@param lines? string[]
---@return string
local function join_lines(lines)
  if not lines or (#lines == 1 and lines[1] == '') then
    return ''
  end
  return table.concat(lines, '\n') .. '\n'
end

--- Return the plan as a unified diff of all files. The diff is empty if the edit would change nothing.
---@param plan lsp_harness.Plan
---@return string[]
function M.diff(plan)
  local diff = {}
  for _, change in ipairs(plan.changes) do
    local hunks = vim.diff(join_lines(change.before), join_lines(change.after), { ctxlen = 3 }) --[[@as string]]
    if change.note then
      diff[#diff + 1] = ('# %s %s'):format(change.name, change.note)
    end
    if hunks ~= '' then
      diff[#diff + 1] = '--- ' .. (change.before and change.name or '/dev/null')
      diff[#diff + 1] = '+++ ' .. (change.after and change.name or '/dev/null')
      vim.list_extend(diff, vim.split(vim.trim(hunks), '\n', { plain = true }))
    end
  end
  return diff
end

--- Apply the whole edit, or nothing if one of the texts has changed since the plan was computed.
---@param plan lsp_harness.Plan
---@return boolean applied
---@return string? problem
function M.apply(plan)
  for _, change in ipairs(plan.changes) do
    if not vim.deep_equal(read_lines(change.uri, find_loaded_buffer(change.uri)), change.before) then
      return false, OUTDATED
    end
  end
  local applied, problem = pcall(vim.lsp.util.apply_workspace_edit, plan.edit, plan.encoding)
  return applied, not applied and tostring(problem) or nil
end

return M
