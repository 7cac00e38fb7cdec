/**
 * Progress that can be cancelled, where it is seen: the language client shows all progress in the status bar, and there
 * its cancel button is hidden. What the server lets one cancel is shown as a notification with a button instead.
 */

import * as vscode from "vscode";
import type {
  ProgressToken,
  WorkDoneProgressBegin,
  WorkDoneProgressEnd,
  WorkDoneProgressReport,
} from "vscode-languageclient/node";

type Value = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

/** What is done sooner needs no bar: one that flashes up only startles. */
const BRIEF_MS = 300;

interface Bar {
  report(value: WorkDoneProgressBegin | WorkDoneProgressReport): void;
  end(): void;
}

export class Bars {
  private readonly bars = new Map<ProgressToken, Bar>();

  constructor(private readonly cancel: (token: ProgressToken) => void) {}

  /** Shows the value; false where somebody else has to. */
  show(token: ProgressToken, value: Value): boolean {
    if (value.kind === "begin") {
      if (!value.cancellable) {
        return false;
      }
      this.bars.set(token, this.open(token, value));
      return true;
    }
    const bar = this.bars.get(token);
    if (bar === undefined) {
      return false;
    }
    if (value.kind === "report") {
      bar.report(value);
      return true;
    }
    this.bars.delete(token);
    bar.end();
    // the language client keeps a part for this token, which has to hear of the end
    return false;
  }

  /** The server is gone, and with it whoever would end them. */
  clear(): void {
    for (const bar of this.bars.values()) {
      bar.end();
    }
    this.bars.clear();
  }

  private open(token: ProgressToken, begin: WorkDoneProgressBegin): Bar {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let report: ((value: { message?: string; increment?: number }) => void) | undefined;
    let latest: WorkDoneProgressBegin | WorkDoneProgressReport = begin;
    let shown = 0;
    const tell = (): void => {
      if (report === undefined) {
        return;
      }
      const increment = Math.max(0, (latest.percentage ?? 0) - shown);
      shown += increment;
      report({ ...(latest.message ? { message: latest.message } : {}), ...(increment ? { increment } : {}) });
    };
    const location = vscode.ProgressLocation.Notification;
    const timer = setTimeout(() => {
      void vscode.window.withProgress({ location, cancellable: true, title: begin.title }, (progress, cancelled) => {
        report = (value) => progress.report(value);
        tell();
        cancelled.onCancellationRequested(() => this.cancel(token));
        return ended;
      });
    }, BRIEF_MS);
    return {
      report: (value) => {
        latest = value;
        tell();
      },
      end: () => {
        clearTimeout(timer);
        end();
      },
    };
  }
}
