; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

(call_expression function: (identifier) @call)
(call_expression function: (field_expression value: (_) @receiver field: (_) @call))
(call_expression function: (scoped_identifier path: (_) @receiver name: (_) @call))
(call_expression function: (generic_function function: [
  (identifier) @call
  (field_expression value: (_) @receiver field: (_) @call)
  (scoped_identifier path: (_) @receiver name: (_) @call)
]))
(macro_invocation macro: (identifier) @call)
(macro_invocation macro: (scoped_identifier path: (_) @receiver name: (_) @call))
(struct_expression name: (type_identifier) @call)
(struct_expression name: (scoped_type_identifier path: (_) @receiver name: (_) @call))
(impl_item trait: [
  (type_identifier) @base
  (generic_type type: (type_identifier) @base)
  (scoped_type_identifier path: (_) @receiver name: (_) @base)
])
(trait_item bounds: (trait_bounds (type_identifier) @base))
(scoped_type_identifier path: (_) @receiver name: (_) @type)
(type_identifier) @type
(field_expression value: (_) @receiver field: (field_identifier) @use)
(scoped_identifier path: (_) @receiver name: (_) @use)
[(identifier) (shorthand_field_identifier)] @use
(parameter pattern: [(identifier) @bound (mut_pattern (identifier) @bound) (tuple_pattern (identifier) @bound)])
(closure_parameters (identifier) @bound)
(let_declaration pattern: [(identifier) @bound (mut_pattern (identifier) @bound) (tuple_pattern (identifier) @bound)])
(for_expression pattern: (identifier) @bound)
; A name in a pattern that is written like a constant is not bound.
([
  (match_pattern (identifier) @bound)
  (tuple_struct_pattern (identifier) @bound)
  (tuple_pattern (identifier) @bound)
  (slice_pattern (identifier) @bound)
  (reference_pattern (identifier) @bound)
  (captured_pattern (identifier) @bound)
  (mut_pattern (identifier) @bound)
  (ref_pattern (identifier) @bound)
  (field_pattern name: (shorthand_field_identifier) @bound)
  (field_pattern pattern: (identifier) @bound)
] (#match? @bound "^[a-z_]"))
