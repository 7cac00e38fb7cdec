; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

(function_call_expression function: (name) @call)
(function_call_expression function: (qualified_name prefix: (_) @receiver (name) @call))
(member_call_expression object: (_) @receiver name: (name) @call)
(nullsafe_member_call_expression object: (_) @receiver name: (name) @call)
(scoped_call_expression scope: (_) @receiver name: (name) @call)
(object_creation_expression (name) @call)
(object_creation_expression (qualified_name prefix: (_) @receiver (name) @call))
[(base_clause (name) @base) (class_interface_clause (name) @base) (declaration_list (use_declaration (name) @base))]
(base_clause (qualified_name prefix: (_) @receiver (name) @base))
(class_interface_clause (qualified_name prefix: (_) @receiver (name) @base))
(declaration_list (use_declaration (qualified_name prefix: (_) @receiver (name) @base)))
(named_type (name) @type)
(named_type (qualified_name prefix: (_) @receiver (name) @type))
(attribute (name) @type)
(member_access_expression object: (_) @receiver name: (name) @use)
(nullsafe_member_access_expression object: (_) @receiver name: (name) @use)
(class_constant_access_expression . (_) @receiver (name) @use .)
(name) @use
(variable_name (name) @key)
(argument name: (name) @key)
