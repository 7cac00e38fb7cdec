/**
 * Shows cancellable progress as a notification with a button. The language client shows all progress in the status bar,
 * where the cancel button is hidden.
 */

import * as vscode from "vscode";
import type {
  ProgressToken,
  WorkDoneProgressBegin,
  WorkDoneProgressEnd,
  WorkDoneProgressReport,
} from "vscode-languageclient/node";

type ProgressValue = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

/** Delay before a notification opens. Work that ends sooner gets none, because one that flashes up is irritating. */
const SHOW_DELAY_MS = 300;

interface ProgressBar {
  report(value: WorkDoneProgressBegin | WorkDoneProgressReport): void;
  end(): void;
}

export class ProgressBars {
  private readonly bars = new Map<ProgressToken, ProgressBar>();

  constructor(private readonly cancel: (token: ProgressToken) => void) {}

  /** Show a value. Return false if the language client must handle it. */
  show(token: ProgressToken, value: ProgressValue): boolean {
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
    // the language client also has an entry for this token, which must end
    return false;
  }

  /** Close all bars, because a server that has ended sends no end. */
  clear(): void {
    for (const bar of this.bars.values()) {
      bar.end();
    }
    this.bars.clear();
  }

  private open(token: ProgressToken, begin: WorkDoneProgressBegin): ProgressBar {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let report: ((value: { message?: string; increment?: number }) => void) | undefined;
    let latest: WorkDoneProgressBegin | WorkDoneProgressReport = begin;
    let shownPercentage = 0;
    const update = (): void => {
      if (report === undefined) {
        return;
      }
      const increment = Math.max(0, (latest.percentage ?? 0) - shownPercentage);
      shownPercentage += increment;
      report({ ...(latest.message ? { message: latest.message } : {}), ...(increment ? { increment } : {}) });
    };
    const location = vscode.ProgressLocation.Notification;
    const timer = setTimeout(() => {
      void vscode.window.withProgress({ location, cancellable: true, title: begin.title }, (progress, cancellation) => {
        report = (value) => progress.report(value);
        update();
        cancellation.onCancellationRequested(() => this.cancel(token));
        return ended;
      });
    }, SHOW_DELAY_MS);
    return {
      report: (value) => {
        latest = value;
        update();
      },
      end: () => {
        clearTimeout(timer);
        end();
      },
    };
  }
}
