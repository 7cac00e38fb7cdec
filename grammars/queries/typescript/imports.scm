; What TypeScript adds to JavaScript.

(import_require_clause (identifier) @alias source: (string (string_fragment) @from))
