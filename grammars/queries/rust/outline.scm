; The name of the capture on the whole node is the kind of the declaration. Its line in the outline ends before @body or
; @value, or after @head.

(use_declaration) @import
(extern_crate_declaration) @import

(function_item body: (_) @body) @function
(function_signature_item) @function
(macro_definition name: (_) @head) @type

(impl_item body: (_) @body) @class
(trait_item body: (_) @body) @class
(mod_item body: (_) @body) @class
(struct_item body: (field_declaration_list) @body) @class
(struct_item body: (ordered_field_declaration_list)) @type
(struct_item !body) @type
(union_item body: (_) @body) @class
(enum_item body: (_) @body) @class
(type_item) @type
(associated_type) @type

(field_declaration) @field
(enum_variant) @field
(const_item value: (_)? @value) @const
(static_item value: (_)? @value) @const
