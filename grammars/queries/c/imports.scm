; One match for each imported name. @from is the module as it is written, @name the imported name, and @alias its local
; name. @tree is a nested import (`a::{b, c}`).

(preproc_include path: (system_lib_string) @from)
(preproc_include path: (string_literal (string_content) @from))
