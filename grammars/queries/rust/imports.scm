; @from is what is imported from, as it is written; @name what of it, @alias what it is called here. @tree is a
; tree of such names (`a::{b, c}`). One match for every name.

(use_declaration argument: (_) @tree)
(extern_crate_declaration name: (_) @from alias: (_)? @alias)
(mod_item name: (_) @from !body)
