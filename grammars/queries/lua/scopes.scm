; @function, @class  scopes that may contain the cursor
; @block             nodes that contain statements
; @wrapper           nodes that belong to the definition inside of them
; @statement         the smallest nodes that an edit may replace

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
