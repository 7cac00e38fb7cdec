; The name of the capture on the whole node is the kind of the declaration. Its line in the outline ends before @body or
; @value, or after @head.

(preproc_include) @import
(preproc_def) @const
(preproc_function_def value: (_)? @value) @const

(function_definition body: (_) @body) @function
(declaration declarator: (function_declarator)) @function
(declaration declarator: (pointer_declarator declarator: (function_declarator))) @function

(struct_specifier body: (_) @body) @class
(union_specifier body: (_) @body) @class
(enum_specifier body: (_)) @type
(type_definition type: [(primitive_type) (type_identifier) (sized_type_specifier)]) @type
(type_definition type: [(struct_specifier) (union_specifier) (enum_specifier)]) @type

(field_declaration) @field
(translation_unit (declaration declarator: (init_declarator value: (_) @value)) @const)
(translation_unit (declaration declarator: (identifier)) @const)
