; @function @class  what a cursor can be inside of     @block     what may hold statements
; @wrapper          belongs to the definition in it
; @statement        the smallest piece an edit may replace

(function_definition) @function
(class_definition) @class
(decorated_definition) @wrapper

(block) @block

(module (_) @statement)
(block (_) @statement)
[
  (function_definition)
  (class_definition)
  (elif_clause)
  (else_clause)
  (except_clause)
  (finally_clause)
  (case_clause)
] @statement
