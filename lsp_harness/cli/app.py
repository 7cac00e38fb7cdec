"""The command table. Commands are named as text, so that only the one that runs is imported."""

import cyclopts

from lsp_harness.server.version import VERSION

app = cyclopts.App(
    name="lsp-harness",
    help="Local-AI help for any LSP editor, checked before it is believed.",
    version=VERSION,
)
app.command("lsp_harness.cli.serve:serve", name="serve")
app.command("lsp_harness.cli.complete:complete", name="complete")
app.command("lsp_harness.cli.fix:fix", name="fix")
app.command("lsp_harness.cli.demo:demo", name="demo")
app.command("lsp_harness.cli.doctor:doctor", name="doctor")
app.command("lsp_harness.cli.model:app", name="model")
app.command("lsp_harness.cli.models:models", name="models")
app.command("lsp_harness.cli.engine:app", name="engine")
app.command("lsp_harness.cli.context:context", name="context")
app.command("lsp_harness.cli.index:app", name="index")
app.command("lsp_harness.cli.search:search", name="search")
app.command("lsp_harness.cli.locate:locate", name="locate")
app.command("lsp_harness.cli.session:session", name="session")
app.command("lsp_harness.cli.digest:digest", name="digest")
app.command("lsp_harness.cli.docs:docs", name="docs")
app.command("lsp_harness.cli.bench:app", name="bench")
