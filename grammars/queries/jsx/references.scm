; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

(jsx_opening_element name: (identifier) @call)
(jsx_opening_element name: (member_expression object: (_) @receiver property: (_) @call))
(jsx_self_closing_element name: (identifier) @call)
(jsx_self_closing_element name: (member_expression object: (_) @receiver property: (_) @call))
(jsx_closing_element name: (identifier) @key)
(jsx_closing_element name: (member_expression property: (_) @key))
