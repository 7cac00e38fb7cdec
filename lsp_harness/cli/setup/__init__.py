"""`lsp-harness setup`: what a new machine needs, how it is fetched, and bundles for machines without a network."""
