; The name of the capture on the whole node is the kind of the declaration. Its line in the outline ends before @body or
; @value, or after @head.

(using_directive) @import

(namespace_declaration body: (_) @body) @class
(file_scoped_namespace_declaration) @import
(class_declaration body: (_) @body) @class
(interface_declaration body: (_) @body) @class
(struct_declaration body: (_) @body) @class
(record_declaration body: (_) @body) @class
(record_declaration !body) @type
(enum_declaration body: (_) @body) @class
(delegate_declaration) @type

(method_declaration body: (_) @body) @function
(method_declaration !body) @function
(constructor_declaration body: (_) @body) @function
(constructor_declaration (constructor_initializer) @body) @function
(operator_declaration body: (_) @body) @function
(local_function_statement body: (_) @body) @function

(property_declaration accessors: (_) @body) @field
(property_declaration value: (_) @body) @field
(field_declaration (variable_declaration (variable_declarator (_) (_)? @value))) @field
(enum_member_declaration) @field
