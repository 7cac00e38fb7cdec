; The name of the capture on the whole node is the kind of the declaration. @name is its name. Its signature ends before
; @body or after @head. @owner is the type that it belongs to although it stands outside of it. @base is a type that the
; enclosing type extends. @outer is a node that starts before a declaration and ends with it: decorators, `export`,
; `template`.

(function_definition declarator: (function_declarator declarator: (identifier) @name) body: (_) @body) @function
(function_definition
  declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)) body: (_) @body) @function
(function_definition
  declarator: (pointer_declarator
    declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
  body: (_) @body) @function
(declaration declarator: (function_declarator declarator: (identifier) @name)) @function
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function

(struct_specifier name: (_) @name body: (_) @body) @struct
(union_specifier name: (_) @name body: (_) @body) @struct
(enum_specifier name: (_) @name body: (_) @body) @enum
(enumerator name: (_) @name) @member
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @type
(type_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @type
(preproc_def name: (_) @name) @constant
(preproc_function_def name: (_) @name) @macro

(field_declaration declarator: (field_identifier) @name) @field
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @field
(field_declaration declarator: (array_declarator declarator: (field_identifier) @name)) @field
(translation_unit (declaration declarator: (init_declarator declarator: (identifier) @name)) @variable)
(translation_unit (declaration declarator: (init_declarator declarator: (_ declarator: (identifier) @name))) @variable)
(translation_unit (declaration declarator: (identifier) @name) @variable)
(translation_unit (declaration declarator: (_ declarator: (identifier) @name)) @variable)
; The content of a header between its include guards.
(preproc_ifdef (declaration declarator: (init_declarator declarator: (identifier) @name)) @variable)
(preproc_ifdef (declaration declarator: (identifier) @name) @variable)
(preproc_ifdef (declaration declarator: (_ declarator: (identifier) @name)) @variable)
