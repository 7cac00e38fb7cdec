; Patterns that TypeScript has in addition to those of JavaScript.

(import_require_clause (identifier) @alias source: (string (string_fragment) @from))
