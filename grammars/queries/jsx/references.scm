; The names that a text uses. @call is what is called, @base what a type extends, @type what is named as a type, @use any other
; name; @receiver is what is before it. @bound are parameters and variables of functions, @key what only looks like a use.

(jsx_opening_element name: (identifier) @call)
(jsx_opening_element name: (member_expression object: (_) @receiver property: (_) @call))
(jsx_self_closing_element name: (identifier) @call)
(jsx_self_closing_element name: (member_expression object: (_) @receiver property: (_) @call))
(jsx_closing_element name: (identifier) @key)
(jsx_closing_element name: (member_expression property: (_) @key))
