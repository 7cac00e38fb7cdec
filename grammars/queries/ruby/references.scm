; The names that a text uses. @call is what is called, @base what a type extends, @type what is named as a type, @use any other
; name; @receiver is what is before it. @bound are parameters and variables of functions, @key what only looks like a use.

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
