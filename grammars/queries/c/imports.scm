; @from is what is imported from, as it is written; @name what of it, @alias what it is called here. @tree is a
; tree of such names (`a::{b, c}`). One match for every name.

(preproc_include path: (system_lib_string) @from)
(preproc_include path: (string_literal (string_content) @from))
