; The name of the capture on the whole node is the kind of the declaration. @name is its name. Its signature ends before
; @body or after @head. @owner is the type that it belongs to although it stands outside of it. @base is a type that the
; enclosing type extends. @outer is a node that starts before a declaration and ends with it: decorators, `export`,
; `template`.

(function_declaration name: (identifier) @name parameters: (_) @head) @function
(function_declaration name: (dot_index_expression table: (_) @owner field: (_) @name) parameters: (_) @head) @function
(function_declaration name: (method_index_expression table: (_) @owner method: (_) @name) parameters: (_) @head) @method
(assignment_statement
  (variable_list name: (identifier) @name) (expression_list value: (function_definition parameters: (_) @head))) @function
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @variable)
