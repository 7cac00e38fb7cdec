/** Runs a program that the user can cancel. */

import { spawn } from "node:child_process";
import type * as vscode from "vscode";

const IS_POSIX = process.platform !== "win32";

/**
 * Resolve when the program ends with exit code 0, else rejects with its last line of output. `onLine` gets every line.
 * `environment` has variables besides those of this process.
 */
export function run(
  program: string,
  args: string[],
  token: vscode.CancellationToken,
  onLine: (text: string) => void,
  environment: Record<string, string> = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    // a process group, because an installer starts compilers, which must also end on cancellation
    const env = { ...process.env, ...environment };
    const child = spawn(program, args, { detached: IS_POSIX, env, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    let lastLine = "";
    let partialLine = "";
    const read = (chunk: string): void => {
      const lines = (partialLine + chunk).split(/\r?\n/);
      partialLine = lines.pop() ?? "";
      for (const line of lines.filter((text) => text.trim())) {
        lastLine = line.trim();
        onLine(lastLine);
      }
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", read);
    }
    const cancellation = token.onCancellationRequested(() => terminate(child.pid));
    child.once("error", (error) => {
      cancellation.dispose();
      reject(error);
    });
    child.once("close", (code) => {
      cancellation.dispose();
      if (code === 0) {
        resolve();
      } else {
        reject(new Error(partialLine.trim() || lastLine || `${program} ended with ${code ?? "a signal"}`));
      }
    });
  });
}

function terminate(pid: number | undefined): void {
  if (pid === undefined) {
    return;
  }
  if (IS_POSIX) {
    try {
      process.kill(-pid, "SIGTERM");
    } catch {
      // the process has just ended
    }
  } else {
    spawn("taskkill", ["/pid", String(pid), "/t", "/f"], { windowsHide: true });
  }
}
