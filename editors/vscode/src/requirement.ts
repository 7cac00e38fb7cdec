/** What pip installs for the server: the setting, with the extras that the server needs for a model. */

const EXTRAS = "[all]";

/**
 * Return a requirement of pip with all extras of the server.
 *
 * @param requirement The setting: a name, a version such as `lsp-harness==0.1.0`, a folder or a file. One that names
 *   extras itself, or an address, stays as it is.
 */
export function withExtras(requirement: string): string {
  if (requirement.includes("[") || requirement.includes("://") || requirement.includes(" @ ")) {
    return requirement;
  }
  const named = /^([A-Za-z0-9][\w.-]*)(\s*[=<>~!].*)?$/.exec(requirement);
  return named ? `${named[1]}${EXTRAS}${named[2] ?? ""}` : `${requirement}${EXTRAS}`;
}
