"""The tools and resources of lsp-harness for other agents, over the Model Context Protocol."""
