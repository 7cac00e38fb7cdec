; One match for each imported name. @from is the module as it is written, @name the imported name, and @alias its local
; name. @tree is a nested import (`a::{b, c}`).

(import_statement . source: (string (string_fragment) @from))
(import_statement (import_clause (identifier) @alias) source: (string (string_fragment) @from))
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string (string_fragment) @from))
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @name alias: (_)? @alias)))
  source: (string (string_fragment) @from))
(export_statement . "*" @name source: (string (string_fragment) @from))
(export_statement (namespace_export (_) @alias) source: (string (string_fragment) @from))
(export_statement
  (export_clause (export_specifier name: (_) @name alias: (_)? @alias)) source: (string (string_fragment) @from))
((call_expression function: (identifier) @_how arguments: (arguments . (string (string_fragment) @from)))
  (#eq? @_how "require"))
(call_expression function: (import) arguments: (arguments . (string (string_fragment) @from)))
