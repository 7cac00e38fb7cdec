/**
 * The language client's middleware: it filters what VS Code and the server send each other, and shows results and
 * errors.
 */

import * as vscode from "vscode";
import { type ApplyWorkspaceEditResult, type CodeAction, CodeActionKind, CodeActionRequest, CodeActionResolveRequest, type Command, type InlineCompletionParams, InlineCompletionRequest, type Middleware } from "vscode-languageclient/node";
import { Alternatives } from "./alternatives";
import type { Harness } from "./client";
import { showCommandResult } from "./commandResults";
import { showError } from "./errors";
import { fallback } from "./fallback";
import { hasPermanentCommand, permanentCommand } from "./permanentCommands";
import { ProgressBars } from "./progress";
import { SECTION } from "./protocol";
import { applyAfterReview, resolveAndApply } from "./review";
import type { Settings } from "./settings";
import { isDisplayed, recordSuggestion } from "./suggestions";

export function middleware(harness: Harness, settings: Settings): Middleware {
  const bars = new ProgressBars((token) => harness.notify("window/workDoneProgress/cancel", { token }));
  const alternatives = new Alternatives(harness.log);
  harness.onChange(() => {
    if (harness.state.server !== "running") {
      bars.clear();
    }
  });
  return {
    ...fallback(),
    workspace: {
      // only explicit settings, see explicitSettings.ts
      configuration: async (params, token, next) => {
        const isOurs = params.items.map((item) => item.section === SECTION);
        if (isOurs.every(Boolean)) {
          return isOurs.map(() => settings.forServer());
        }
        const answers = await next(params, token);
        return Array.isArray(answers) ? answers.map((answer, index) => (isOurs[index] ? settings.forServer() : answer)) : answers;
      },
      didChangeConfiguration: async () => {
        harness.notify("workspace/didChangeConfiguration", { settings: { [SECTION]: settings.forServer() } });
      },
      handleApplyEdit: (params, next) => {
        const { token } = new vscode.CancellationTokenSource();
        // `next` may also return a ResponseError, which is passed on unchanged
        return applyAfterReview(params.edit, async (edit) => next({ ...params, edit }, token) as Promise<ApplyWorkspaceEditResult>);
      },
    },
    sendRequest: async (type, param, token, next) => {
      const method = typeof type === "string" ? type : type.method;
      if (method === CodeActionResolveRequest.method && hasPermanentCommand(param as CodeAction)) {
        return param as Awaited<ReturnType<typeof next>>;
      }
      if (method === InlineCompletionRequest.method) {
        return next(type, alternatives.withHiddenProgress(param as InlineCompletionParams) as typeof param, token);
      }
      const result = await next(type, param, token);
      return method === CodeActionRequest.method ? (withPermanentCommands(harness, result as (Command | CodeAction)[] | null) as typeof result) : result;
    },
    handleWorkDoneProgress: (token, value, next) => {
      if (!bars.show(token, value)) {
        next(token, value);
      }
    },
    provideInlineCompletionItems: async (document, position, context, token, next) => {
      const isRequested = context.triggerKind === vscode.InlineCompletionTriggerKind.Invoke;
      const wasDisplayed = isDisplayed(document, position);
      try {
        const completions = await next(document, position, context, token);
        const items = recordSuggestion(document, position, completions);
        // where a suggestion was displayed, the server has answered with all that there are
        if (isRequested && !wasDisplayed && items.length === 1 && context.selectedCompletionInfo === undefined) {
          void alternatives.request(document, position);
        }
        return completions;
      } catch (error) {
        if (isRequested) {
          showError(error);
        }
        // an error is not shown with every key; the status bar shows it
        return null;
      }
    },
    executeCommand: async (command, args, next) => {
      try {
        const result: unknown = await next(command, args);
        await showCommandResult(command, args, result, harness.forwardedCommands);
        return result;
      } catch (error) {
        showError(error);
        return undefined;
      }
    },
  };
}

/**
 * Return the actions with permanent commands, which work whenever the user chooses one. A quick fix without an edit
 * gets a command that resolves it and shows the edit. VS Code could resolve it too, but it shows no error when that
 * fails.
 */
function withPermanentCommands(harness: Harness, actions: (Command | CodeAction)[] | null): (Command | CodeAction)[] | null {
  return actions?.map((action) => {
    if (typeof action.command === "string") {
      return toPermanentCommand(action as Command);
    }
    const { title, kind, edit, command } = action as CodeAction;
    if (command) {
      return { ...action, command: toPermanentCommand(command) };
    }
    const needsResolving = "data" in action && kind === CodeActionKind.QuickFix && edit === undefined;
    return needsResolving ? { ...action, command: permanentCommand(title, () => resolveAndApply(harness, action)) } : action;
  }) ?? null;
}

const toPermanentCommand = ({ title, command, arguments: args = [] }: Command): Command =>
  permanentCommand(title, () => vscode.commands.executeCommand(command, ...(args as unknown[])));
