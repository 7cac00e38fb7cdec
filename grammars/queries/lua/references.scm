; The names that a text uses. @call is what is called, @base what a type extends, @type what is named as a type, @use any other
; name; @receiver is what is before it. @bound are parameters and variables of functions, @key what only looks like a use.

(function_call name: (identifier) @call)
(function_call name: (dot_index_expression table: (_) @receiver field: (_) @call))
(function_call name: (method_index_expression table: (_) @receiver method: (_) @call))
(dot_index_expression table: (_) @receiver field: (_) @use)
(identifier) @use
(parameters name: (identifier) @bound)
(variable_declaration (assignment_statement (variable_list name: (identifier) @bound)))
(for_generic_clause (variable_list name: (identifier) @bound))
