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
  -- what Neovim does not say by itself, or what this plugin does for it
  capabilities = {
    textDocument = {
      inlineCompletion = { dynamicRegistration = false },
      publishDiagnostics = { codeDescriptionSupport = true },
    },
    workspace = {
      workspaceEdit = { documentChanges = true, changeAnnotationSupport = { groupsOnLabel = false } },
      textDocumentContent = { dynamicRegistration = false },
      diagnostics = { refreshSupport = true },
    },
    experimental = {
      lspHarness = { status = true, fallback = true, commands = { 'lspHarness.askInstruction' } },
    },
  },
  -- for this client only; each is loaded when it is first needed
  handlers = {
    ['lspHarness/status'] = function(...)
      return require('lsp_harness.status').received(...)
    end,
    ['workspace/applyEdit'] = function(...)
      return require('lsp_harness.applying').requested(...)
    end,
    ['workspace/diagnostic/refresh'] = function(...)
      return require('lsp_harness.refreshing').requested(...)
    end,
  },
  commands = require('lsp_harness.instructing').commands,
  before_init = function(...)
    require('lsp_harness.trust').tell(...)
  end,
  on_exit = function(...)
    require('lsp_harness.crash').exited(...)
  end,
}
