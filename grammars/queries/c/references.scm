; The names that a text uses. @call is what is called, @base what a type extends, @type what is named as a type, @use any other
; name; @receiver is what is before it. @bound are parameters and variables of functions, @key what only looks like a use.

(call_expression function: (identifier) @call)
(call_expression function: (field_expression argument: (_) @receiver field: (_) @call))
(type_identifier) @type
(field_expression argument: (_) @receiver field: (field_identifier) @use)
(identifier) @use
(parameter_declaration declarator: [(identifier) @bound (pointer_declarator declarator: (identifier) @bound)])
(declaration declarator: [
  (identifier) @bound
  (pointer_declarator declarator: (identifier) @bound)
  (init_declarator declarator: [(identifier) @bound (pointer_declarator declarator: (identifier) @bound)])
])
