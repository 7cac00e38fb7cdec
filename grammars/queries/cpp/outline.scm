; Patterns that C++ has in addition to those of C.

(using_declaration) @import
(class_specifier body: (_) @body) @class
(namespace_definition body: (_) @body) @class
(alias_declaration) @type
(template_declaration parameters: (_) @head) @decorator
(function_definition (field_initializer_list) @body) @function
(function_definition (default_method_clause)) @function
(function_definition (delete_method_clause)) @function
(field_declaration declarator: (function_declarator)) @function
(field_declaration declarator: (reference_declarator (function_declarator))) @function
(field_declaration declarator: (pointer_declarator declarator: (function_declarator))) @function
(declaration declarator: (reference_declarator (function_declarator))) @function
