; @from is what is imported from, as it is written; @name what of it, @alias what it is called here. @tree is a
; tree of such names (`a::{b, c}`). One match for every name.

(import_statement name: (dotted_name) @from)
(import_statement name: (aliased_import name: (dotted_name) @from alias: (_) @alias))
(import_from_statement module_name: (_) @from name: (dotted_name) @name)
(import_from_statement module_name: (_) @from name: (aliased_import name: (_) @name alias: (_) @alias))
(import_from_statement module_name: (_) @from (wildcard_import) @name)
