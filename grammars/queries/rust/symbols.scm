; The name of the capture on the whole node is the kind of the declaration. @name is its name. Its signature ends before
; @body or after @head. @owner is the type that it belongs to although it stands outside of it. @base is a type that the
; enclosing type extends. @outer is a node that starts before a declaration and ends with it: decorators, `export`,
; `template`.

(function_item name: (_) @name body: (_) @body) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name body: (_) @body) @struct
(struct_item name: (_) @name !body) @struct
(union_item name: (_) @name body: (_) @body) @struct
(enum_item name: (_) @name body: (_) @body) @enum
(enum_variant name: (_) @name) @member
(field_declaration name: (_) @name) @field
(trait_item name: (_) @name body: (_) @body) @interface
(trait_item bounds: (trait_bounds (_) @base))
(impl_item type: (type_identifier) @name body: (_) @body) @implementation
(impl_item type: (generic_type type: (_) @name) body: (_) @body) @implementation
(impl_item type: (scoped_type_identifier name: (_) @name) body: (_) @body) @implementation
(impl_item trait: (_) @base)
(mod_item name: (_) @name body: (_) @body) @module
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @variable
(macro_definition name: (_) @name) @macro
