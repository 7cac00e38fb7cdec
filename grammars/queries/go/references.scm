; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

(call_expression function: (identifier) @call)
(call_expression function: (selector_expression operand: (_) @receiver field: (_) @call))
(field_declaration !name type: [
  (type_identifier) @base
  (pointer_type (type_identifier) @base)
  (qualified_type package: (_) @receiver name: (_) @base)
])
(qualified_type package: (_) @receiver name: (_) @type)
(type_identifier) @type
(selector_expression operand: (_) @receiver field: (_) @use)
(identifier) @use
(keyed_element . (literal_element (identifier) @key))
(parameter_declaration name: (identifier) @bound)
(variadic_parameter_declaration name: (identifier) @bound)
(short_var_declaration left: (expression_list (identifier) @bound))
(range_clause left: (expression_list (identifier) @bound))
(var_spec name: (identifier) @bound)
(const_spec name: (identifier) @bound)
