; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

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
