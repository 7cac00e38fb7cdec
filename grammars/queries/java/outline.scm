; The name of the capture on the whole node is the kind of the declaration. Its line in the outline ends before @body or
; @value, or after @head.

(import_declaration) @import
(package_declaration) @import

(class_declaration body: (_) @body) @class
(interface_declaration body: (_) @body) @class
(enum_declaration body: (_) @body) @class
(record_declaration body: (_) @body) @class
(annotation_type_declaration body: (_) @body) @class

(method_declaration body: (_) @body) @function
(method_declaration !body) @function
(constructor_declaration body: (_) @body) @function

(field_declaration declarator: (variable_declarator value: (_)? @value)) @field
(constant_declaration declarator: (variable_declarator value: (_)? @value)) @field
(enum_constant) @field
