/** Which edits a person is to look at before they are made, and what is to be seen of them. */

import type { TextDocumentEdit, TextEdit, WorkspaceEdit } from "vscode-languageclient/node";

export interface Confirmable {
  uri: string;
  /** What it passed, in the server's words. */
  label: string;
  edits: TextEdit[];
}

/** The edit of one file that wants to be confirmed; undefined for all others, which VS Code shows in a way of its own. */
export function confirmable(edit: WorkspaceEdit | undefined): Confirmable | undefined {
  const wanted = Object.values(edit?.changeAnnotations ?? {}).filter((each) => each.needsConfirmation);
  const [change, ...others] = edit?.documentChanges ?? [];
  if (wanted.length === 0 || change === undefined || others.length > 0 || !isText(change) || !change.edits.every(isPlain)) {
    return undefined;
  }
  return { uri: change.textDocument.uri, label: wanted.map((each) => each.label).join(", "), edits: change.edits };
}

/** The same edit once it is confirmed: nobody is asked again. */
export function confirmed(edit: WorkspaceEdit): WorkspaceEdit {
  const changes = edit.documentChanges?.map((change) =>
    isText(change)
      ? { ...change, edits: change.edits.filter(isPlain).map(({ range, newText }) => ({ range, newText })) }
      : change,
  );
  return { ...(changes ? { documentChanges: changes } : {}) };
}

function isText(change: object): change is TextDocumentEdit {
  return "textDocument" in change && "edits" in change;
}

/** Not a snippet. */
function isPlain(edit: TextDocumentEdit["edits"][number]): edit is TextEdit {
  return "newText" in edit;
}
