// Packs the extension: `npm run package` writes lsp-harness.vsix. The folder out/package has exactly the files of the
// package: the pages in it have no links into the repository, because a marketplace could not follow them.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const STAGE = path.join(HERE, "out/package");
const COPIED = { "package.json": "package.json", "out/extension.js": "out/extension.js", media: "media", LICENSE: "LICENSE", NOTICE: "NOTICE" };
const PAGES = { "README.md": "README.md", "CHANGELOG.md": "../../CHANGELOG.md" };

/** Returns a page without its pictures and links of the repository. The words of a link stay. */
function withoutRelativeLinks(text) {
  const pictures = /!\[[^[\]]*\]\((?!\w+:)[^)]*\)/g;
  const lines = text.split("\n").filter((line) => !line.trim() || line.replace(pictures, "").trim());
  const links = /\[([^[\]]*)\]\((?!\w+:|#)[^)]*\)/g;
  return lines.join("\n").replace(pictures, "").replace(links, "$1").replace(/\n{3,}/g, "\n\n");
}

fs.rmSync(STAGE, { recursive: true, force: true });
for (const [name, source] of Object.entries(COPIED)) {
  fs.cpSync(path.join(HERE, source), path.join(STAGE, name), { recursive: true });
}
for (const [name, source] of Object.entries(PAGES)) {
  fs.writeFileSync(path.join(STAGE, name), withoutRelativeLinks(fs.readFileSync(path.join(HERE, source), "utf8")));
}
// vsce leaves out what this file names, and warns without one
fs.writeFileSync(path.join(STAGE, ".vscodeignore"), ".vscodeignore\n");
const vsce = path.join(HERE, "node_modules/@vscode/vsce/vsce");
const options = ["--no-dependencies", "--allow-missing-repository", "--out", path.join(HERE, "lsp-harness.vsix")];
execFileSync(process.execPath, [vsce, "package", ...options], { cwd: STAGE, stdio: "inherit" });
