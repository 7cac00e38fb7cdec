; @function, @class  scopes that may contain the cursor
; @block             nodes that contain statements
; @wrapper           nodes that belong to the definition inside of them
; @statement         the smallest nodes that an edit may replace

[
  (method_declaration)
  (constructor_declaration)
  (compact_constructor_declaration)
  (lambda_expression)
] @function

[
  (class_declaration)
  (interface_declaration)
  (enum_declaration)
  (record_declaration)
  (annotation_type_declaration)
] @class

[
  (block)
  (class_body)
  (interface_body)
  (enum_body)
  (annotation_type_body)
  (constructor_body)
  (switch_block)
] @block

(program (_) @statement)
(block (_) @statement)
(constructor_body (_) @statement)
(class_body (_) @statement)
(interface_body (_) @statement)
(enum_body_declarations (_) @statement)
(statement) @statement
[
  (enum_constant)
  (catch_clause)
  (finally_clause)
  (switch_block_statement_group)
  (switch_rule)
] @statement
