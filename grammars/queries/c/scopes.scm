; @function, @class  scopes that may contain the cursor
; @block             nodes that contain statements
; @wrapper           nodes that belong to the definition inside of them
; @statement         the smallest nodes that an edit may replace

(function_definition) @function

[
  (struct_specifier body: (_))
  (union_specifier body: (_))
  (enum_specifier body: (_))
] @class

[
  (compound_statement)
  (field_declaration_list)
  (enumerator_list)
] @block

(translation_unit (_) @statement)
(compound_statement (_) @statement)
(field_declaration_list (_) @statement)
(statement) @statement
[
  (declaration)
  (enumerator)
  (else_clause)
] @statement
