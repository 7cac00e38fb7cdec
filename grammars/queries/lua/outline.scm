; The name of the capture on the whole node is the kind of the declaration. Its line in the outline ends before @body or
; @value, or after @head.

((variable_declaration (assignment_statement
    (expression_list value: (function_call name: (identifier) @name)))) @import
  (#eq? @name "require"))

(function_declaration parameters: (_) @head) @function
(assignment_statement (expression_list value: (function_definition parameters: (_) @head))) @function
(chunk (variable_declaration (assignment_statement (expression_list value: (_) @value))) @const)
