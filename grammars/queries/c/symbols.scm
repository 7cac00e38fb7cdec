; The capture on the whole node is its kind. @name is what it is called; its signature ends before @body or after @head;
; @owner is the type it belongs to although it stands outside of it; @base is what the one around it extends. @outer is a
; node that begins earlier and ends where one of these does: decorators, `export`, `template`.

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
; what a header has between its guards
(preproc_ifdef (declaration declarator: (init_declarator declarator: (identifier) @name)) @variable)
(preproc_ifdef (declaration declarator: (identifier) @name) @variable)
(preproc_ifdef (declaration declarator: (_ declarator: (identifier) @name)) @variable)
