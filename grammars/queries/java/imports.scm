; One match for each imported name. @from is the module as it is written, @name the imported name, and @alias its local
; name. @tree is a nested import (`a::{b, c}`).

(import_declaration (scoped_identifier) @from (asterisk)? @name)
(import_declaration (identifier) @from)
