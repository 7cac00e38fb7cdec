; The names that a text uses. @call is a called name, @base a type that is extended, @type the name of a type, and @use any
; other use. @receiver is the expression before the name. @bound is the name of a parameter or a local variable. @key is a
; name that looks like a use but is not one.

(call !receiver method: [(identifier) (constant)] @call)
(call receiver: _ @receiver method: [(identifier) (constant)] @call)
(class superclass: (superclass [
  (constant) @base
  (scope_resolution scope: (_) @receiver name: (_) @base)
]))
((call !receiver method: (identifier) @_how arguments: (argument_list [
  (constant) @base
  (scope_resolution scope: (_) @receiver name: (_) @base)
])) (#any-of? @_how "include" "extend" "prepend"))
(scope_resolution scope: (_) @receiver name: (_) @use)
[(identifier) (constant)] @use
(method_parameters [(identifier) @bound (_ name: (identifier) @bound)])
(block_parameters [(identifier) @bound (_ name: (identifier) @bound)])
(assignment left: (identifier) @bound)
