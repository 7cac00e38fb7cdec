; The name of the capture on the whole node is the kind of the declaration. @name is its name. Its signature ends before
; @body or after @head. @owner is the type that it belongs to although it stands outside of it. @base is a type that the
; enclosing type extends. @outer is a node that starts before a declaration and ends with it: decorators, `export`,
; `template`.

(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(class_declaration name: (_) @name body: (_) @body) @class
(_ "extends" . [(identifier) (member_expression)] @base)
(method_definition name: (_) @name body: (_) @body) @method
(class_body (_ [(property_identifier) (private_property_identifier)] @name) @field)

(variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body)) @function
(variable_declarator name: (identifier) @name value: (function_expression body: (_) @body)) @function
(variable_declarator name: (identifier) @name value: (generator_function body: (_) @body)) @function
(class_body (_ [(property_identifier) (private_property_identifier)] @name value: (arrow_function body: (_) @body)) @method)
(class_body (_ [(property_identifier) (private_property_identifier)] @name value: (function_expression body: (_) @body)) @method)
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(pair key: (property_identifier) @name value: (arrow_function body: (_) @body)) @method
(pair key: (property_identifier) @name value: (function_expression body: (_) @body)) @method
(assignment_expression
  left: (member_expression property: (property_identifier) @name) right: (arrow_function body: (_) @body)) @function
(assignment_expression
  left: (member_expression property: (property_identifier) @name) right: (function_expression body: (_) @body)) @function

(program (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @variable))
(program (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @variable)))
(export_statement) @outer
(lexical_declaration . (_) .) @outer
