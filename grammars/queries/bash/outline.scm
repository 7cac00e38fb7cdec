; The name of the capture on the whole node is the kind of the declaration. Its line in the outline ends before @body or
; @value, or after @head.

((command name: (command_name) @name) @import
  (#any-of? @name "source" "."))

(function_definition body: (_) @body) @function
(program (variable_assignment value: (_)? @value) @const)
(program (declaration_command (variable_assignment value: (_)? @value)) @const)
