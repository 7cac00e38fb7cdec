; The name of the capture on the whole node is the kind of the declaration. @name is its name. Its signature ends before
; @body or after @head. @owner is the type that it belongs to although it stands outside of it. @base is a type that the
; enclosing type extends. @outer is a node that starts before a declaration and ends with it: decorators, `export`,
; `template`.

(abstract_class_declaration name: (_) @name body: (_) @body) @class
(implements_clause (_) @base)
(interface_declaration name: (_) @name body: (_) @body) @interface
(extends_type_clause type: (_) @base)
(internal_module name: (_) @name body: (_) @body) @module
(module name: (_) @name body: (_) @body) @module
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_body (property_identifier) @name @member)
(enum_assignment name: (_) @name) @member
(type_alias_declaration name: (_) @name) @type
(function_signature name: (_) @name) @function
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method
(property_signature name: (_) @name) @field
(ambient_declaration "declare" (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
(ambient_declaration "declare" (variable_declaration (variable_declarator name: (identifier) @name) @variable))
(internal_module body: (statement_block (lexical_declaration (variable_declarator name: (identifier) @name) @variable)))
(internal_module body: (statement_block (variable_declaration (variable_declarator name: (identifier) @name) @variable)))
(internal_module
  body: (statement_block (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @variable))))
(internal_module
  body: (statement_block (export_statement (variable_declaration (variable_declarator name: (identifier) @name) @variable))))
(module body: (statement_block (lexical_declaration (variable_declarator name: (identifier) @name) @variable)))
(module body: (statement_block (variable_declaration (variable_declarator name: (identifier) @name) @variable)))
(module body: (statement_block (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @variable))))
(module
  body: (statement_block (export_statement (variable_declaration (variable_declarator name: (identifier) @name) @variable))))
(ambient_declaration) @outer
