; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

(method_invocation !object name: (_) @call)
(method_invocation object: (_) @receiver name: (_) @call)
(object_creation_expression type: [
  (type_identifier) @call
  (generic_type (type_identifier) @call)
  (scoped_type_identifier (_) @receiver (type_identifier) @call)
])
(method_reference . (_) @receiver (identifier) @call .)
(superclass [
  (type_identifier) @base
  (generic_type (type_identifier) @base)
  (scoped_type_identifier (_) @receiver (type_identifier) @base)
])
(type_list [
  (type_identifier) @base
  (generic_type (type_identifier) @base)
  (scoped_type_identifier (_) @receiver (type_identifier) @base)
])
[(marker_annotation name: (identifier) @type) (annotation name: (identifier) @type)]
(scoped_type_identifier (_) @receiver (type_identifier) @type .)
(type_identifier) @type
(field_access object: (_) @receiver field: (_) @use)
(scoped_identifier scope: (_) @receiver name: (_) @use)
(identifier) @use
(formal_parameter name: (identifier) @bound)
(spread_parameter (variable_declarator name: (identifier) @bound))
(local_variable_declaration declarator: (variable_declarator name: (identifier) @bound))
(enhanced_for_statement name: (identifier) @bound)
(lambda_expression parameters: [(identifier) @bound (inferred_parameters (identifier) @bound)])
(catch_formal_parameter name: (identifier) @bound)
