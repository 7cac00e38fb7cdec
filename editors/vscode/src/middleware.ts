/** Between VS Code and the server: what is passed on, and what is shown of what comes back. */

import * as vscode from "vscode";
import { type CodeAction, CodeActionResolveRequest, type Middleware, type ResponseError } from "vscode-languageclient/node";
import type { Harness } from "./client";
import { confirmable, confirmed } from "./confirmable";
import { Bars } from "./progress";
import { SECTION } from "./protocol";
import { agreed, REVIEW, showMade } from "./review";
import type { Settings } from "./settings";
import { shownResult } from "./shown";
import { remember } from "./suggestions";

export function middleware(harness: Harness, settings: Settings): Middleware {
  const bars = new Bars((token) => harness.tell("window/workDoneProgress/cancel", { token }));
  harness.onChange(() => {
    if (harness.say.server !== "running") {
      bars.clear();
    }
  });
  return {
    workspace: {
      // only what somebody set: see explicit.ts
      configuration: async (params, token, next) => {
        const asked = params.items.map((item) => item.section === SECTION);
        if (asked.every(Boolean)) {
          return asked.map(() => settings.forServer());
        }
        const answers = await next(params, token);
        return Array.isArray(answers) ? answers.map((answer, at) => (asked[at] ? settings.forServer() : answer)) : answers;
      },
      didChangeConfiguration: async () => {
        harness.tell("workspace/didChangeConfiguration", { settings: { [SECTION]: settings.forServer() } });
      },
      handleApplyEdit: async (params, next) => {
        const wanted = confirmable(params.edit);
        const { token } = new vscode.CancellationTokenSource();
        if (!wanted) {
          return next(params, token);
        }
        if (!(await agreed(wanted))) {
          return { applied: false };
        }
        const result = await next({ ...params, edit: confirmed(params.edit) }, token);
        await showMade(wanted);
        return result;
      },
    },
    sendRequest: async (type, param, token, next) => {
      const method = typeof type === "string" ? type : type.method;
      if (method !== CodeActionResolveRequest.method) {
        return next(type, param, token);
      }
      try {
        return reviewed((await next(type, param, token)) as CodeAction) as Awaited<ReturnType<typeof next>>;
      } catch (error) {
        // VS Code itself says nothing of an action that comes to nothing
        complain(error);
        throw error;
      }
    },
    handleWorkDoneProgress: (token, value, next) => {
      if (!bars.show(token, value)) {
        next(token, value);
      }
    },
    provideInlineCompletionItems: async (document, position, context, token, next) => {
      try {
        return remember(document, await next(document, position, context, token));
      } catch (error) {
        if (context.triggerKind === vscode.InlineCompletionTriggerKind.Invoke) {
          complain(error);
        }
        // who types on is not told with every key; the status bar says what is wrong
        return null;
      }
    },
    executeCommand: async (command, args, next) => {
      try {
        const result: unknown = await next(command, args);
        await shownResult(command, args, result);
        return result;
      } catch (error) {
        complain(error);
        return undefined;
      }
    },
  };
}

/** The action with a command that shows its edit in place of the edit, where that is to be confirmed. */
function reviewed(action: CodeAction): CodeAction {
  const { edit, command, ...rest } = action;
  return confirmable(edit) ? { ...rest, command: { title: action.title, command: REVIEW, arguments: [edit, command] } } : action;
}

/** Shows what a person waited for and does not get; what they took back themselves is no news. */
export function complain(error: unknown): void {
  if (error instanceof vscode.CancellationError || cancelled(error)) {
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  void vscode.window.showErrorMessage(`lsp-harness: ${message}`);
}

/** RequestCancelled and ServerCancelled of LSP. */
function cancelled(error: unknown): boolean {
  const code = (error as Partial<ResponseError<unknown>> | null)?.code;
  return code === -32800 || code === -32802;
}

