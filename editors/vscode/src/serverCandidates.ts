/** Lists where the server may be installed, in order of preference. It does not look at the disk; `server.ts` does. */

import * as path from "node:path";

export interface ServerCandidate {
  program: string;
  args: string[];
  /** A description of the place, for the log. */
  source: string;
}

export interface SearchInputs {
  /** The setting `lspHarness.server.command`. */
  configured: readonly string[];
  /** Folders of Python environments, those of the workspace first. Empty in an untrusted workspace. */
  environments: readonly string[];
  /** The variable `PATH`. */
  path: string;
  home: string;
  /** The folder of the environment that this extension creates. */
  managed: string;
  platform: NodeJS.Platform;
}

export function serverCandidates(inputs: SearchInputs): ServerCandidate[] {
  const [program, ...args] = inputs.configured;
  if (program !== undefined && program !== "") {
    return [{ program, args, source: "the setting lspHarness.server.command" }];
  }
  const executable = inputs.platform === "win32" ? "lsp-harness.exe" : "lsp-harness";
  const inFolder = (folder: string, source: string): ServerCandidate => ({
    program: path.join(folder, executable),
    args: ["serve"],
    source,
  });
  const pathFolders = inputs.path.split(inputs.platform === "win32" ? ";" : ":");
  // an editor that is started from a desktop often has a shorter PATH than a shell
  const localBin = path.join(inputs.home, ".local", "bin");
  return [
    ...inputs.environments.map((folder) => inFolder(scriptsFolder(folder, inputs.platform), `the Python environment ${folder}`)),
    // a relative entry would point into the workspace
    ...pathFolders.filter((folder) => path.isAbsolute(folder)).map((folder) => inFolder(folder, "PATH")),
    inFolder(localBin, localBin),
    inFolder(scriptsFolder(inputs.managed, inputs.platform), "the environment that this extension created"),
  ];
}

/** Return the folder with the programs of a Python environment. */
export function scriptsFolder(environment: string, platform: NodeJS.Platform): string {
  return path.join(environment, platform === "win32" ? "Scripts" : "bin");
}
