/** Which edits a person is to look at before they are made, and what is to be seen of them. */

import type { TextDocumentEdit, TextEdit, WorkspaceEdit } from "vscode-languageclient/node";

export interface Confirmable {
  uri: string;
  /** What it passed, in the server's words. */
  label: string;
  /** The file is not there yet. */
  creates: boolean;
  edits: TextEdit[];
}

/** The edit of one file, or its making, that wants to be confirmed; undefined for others, which VS Code shows in its way. */
export function confirmable(edit: WorkspaceEdit | undefined): Confirmable | undefined {
  const wanted = Object.values(edit?.changeAnnotations ?? {}).filter((each) => each.needsConfirmation);
  const changes = [...(edit?.documentChanges ?? [])];
  const creates = changes[0] !== undefined && "kind" in changes[0] && changes[0].kind === "create" ? changes.shift() : undefined;
  const [change, ...others] = changes;
  if (wanted.length === 0 || change === undefined || others.length > 0 || !isText(change) || !change.edits.every(isPlain)) {
    return undefined;
  }
  const { uri } = change.textDocument;
  if (creates && !("uri" in creates && creates.uri === uri)) {
    return undefined;
  }
  return { uri, label: wanted.map((each) => each.label).join(", "), creates: creates !== undefined, edits: change.edits };
}

/** The same edit once it is confirmed: nobody is asked again. */
export function confirmed(edit: WorkspaceEdit): WorkspaceEdit {
  const changes = edit.documentChanges?.map((change) =>
    isText(change)
      ? { ...change, edits: change.edits.filter(isPlain).map(({ range, newText }) => ({ range, newText })) }
      : bare(change),
  );
  return { ...(changes ? { documentChanges: changes } : {}) };
}

function bare<T extends { annotationId?: string }>(change: T): T {
  const { annotationId: _, ...rest } = change;
  return rest as T;
}

function isText(change: object): change is TextDocumentEdit {
  return "textDocument" in change && "edits" in change;
}

/** Not a snippet. */
function isPlain(edit: TextDocumentEdit["edits"][number]): edit is TextEdit {
  return "newText" in edit;
}
