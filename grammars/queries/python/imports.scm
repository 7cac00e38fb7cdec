; One match for each imported name. @from is the module as it is written, @name the imported name, and @alias its local
; name. @tree is a nested import (`a::{b, c}`).

(import_statement name: (dotted_name) @from)
(import_statement name: (aliased_import name: (dotted_name) @from alias: (_) @alias))
(import_from_statement module_name: (_) @from name: (dotted_name) @name)
(import_from_statement module_name: (_) @from name: (aliased_import name: (_) @name alias: (_) @alias))
(import_from_statement module_name: (_) @from (wildcard_import) @name)
