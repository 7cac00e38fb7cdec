// Bundles the tests from TypeScript and runs them with node's test runner. None of them needs VS Code.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const testFolder = path.dirname(fileURLToPath(import.meta.url));
const tests = fs.readdirSync(testFolder).filter((name) => name.endsWith(".test.ts"));
const outdir = path.join(testFolder, "../out/test");
await build({
  entryPoints: tests.map((name) => path.join(testFolder, name)),
  outdir,
  bundle: true,
  platform: "node",
  format: "cjs",
  sourcemap: "inline",
  logLevel: "warning",
});
const bundles = tests.map((name) => path.join(outdir, name.replace(".ts", ".js")));
const result = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...bundles], { stdio: "inherit" });
process.exit(result.status ?? 1);
