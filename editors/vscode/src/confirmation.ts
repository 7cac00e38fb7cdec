/** Decides which edits the user must confirm, and what is shown of them. */

import type { TextDocumentEdit, TextEdit, WorkspaceEdit } from "vscode-languageclient/node";

export interface PendingEdit {
  uri: string;
  /** The checks that the edit passed, in the server's words. */
  label: string;
  /** Whether the edit creates the file. */
  creates: boolean;
  edits: TextEdit[];
}

/**
 * Return the edit of one file, or its creation, if the user must confirm it. Return undefined for all other edits,
 * which VS Code itself shows.
 */
export function pendingEdit(edit: WorkspaceEdit | undefined): PendingEdit | undefined {
  const annotations = Object.values(edit?.changeAnnotations ?? {}).filter((annotation) => annotation.needsConfirmation);
  const changes = [...(edit?.documentChanges ?? [])];
  const creation = changes[0] !== undefined && "kind" in changes[0] && changes[0].kind === "create" ? changes.shift() : undefined;
  const [change, ...furtherChanges] = changes;
  if (annotations.length === 0 || change === undefined || furtherChanges.length > 0 || !isTextEdit(change) || !change.edits.every(isPlain)) {
    return undefined;
  }
  const { uri } = change.textDocument;
  if (creation && !("uri" in creation && creation.uri === uri)) {
    return undefined;
  }
  return { uri, label: annotations.map(({ label }) => label).join(", "), creates: creation !== undefined, edits: change.edits };
}

/** Return the edit without its annotations, so that VS Code does not ask for a second confirmation. */
export function withoutAnnotations(edit: WorkspaceEdit): WorkspaceEdit {
  const changes = edit.documentChanges?.map((change) =>
    isTextEdit(change)
      ? { ...change, edits: change.edits.filter(isPlain).map(({ range, newText }) => ({ range, newText })) }
      : withoutAnnotation(change),
  );
  return { ...(changes ? { documentChanges: changes } : {}) };
}

function withoutAnnotation<T extends { annotationId?: string }>(change: T): T {
  const { annotationId: _, ...rest } = change;
  return rest as T;
}

function isTextEdit(change: object): change is TextDocumentEdit {
  return "textDocument" in change && "edits" in change;
}

/** Return whether an edit inserts plain text and not a snippet. */
function isPlain(edit: TextDocumentEdit["edits"][number]): edit is TextEdit {
  return "newText" in edit;
}
