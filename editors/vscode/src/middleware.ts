/** Between VS Code and the server: what is passed on, and what is shown of what comes back. */

import * as vscode from "vscode";
import { type ApplyWorkspaceEditResult, type CodeAction, CodeActionKind, CodeActionRequest, CodeActionResolveRequest, type Command, type Middleware } from "vscode-languageclient/node";
import type { Harness } from "./client";
import { complain } from "./complaint";
import { fallback } from "./fallback";
import { complete, lasting } from "./lasting";
import { Bars } from "./progress";
import { SECTION } from "./protocol";
import { agreedTo, workedOut } from "./review";
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
    ...fallback(),
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
      handleApplyEdit: (params, next) => {
        const { token } = new vscode.CancellationTokenSource();
        // or a ResponseError, which is passed on as it is
        return agreedTo(params.edit, async (edit) => next({ ...params, edit }, token) as Promise<ApplyWorkspaceEditResult>);
      },
    },
    sendRequest: async (type, param, token, next) => {
      const method = typeof type === "string" ? type : type.method;
      if (method === CodeActionResolveRequest.method && complete(param as CodeAction)) {
        return param as Awaited<ReturnType<typeof next>>;
      }
      const result = await next(type, param, token);
      return method === CodeActionRequest.method ? (chosen(harness, result as (Command | CodeAction)[] | null) as typeof result) : result;
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

/**
 * Actions that do what they say whenever they are chosen. Quick fixes that are still to be worked out become commands that
 * have them worked out and shown: VS Code would ask for their edits, too, but says nothing when that fails.
 */
function chosen(harness: Harness, offered: (Command | CodeAction)[] | null): (Command | CodeAction)[] | null {
  return offered?.map((action) => {
    if (typeof action.command === "string") {
      return run(action as Command);
    }
    const { title, kind, edit, command } = action as CodeAction;
    if (command) {
      return { ...action, command: run(command) };
    }
    const pending = "data" in action && kind === CodeActionKind.QuickFix && edit === undefined;
    return pending ? { ...action, command: lasting(title, () => workedOut(harness, action)) } : action;
  }) ?? null;
}

const run = ({ title, command, arguments: given = [] }: Command): Command =>
  lasting(title, () => vscode.commands.executeCommand(command, ...(given as unknown[])));
