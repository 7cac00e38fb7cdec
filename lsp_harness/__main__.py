"""`python -m lsp_harness` is `lsp-harness`."""

from lsp_harness.cli.main import main

if __name__ == "__main__":
    main()
