--- Says in words what the type checkers did with suggestions.

local M = {}

--- The results of the type gate, in the order of the text. Older servers do not count all of them.
local RESULTS = { 'passed', 'cut', 'replaced', 'hidden', 'skipped' }

local WORDS = {
  passed = 'without a type error',
  cut = 'cut before a type error',
  replaced = 'replaced because of a type error',
  hidden = 'hidden because of a type error',
  skipped = 'not checked',
}

local STATES = { off = 'not running', missing = 'not installed' }

---@param value any
---@return string? text nil if it is empty or a JSON null
local function non_empty(value)
  return type(value) == 'string' and value ~= '' and value or nil
end

--- Remove the fields of the type gate from a table and describe them.
---@param counts any the counts of suggestions
---@return string[] lines
local function take_counts(counts)
  local parts = {}
  for _, result in ipairs(RESULTS) do
    local name = 'types_' .. result
    if type(counts) == 'table' and type(counts[name]) == 'number' then
      parts[#parts + 1] = ('%d %s'):format(counts[name], WORDS[result])
      counts[name] = nil
    end
  end
  return #parts > 0 and { 'type checks: ' .. table.concat(parts, ', ') } or {}
end

--- Remove the result of the type gate from the figures of the last suggestion and describe it.
---@param last any
---@return string[] lines
local function take_result(last)
  local result = type(last) == 'table' and non_empty(last.types)
  if not result then
    return {}
  end
  local text = 'types of the last suggestion: ' .. (WORDS[result] or result)
  local reason = non_empty(last.types_reason)
  if reason then
    text = ('%s: %s'):format(text, reason)
  end
  if type(last.types_ms) == 'number' then
    text = ('%s (%.0f ms)'):format(text, last.types_ms)
  end
  last.types, last.types_reason, last.types_ms = nil, nil, nil
  return { text }
end

--- Remove the type checkers from the status and describe them.
---@param facts table
---@return string[] lines
local function take_checkers(facts)
  local checkers, lines = facts.types, {}
  if vim.islist(checkers) then
    facts.types = nil
    for _, checker in ipairs(checkers) do
      -- the reason names the checker and says more than the state
      local state = non_empty(checker.reason) or STATES[checker.state] or checker.state
      lines[#lines + 1] = ('type checker %s in %s: %s'):format(checker.checker, checker.folder, state)
    end
  end
  return lines
end

--- Remove everything about types from the answer to `lspHarness.status` or `lspHarness.statistics`, and describe it.
---@param facts table
---@return string[] lines
function M.take(facts)
  local lines = take_checkers(facts)
  for _, more in ipairs({ take_result(facts.last), take_counts(facts.statistics), take_counts(facts) }) do
    vim.list_extend(lines, more)
  end
  return lines
end

return M
