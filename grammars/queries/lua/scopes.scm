; @function @class  what a cursor can be inside of     @block     what may hold statements
; @wrapper          belongs to the definition in it
; @statement        the smallest piece an edit may replace

[
  (function_declaration)
  (function_definition)
] @function

(block) @block

(chunk (_) @statement)
(block (_) @statement)
(statement) @statement
[
  (elseif_statement)
  (else_statement)
  (return_statement)
] @statement
