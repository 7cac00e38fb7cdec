; @function, @class  scopes that may contain the cursor
; @block             nodes that contain statements
; @wrapper           nodes that belong to the definition inside of them
; @statement         the smallest nodes that an edit may replace

[
  (function_declaration)
  (method_declaration)
  (func_literal)
] @function

(type_spec type: [(struct_type) (interface_type)]) @class

[
  (block)
  (field_declaration_list)
  (interface_type)
] @block

(source_file (_) @statement)
(_statement) @statement
(statement_list (_) @statement)
[
  (expression_case)
  (default_case)
  (type_case)
  (communication_case)
  (field_declaration)
  (method_elem)
] @statement
