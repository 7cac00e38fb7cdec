; @function, @class  scopes that may contain the cursor
; @block             nodes that contain statements
; @wrapper           nodes that belong to the definition inside of them
; @statement         the smallest nodes that an edit may replace

[
  (method_declaration)
  (constructor_declaration)
  (destructor_declaration)
  (operator_declaration)
  (conversion_operator_declaration)
  (indexer_declaration)
  (property_declaration)
  (local_function_statement)
  (lambda_expression)
  (anonymous_method_expression)
] @function

[
  (class_declaration)
  (interface_declaration)
  (struct_declaration)
  (record_declaration)
  (enum_declaration)
  (namespace_declaration)
] @class

[
  (block)
  (declaration_list)
  (enum_member_declaration_list)
  (accessor_list)
  (switch_body)
] @block

(compilation_unit (_) @statement)
(block (_) @statement)
(declaration_list (_) @statement)
(statement) @statement
[
  (accessor_declaration)
  (enum_member_declaration)
  (switch_section)
  (catch_clause)
  (finally_clause)
] @statement
