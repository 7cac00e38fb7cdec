; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

(function_call name: (identifier) @call)
(function_call name: (dot_index_expression table: (_) @receiver field: (_) @call))
(function_call name: (method_index_expression table: (_) @receiver method: (_) @call))
(dot_index_expression table: (_) @receiver field: (_) @use)
(identifier) @use
(parameters name: (identifier) @bound)
(variable_declaration (assignment_statement (variable_list name: (identifier) @bound)))
(for_generic_clause (variable_list name: (identifier) @bound))
