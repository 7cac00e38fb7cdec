; The name of the capture on the whole node is the kind of the declaration. Its line in the outline ends before @body or
; @value, or after @head.

(import_declaration) @import
(function_declaration body: (_) @body) @function
(method_declaration body: (_) @body) @function

(type_spec type: (struct_type (field_declaration_list) @body)) @class
(type_spec type: (interface_type "{" @body)) @class
(type_declaration (type_spec type: [
  (type_identifier) (qualified_type) (pointer_type) (array_type) (slice_type) (map_type) (channel_type) (function_type)
  (generic_type)])) @type
(type_declaration (type_alias)) @type
(field_declaration) @field
(method_elem) @field

(source_file (const_declaration (const_spec)) @const)
(source_file (var_declaration (var_spec value: (_) @value)) @const)
(source_file (var_declaration (var_spec !value)) @const)
(source_file (var_declaration (var_spec_list)) @const)
