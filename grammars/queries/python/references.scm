; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

(call function: (identifier) @call)
(call function: (attribute object: (_) @receiver attribute: (identifier) @call))
(decorator (identifier) @call)
(decorator (attribute object: (_) @receiver attribute: (identifier) @call))
(class_definition superclasses: (argument_list [
  (identifier) @base
  (subscript value: (identifier) @base)
  (attribute object: (_) @receiver attribute: (identifier) @base)
  (subscript value: (attribute object: (_) @receiver attribute: (identifier) @base))
]))
(type (identifier) @type)
(type (generic_type (identifier) @type))
(type (subscript value: (identifier) @type))
(type (binary_operator (identifier) @type))
(type (attribute object: (_) @receiver attribute: (identifier) @type))
(attribute object: (_) @receiver attribute: (identifier) @use)
(identifier) @use
(keyword_argument name: (identifier) @key)
(parameters [(identifier) @bound (_ . (identifier) @bound)])
[(list_splat_pattern (identifier) @bound) (dictionary_splat_pattern (identifier) @bound)]
[(tuple_pattern (identifier) @bound) (list_pattern (identifier) @bound) (pattern_list (identifier) @bound)]
(as_pattern_target (tuple (identifier) @bound))
(lambda_parameters [(identifier) @bound (_ . (identifier) @bound)])
(assignment left: (identifier) @bound)
(named_expression name: (identifier) @bound)
(for_statement left: (identifier) @bound)
(for_in_clause left: (identifier) @bound)
(as_pattern_target (identifier) @bound)
