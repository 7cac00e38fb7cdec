---@brief
---
--- Local-AI help that has been checked before it is believed. Needs the `lsp-harness` command on `$PATH`.
--- This file is only data: change any of it with `vim.lsp.config('lsp_harness', { ... })`.

---@type vim.lsp.Config
return {
  cmd = { 'lsp-harness', 'serve' },
  -- what the server has a grammar for; others work too, without the syntax gate
  filetypes = {
    'bash',
    'c',
    'cpp',
    'cs',
    'css',
    'go',
    'html',
    'java',
    'javascript',
    'javascriptreact',
    'json',
    'lua',
    'markdown',
    'php',
    'python',
    'ruby',
    'rust',
    'sh',
    'toml',
    'typescript',
    'typescriptreact',
    'yaml',
  },
  -- in this order: the repository before a package in it, so that a repository has one server
  root_markers = {
    '.git',
    '.hg',
    'pyproject.toml',
    'setup.py',
    'package.json',
    'tsconfig.json',
    'Cargo.toml',
    'go.mod',
    'pom.xml',
    'build.gradle',
    'composer.json',
    'Gemfile',
    'CMakeLists.txt',
  },
  -- Neovim 0.11 knows the method but does not say so by itself
  capabilities = {
    textDocument = { inlineCompletion = { dynamicRegistration = false } },
  },
}
