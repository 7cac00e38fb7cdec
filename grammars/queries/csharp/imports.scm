; One match for each imported name. @from is the module as it is written, @name the imported name, and @alias its local
; name. @tree is a nested import (`a::{b, c}`).

(using_directive name: (_) @alias (_) @from)
(using_directive !name (_) @from)
