; One match for each imported name. @from is the module as it is written, @name the imported name, and @alias its local
; name. @tree is a nested import (`a::{b, c}`).

(import_spec name: (_)? @alias path: (interpreted_string_literal (_) @from))
