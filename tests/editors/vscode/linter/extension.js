// Reports what ruff finds, as the extension of ruff does: lsp-harness repairs what others report. And has definitions and
// references for one file, as a language's own extension has. Of a file named `stale.py` it reports what it found in an older text.
const { execFile } = require("node:child_process");
const vscode = require("vscode");

exports.activate = (context) => {
  const found = vscode.languages.createDiagnosticCollection("ruff");
  const known = { pattern: "**/known.py" };
  const place = ({ uri }) => new vscode.Location(uri, new vscode.Position(4, 0));
  const check = (document) => {
    if (document.languageId !== "python" || document.uri.scheme !== "file") return;
    if (document.fileName.endsWith("stale.py")) {
      const range = new vscode.Range(1, 20, 1, 26);
      found.set(document.uri, [reported(range, "Undefined name `factor`", "F821")]);
      return;
    }
    const version = document.version;
    const args = ["check", "--no-cache", "--output-format", "json", "--stdin-filename", document.fileName, "-"];
    const ruff = execFile(process.env.RUFF, args, (_error, out) => {
      if (document.version === version) found.set(document.uri, JSON.parse(out || "[]").map(diagnostic));
    });
    ruff.stdin.end(document.getText());
  };
  context.subscriptions.push(
    found,
    vscode.languages.registerDefinitionProvider(known, { provideDefinition: place }),
    vscode.languages.registerReferenceProvider(known, { provideReferences: (document) => [place(document)] }),
    vscode.workspace.onDidOpenTextDocument(check),
    vscode.workspace.onDidChangeTextDocument(({ document }) => check(document)),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => found.delete(uri)),
  );
  vscode.workspace.textDocuments.forEach(check);
};

const at = ({ row, column }) => new vscode.Position(row - 1, column - 1);

function diagnostic({ code, message, location, end_location }) {
  return reported(new vscode.Range(at(location), at(end_location)), message, code);
}

function reported(range, message, code) {
  return Object.assign(new vscode.Diagnostic(range, message, 1), { source: "Ruff", code });
}
