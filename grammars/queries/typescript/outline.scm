; Patterns that TypeScript has in addition to those of JavaScript.

(abstract_class_declaration body: (_) @body) @class
(interface_declaration body: (_) @body) @class
(internal_module body: (_) @body) @class
(module body: (_) @body) @class
(enum_declaration) @type
(type_alias_declaration) @type

(function_signature) @function
(method_signature) @function
(abstract_method_signature) @function
(property_signature) @field
(public_field_definition value: (_)? @value) @field
