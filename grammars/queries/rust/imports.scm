; One match for each imported name. @from is the module as it is written, @name the imported name, and @alias its local
; name. @tree is a nested import (`a::{b, c}`).

(use_declaration argument: (_) @tree)
(extern_crate_declaration name: (_) @from alias: (_)? @alias)
(mod_item name: (_) @from !body)
