; The name of the capture on the whole node is the kind of the declaration. @name is its name. Its signature ends before
; @body or after @head. @owner is the type that it belongs to although it stands outside of it. @base is a type that the
; enclosing type extends. @outer is a node that starts before a declaration and ends with it: decorators, `export`,
; `template`.

(function_definition name: (_) @name body: (_) @body) @function
(program (variable_assignment name: (_) @name) @variable)
(program (declaration_command (variable_assignment name: (_) @name) @variable))
