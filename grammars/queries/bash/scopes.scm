; @function, @class  scopes that may contain the cursor
; @block             nodes that contain statements
; @wrapper           nodes that belong to the definition inside of them
; @statement         the smallest nodes that an edit may replace

(function_definition) @function

[
  (compound_statement)
  (do_group)
] @block

(program (_) @statement)
(compound_statement (_) @statement)
(do_group (_) @statement)
(if_statement (_) @statement)
[
  (elif_clause)
  (else_clause)
  (case_item)
] @statement
