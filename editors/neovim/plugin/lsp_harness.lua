require('lsp_harness').load()
