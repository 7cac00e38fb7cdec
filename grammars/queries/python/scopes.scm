; @function, @class  scopes that may contain the cursor
; @block             nodes that contain statements
; @wrapper           nodes that belong to the definition inside of them
; @statement         the smallest nodes that an edit may replace

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
