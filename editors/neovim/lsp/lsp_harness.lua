---@brief
---
--- Completions, fixes and edits by a local model, checked before they are shown. Needs the `lsp-harness` command on
--- `$PATH`. Change any of these values with `vim.lsp.config('lsp_harness', { ... })`.

---@type vim.lsp.Config
return {
  cmd = { 'lsp-harness', 'serve' },
  -- the languages that the server has a grammar for; others work too, without the syntax check
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
  -- the repository comes before a package in it, so that a repository has one server
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
  -- capabilities that Neovim does not announce itself, or that this plugin adds
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
  -- handlers of this client only; each module is loaded at its first use
  handlers = {
    ['lspHarness/status'] = function(...)
      return require('lsp_harness.status').handle_notification(...)
    end,
    ['workspace/applyEdit'] = function(...)
      return require('lsp_harness.workspace_edit').handle_request(...)
    end,
    ['workspace/diagnostic/refresh'] = function(...)
      return require('lsp_harness.diagnostic_refresh').handle_request(...)
    end,
  },
  commands = require('lsp_harness.edit_commands').commands,
  before_init = function(...)
    require('lsp_harness.trust').add_to_init_options(...)
  end,
  on_exit = function(...)
    require('lsp_harness.crash').handle_exit(...)
  end,
}
