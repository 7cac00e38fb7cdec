; @function, @class  scopes that may contain the cursor
; @block             nodes that contain statements
; @wrapper           nodes that belong to the definition inside of them
; @statement         the smallest nodes that an edit may replace

[
  (function_declaration)
  (generator_function_declaration)
  (function_expression)
  (generator_function)
  (arrow_function)
  (method_definition)
] @function

[
  (class_declaration)
  (class)
] @class

(export_statement) @wrapper
; the declarator of a variable, a field of a class, and a pair of an object
(_ value: [(arrow_function) (function_expression) (generator_function)]) @wrapper
(lexical_declaration
  (variable_declarator value: [(arrow_function) (function_expression) (generator_function)])) @wrapper
(variable_declaration
  (variable_declarator value: [(arrow_function) (function_expression) (generator_function)])) @wrapper
(assignment_expression right: [(arrow_function) (function_expression) (generator_function)]) @wrapper
(expression_statement
  (assignment_expression right: [(arrow_function) (function_expression) (generator_function)])) @wrapper

[
  (statement_block)
  (class_body)
  (switch_body)
] @block

[
  (statement)
  (else_clause)
  (catch_clause)
  (finally_clause)
  (switch_case)
  (switch_default)
  (method_definition)
  (class_static_block)
] @statement
