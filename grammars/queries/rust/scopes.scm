; @function, @class  scopes that may contain the cursor
; @block             nodes that contain statements
; @wrapper           nodes that belong to the definition inside of them
; @statement         the smallest nodes that an edit may replace

[
  (function_item)
  (closure_expression)
] @function

[
  (impl_item)
  (trait_item)
  (struct_item)
  (enum_item)
  (union_item)
  (mod_item)
] @class

[
  (block)
  (match_block)
  (declaration_list)
  (field_declaration_list)
  (enum_variant_list)
] @block

(source_file (_) @statement)
(block (_) @statement)
(declaration_list (_) @statement)
[
  (field_declaration)
  (enum_variant)
  (match_arm)
  (else_clause)
  (let_declaration)
  (expression_statement)
] @statement
