; The capture on the whole node is its kind. @name is what it is called; its signature ends before @body or after @head;
; @owner is the type it belongs to although it stands outside of it; @base is what the one around it extends. @outer is a
; node that begins earlier and ends where one of these does: decorators, `export`, `template`.

(function_declaration name: (identifier) @name parameters: (_) @head) @function
(function_declaration name: (dot_index_expression table: (_) @owner field: (_) @name) parameters: (_) @head) @function
(function_declaration name: (method_index_expression table: (_) @owner method: (_) @name) parameters: (_) @head) @method
(assignment_statement
  (variable_list name: (identifier) @name) (expression_list value: (function_definition parameters: (_) @head))) @function
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name))) @variable)
