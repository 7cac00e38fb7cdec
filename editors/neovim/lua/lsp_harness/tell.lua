--- What the plugin says to the user, always with its name in front.

---@param message string
---@param level? integer of vim.log.levels
return function(message, level)
  vim.notify('lsp-harness: ' .. message, level or vim.log.levels.INFO)
end
