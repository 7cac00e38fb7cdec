; Patterns that C++ has in addition to those of C.

(lambda_expression) @function

[
  (class_specifier body: (_))
  (namespace_definition)
] @class

(template_declaration) @wrapper
(declaration_list) @block
(declaration_list (_) @statement)
[
  (catch_clause)
  (for_range_loop)
  (try_statement)
  (throw_statement)
] @statement
