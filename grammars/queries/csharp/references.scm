; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

(invocation_expression function: [(identifier) @call (generic_name (identifier) @call)])
(invocation_expression function: (member_access_expression
  expression: _ @receiver name: [(identifier) @call (generic_name (identifier) @call)]))
(invocation_expression function: (conditional_access_expression
  condition: (_) @receiver (member_binding_expression name: [(identifier) @call (generic_name (identifier) @call)])))
(object_creation_expression type: [
  (identifier) @call
  (generic_name (identifier) @call)
  (qualified_name qualifier: (_) @receiver name: [(identifier) @call (generic_name (identifier) @call)])
])
(base_list [
  (identifier) @base
  (generic_name (identifier) @base)
  (qualified_name qualifier: (_) @receiver name: [(identifier) @base (generic_name (identifier) @base)])
  (primary_constructor_base_type type: (identifier) @base)
])
(_ type: [(identifier) @type (generic_name (identifier) @type) (nullable_type type: (identifier) @type)])
(_ type: (qualified_name qualifier: (_) @receiver name: [(identifier) @type (generic_name (identifier) @type)]))
(_ returns: [(identifier) @type (generic_name (identifier) @type) (nullable_type type: (identifier) @type)])
(type_argument_list (identifier) @type)
(attribute name: (identifier) @type)
(member_access_expression expression: _ @receiver name: (identifier) @use)
(qualified_name qualifier: (_) @receiver name: (identifier) @use)
(identifier) @use
(initializer_expression (assignment_expression left: (identifier) @key))
(argument name: (identifier) @key)
(parameter name: (identifier) @bound)
(parameter_list name: (identifier) @bound)
(implicit_parameter) @bound
(foreach_statement left: (identifier) @bound)
(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @bound)))
