/** Definitions and references of our server's are guesses by names and imports: shown where nobody else has any. */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { Others } from "./others";

type Kind = "vscode.executeDefinitionProvider" | "vscode.executeReferenceProvider";

/** What stands between VS Code and the server for these. */
export function fallback(): Pick<Middleware, "provideDefinition" | "provideReferences"> {
  const others = new Others();
  const ours = (kind: Kind, { uri, version }: vscode.TextDocument, position: vscode.Position): Promise<boolean> =>
    others.silent(`${kind} ${version} ${position.line}:${position.character} ${uri}`, () =>
      vscode.commands.executeCommand<unknown[]>(kind, uri, position),
    );
  return {
    provideDefinition: async (document, position, token, next) =>
      (await ours("vscode.executeDefinitionProvider", document, position)) ? next(document, position, token) : undefined,
    provideReferences: async (document, position, options, token, next) =>
      (await ours("vscode.executeReferenceProvider", document, position)) ? next(document, position, options, token) : undefined,
  };
}
