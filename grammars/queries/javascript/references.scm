; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

(call_expression function: (identifier) @call)
(call_expression function: (member_expression object: (_) @receiver property: (_) @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression object: (_) @receiver property: (_) @call))
(_ "extends" . (identifier) @base)
(_ "extends" . (member_expression object: (_) @receiver property: (_) @base))
(member_expression object: (_) @receiver property: (_) @use)
[(identifier) (shorthand_property_identifier)] @use
(formal_parameters (_) @bound)
(rest_pattern (identifier) @bound)
(assignment_pattern left: (identifier) @bound)
(arrow_function parameter: (identifier) @bound)
(variable_declarator name: (identifier) @bound)
(for_in_statement left: (identifier) @bound)
(catch_clause parameter: (identifier) @bound)
(array_pattern (identifier) @bound)
(shorthand_property_identifier_pattern) @bound
(pair_pattern value: (identifier) @bound)
