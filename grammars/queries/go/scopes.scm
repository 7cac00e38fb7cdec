; @function @class  what a cursor can be inside of     @block     what may hold statements
; @wrapper          belongs to the definition in it
; @statement        the smallest piece an edit may replace

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
