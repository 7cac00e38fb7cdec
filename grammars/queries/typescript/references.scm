; The names that a text uses. @call is what is called, @base what a type extends, @type what is named as a type, @use any other
; name; @receiver is what is before it. @bound are parameters and variables of functions, @key what only looks like a use.

(implements_clause [
  (type_identifier) @base
  (generic_type name: (type_identifier) @base)
  (nested_type_identifier module: (_) @receiver name: (_) @base)
  (generic_type name: (nested_type_identifier module: (_) @receiver name: (_) @base))
])
(extends_type_clause type: [
  (type_identifier) @base
  (generic_type name: (type_identifier) @base)
  (nested_type_identifier module: (_) @receiver name: (_) @base)
  (generic_type name: (nested_type_identifier module: (_) @receiver name: (_) @base))
])
(nested_type_identifier module: (_) @receiver name: (_) @type)
(type_identifier) @type
(required_parameter pattern: [(identifier) @bound (rest_pattern (identifier) @bound)])
(optional_parameter pattern: (identifier) @bound)
