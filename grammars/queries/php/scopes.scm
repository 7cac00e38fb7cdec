; @function, @class  scopes that may contain the cursor
; @block             nodes that contain statements
; @wrapper           nodes that belong to the definition inside of them
; @statement         the smallest nodes that an edit may replace

[
  (function_definition)
  (method_declaration)
  (anonymous_function)
  (arrow_function)
] @function

[
  (class_declaration)
  (interface_declaration)
  (trait_declaration)
  (enum_declaration)
] @class

[
  (compound_statement)
  (declaration_list)
  (enum_declaration_list)
  (switch_block)
  (colon_block)
] @block

(statement) @statement
(compound_statement (_) @statement)
(declaration_list (_) @statement)
[
  (enum_case)
  (case_statement)
  (default_statement)
  (else_clause)
  (else_if_clause)
  (catch_clause)
  (finally_clause)
] @statement
