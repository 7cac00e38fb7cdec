--- Show a message of the plugin to the user, with the plugin's name in front of it.

---@param message string
---@param level? integer one of `vim.log.levels`; INFO by default
return function(message, level)
  vim.notify('lsp-harness: ' .. message, level or vim.log.levels.INFO)
end
