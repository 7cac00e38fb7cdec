; @function @class  what a cursor can be inside of     @block     what may hold statements
; @wrapper          belongs to the definition in it
; @statement        the smallest piece an edit may replace

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
