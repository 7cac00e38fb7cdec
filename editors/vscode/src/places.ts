/** Where a server may be, best first. Nothing is looked at here: that is `server.ts`'s. */

import * as path from "node:path";

export interface Place {
  program: string;
  args: string[];
  /** For people: whose it is. */
  from: string;
}

export interface Surroundings {
  /** `lspHarness.server.command`. */
  configured: readonly string[];
  /** Folders of Python environments: the workspace's first. Empty where the workspace is not trusted. */
  environments: readonly string[];
  /** The variable `PATH`. */
  path: string;
  home: string;
  /** The folder of the environment this extension made, or would make. */
  managed: string;
  platform: NodeJS.Platform;
}

export function places(around: Surroundings): Place[] {
  const [program, ...args] = around.configured;
  if (program !== undefined && program !== "") {
    return [{ program, args, from: "the setting lspHarness.server.command" }];
  }
  const exe = around.platform === "win32" ? "lsp-harness.exe" : "lsp-harness";
  const at = (folder: string, from: string): Place => ({ program: path.join(folder, exe), args: ["serve"], from });
  const onPath = around.path.split(around.platform === "win32" ? ";" : ":");
  // an editor that was started from a desktop often has a shorter PATH than a shell
  const usual = path.join(around.home, ".local", "bin");
  return [
    ...around.environments.map((folder) => at(scripts(folder, around.platform), `the Python environment ${folder}`)),
    // a relative entry would be the workspace's
    ...onPath.filter((folder) => path.isAbsolute(folder)).map((folder) => at(folder, "PATH")),
    at(usual, usual),
    at(scripts(around.managed, around.platform), "the environment made by this extension"),
  ];
}

/** Where an environment keeps its programs. */
export function scripts(environment: string, platform: NodeJS.Platform): string {
  return path.join(environment, platform === "win32" ? "Scripts" : "bin");
}
