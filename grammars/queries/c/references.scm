; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

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
