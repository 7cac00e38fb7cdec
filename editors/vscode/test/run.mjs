// Bundles the tests, which are TypeScript, and runs them with node's own runner. None of them needs VS Code.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));
const tests = fs.readdirSync(here).filter((name) => name.endsWith(".test.ts"));
const outdir = path.join(here, "../out/test");
await build({
  entryPoints: tests.map((name) => path.join(here, name)),
  outdir,
  bundle: true,
  platform: "node",
  format: "cjs",
  sourcemap: "inline",
  logLevel: "warning",
});
const built = tests.map((name) => path.join(outdir, name.replace(".ts", ".js")));
const ran = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...built], { stdio: "inherit" });
process.exit(ran.status ?? 1);
