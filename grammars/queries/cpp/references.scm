; The names that a text uses. @call is what is called, @base what a type extends, @type what is named as a type, @use any other
; name; @receiver is what is before it. @bound are parameters and variables of functions, @key what only looks like a use.

(call_expression function: (qualified_identifier scope: (_) @receiver name: [
  (identifier) @call
  (template_function name: (_) @call)
]))
(call_expression function: (template_function name: (identifier) @call))
(call_expression function: (field_expression argument: (_) @receiver field: (template_method name: (_) @call)))
(new_expression type: [
  (type_identifier) @call
  (template_type name: (_) @call)
  (qualified_identifier scope: (_) @receiver name: (type_identifier) @call)
])
(base_class_clause [
  (type_identifier) @base
  (template_type name: (_) @base)
  (qualified_identifier scope: (_) @receiver name: [(type_identifier) @base (template_type name: (_) @base)])
])
(qualified_identifier scope: (_) @receiver name: [
  (type_identifier) @type
  (template_type name: (_) @type)
  (identifier) @use
])
(namespace_identifier) @use
(parameter_declaration declarator: (reference_declarator (identifier) @bound))
(optional_parameter_declaration declarator: [(identifier) @bound (reference_declarator (identifier) @bound)])
(init_declarator declarator: (reference_declarator (identifier) @bound))
(for_range_loop declarator: [(identifier) @bound (reference_declarator (identifier) @bound)])
