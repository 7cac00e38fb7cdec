; @from is what is imported from, as it is written; @name what of it, @alias what it is called here. @tree is a
; tree of such names (`a::{b, c}`). One match for every name.

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
