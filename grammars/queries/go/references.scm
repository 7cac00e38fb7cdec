; The names that a text uses. @call is what is called, @base what a type extends, @type what is named as a type, @use any other
; name; @receiver is what is before it. @bound are parameters and variables of functions, @key what only looks like a use.

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
