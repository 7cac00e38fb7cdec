; The capture on the whole node is its kind. @name is what it is called; its signature ends before @body or after @head;
; @owner is the type it belongs to although it stands outside of it; @base is what the one around it extends. @outer is a
; node that begins earlier and ends where one of these does: decorators, `export`, `template`.

(function_definition name: (_) @name body: (_) @body) @function
(program (variable_assignment name: (_) @name) @variable)
(program (declaration_command (variable_assignment name: (_) @name) @variable))
