/**
 * Shows the server's definitions and references only where no other extension has any. They are guesses by names and
 * imports.
 */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { OtherProviders } from "./otherProviders";

type Query = "vscode.executeDefinitionProvider" | "vscode.executeReferenceProvider";

/** Return the middleware for definitions and references. */
export function fallback(): Pick<Middleware, "provideDefinition" | "provideReferences"> {
  const others = new OtherProviders();
  const othersHaveNone = (query: Query, { uri, version }: vscode.TextDocument, position: vscode.Position): Promise<boolean> =>
    others.haveNone(`${query} ${version} ${position.line}:${position.character} ${uri}`, () =>
      vscode.commands.executeCommand<unknown[]>(query, uri, position),
    );
  return {
    provideDefinition: async (document, position, token, next) =>
      (await othersHaveNone("vscode.executeDefinitionProvider", document, position)) ? next(document, position, token) : undefined,
    provideReferences: async (document, position, options, token, next) =>
      (await othersHaveNone("vscode.executeReferenceProvider", document, position)) ? next(document, position, options, token) : undefined,
  };
}
