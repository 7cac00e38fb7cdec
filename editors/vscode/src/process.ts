/** Running a program for as long as the user wants it to. */

import { spawn } from "node:child_process";
import type * as vscode from "vscode";

const posix = process.platform !== "win32";

/** Resolves when the program ends well. Rejects with the last line it said; its lines go to `line`, one by one. */
export function run(
  program: string,
  args: string[],
  token: vscode.CancellationToken,
  line: (text: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // a group of its own: an installer starts compilers, and cancelling must end those, too
    const child = spawn(program, args, { detached: posix, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    let last = "";
    let rest = "";
    const read = (chunk: string): void => {
      const lines = (rest + chunk).split(/\r?\n/);
      rest = lines.pop() ?? "";
      for (const text of lines.filter((each) => each.trim())) {
        last = text.trim();
        line(last);
      }
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", read);
    }
    const cancelling = token.onCancellationRequested(() => end(child.pid));
    child.once("error", (error) => {
      cancelling.dispose();
      reject(error);
    });
    child.once("close", (code) => {
      cancelling.dispose();
      if (code === 0) {
        resolve();
      } else {
        reject(new Error(rest.trim() || last || `${program} ended with ${code ?? "a signal"}`));
      }
    });
  });
}

function end(pid: number | undefined): void {
  if (pid === undefined) {
    return;
  }
  if (posix) {
    try {
      process.kill(-pid, "SIGTERM");
    } catch {
      // it ended in this moment
    }
  } else {
    spawn("taskkill", ["/pid", String(pid), "/t", "/f"], { windowsHide: true });
  }
}
