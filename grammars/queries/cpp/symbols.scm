; The name of the capture on the whole node is the kind of the declaration. @name is its name. Its signature ends before
; @body or after @head. @owner is the type that it belongs to although it stands outside of it. @base is a type that the
; enclosing type extends. @outer is a node that starts before a declaration and ends with it: decorators, `export`,
; `template`.

(class_specifier name: (_) @name body: (_) @body) @class
(base_class_clause [(type_identifier) (template_type) (qualified_identifier)] @base)
(namespace_definition name: (_) @name body: (_) @body) @namespace
(alias_declaration name: (_) @name) @type
(concept_definition name: (_) @name) @type

(function_definition
  declarator: (function_declarator declarator: [(field_identifier) (destructor_name) (operator_name)] @name)
  body: (_) @body) @method
(function_definition
  declarator: (function_declarator declarator: [(field_identifier) (destructor_name) (operator_name)] @name)
  !body) @method
(function_definition declarator: (function_declarator
  declarator: (qualified_identifier scope: (_) @owner name: (_) @name)) body: (_) @body) @method
(function_definition
  declarator: (_ (function_declarator declarator: [(identifier) (field_identifier) (operator_name)] @name))
  body: (_) @body) @function
(function_definition
  declarator: (_ (function_declarator declarator: (qualified_identifier scope: (_) @owner name: (_) @name)))
  body: (_) @body) @method
(function_definition declarator: (function_declarator declarator: (identifier) @name) (field_initializer_list) @body) @function
(function_definition declarator: (function_declarator declarator: (identifier) @name) (default_method_clause)) @function
(function_definition declarator: (function_declarator declarator: (identifier) @name) (delete_method_clause)) @function
(field_declaration declarator: (function_declarator declarator: (_) @name)) @method
(field_declaration declarator: (_ (function_declarator declarator: (field_identifier) @name))) @method
(declaration declarator: (_ (function_declarator declarator: (identifier) @name))) @function
(function_definition
  declarator: (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name)) !body) @method
(declaration_list (declaration declarator: (init_declarator declarator: (identifier) @name)) @variable)
(declaration_list (declaration declarator: (identifier) @name) @variable)
(template_declaration) @outer
