; The name of the capture on the whole node is the kind of the declaration. Its line in the outline ends before @body or
; @value, or after @head.
; Names are matched as (_) because the dialects have other types of nodes for them.

(import_statement) @import
(export_statement source: (_)) @import
(decorator) @decorator

(class_declaration body: (_) @body) @class
(function_declaration body: (_) @body) @function
(generator_function_declaration body: (_) @body) @function
(method_definition body: (_) @body) @function

(variable_declarator value: (arrow_function body: (_) @body)) @function
(variable_declarator value: (function_expression body: (_) @body)) @function
(variable_declarator value: (generator_function body: (_) @body)) @function
(class_body (_ value: (arrow_function body: (_) @body)) @function)
(class_body (_ value: (function_expression body: (_) @body)) @function)
(variable_declarator value: (class body: (_) @body)) @class

(program (lexical_declaration (variable_declarator value: (_) @value)) @const)
(program (variable_declaration (variable_declarator value: (_) @value)) @const)
(program
  (export_statement declaration: (lexical_declaration (variable_declarator value: (_) @value)) @const))
