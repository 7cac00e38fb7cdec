/**
 * Collects the settings that a user has set explicitly. VS Code's own lookup adds the defaults of package.json. The
 * editor's settings have the highest priority, so a default among them would override the project's lsp-harness.toml.
 */

export interface Inspected {
  globalValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
}

export type Tables = Record<string, Record<string, unknown>>;

/**
 * Return the explicit values by table and name. `keys` have the form `table.key`. In an untrusted workspace only the
 * values of the user's own settings count.
 */
export function explicitSettings(
  keys: Iterable<string>,
  inspect: (key: string) => Inspected | undefined,
  trusted: boolean,
): Tables {
  const tables: Tables = {};
  for (const key of keys) {
    const inspected = inspect(key);
    const value = trusted
      ? (inspected?.workspaceFolderValue ?? inspected?.workspaceValue ?? inspected?.globalValue)
      : inspected?.globalValue;
    if (value === undefined) {
      continue;
    }
    const [table, name] = splitKey(key);
    (tables[table] ??= {})[name] = value;
  }
  return tables;
}

/** Return the `table.key` names of the properties in package.json, without the extension's own settings. */
export function serverKeys(properties: Iterable<string>, section: string): string[] {
  const extensionTables = new Set(["server", "trace"]);
  return [...properties]
    .filter((name) => name.startsWith(`${section}.`))
    .map((name) => name.slice(section.length + 1))
    .filter((name) => !extensionTables.has(splitKey(name)[0]));
}

function splitKey(key: string): [string, string] {
  const dot = key.indexOf(".");
  return [key.slice(0, dot), key.slice(dot + 1)];
}
