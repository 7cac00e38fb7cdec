; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

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
