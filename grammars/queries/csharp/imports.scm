; @from is what is imported from, as it is written; @name what of it, @alias what it is called here. @tree is a
; tree of such names (`a::{b, c}`). One match for every name.

(using_directive name: (_) @alias (_) @from)
(using_directive !name (_) @from)
