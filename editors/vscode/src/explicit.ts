/**
 * The settings that somebody really set. VS Code's own reading mixes in the defaults of package.json, and an editor's
 * settings are the strongest layer: a default sent along would override the project's lsp-harness.toml.
 */

export interface Inspected {
  globalValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
}

export type Tables = Record<string, Record<string, unknown>>;

/** `keys` are `table.key`. Where the workspace is not trusted, only what the user set for themselves counts. */
export function explicit(
  keys: Iterable<string>,
  inspect: (key: string) => Inspected | undefined,
  trusted: boolean,
): Tables {
  const tables: Tables = {};
  for (const key of keys) {
    const found = inspect(key);
    const value = trusted
      ? (found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue)
      : found?.globalValue;
    if (value === undefined) {
      continue;
    }
    const [table, name] = split(key);
    (tables[table] ??= {})[name] = value;
  }
  return tables;
}

/** The `table.key` names among the properties of package.json, without those that are the extension's own. */
export function serverKeys(properties: Iterable<string>, section: string): string[] {
  const own = new Set(["server", "trace"]);
  return [...properties]
    .filter((name) => name.startsWith(`${section}.`))
    .map((name) => name.slice(section.length + 1))
    .filter((name) => !own.has(split(name)[0]));
}

function split(key: string): [string, string] {
  const dot = key.indexOf(".");
  return [key.slice(0, dot), key.slice(dot + 1)];
}
