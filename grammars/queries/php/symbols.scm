; The name of the capture on the whole node is the kind of the declaration. @name is its name. Its signature ends before
; @body or after @head. @owner is the type that it belongs to although it stands outside of it. @base is a type that the
; enclosing type extends. @outer is a node that starts before a declaration and ends with it: decorators, `export`,
; `template`.

(namespace_definition name: (_) @name) @namespace
(class_declaration name: (_) @name body: (_) @body) @class
(base_clause (_) @base)
(class_interface_clause (_) @base)
(interface_declaration name: (_) @name body: (_) @body) @interface
(trait_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_case name: (_) @name) @member
(function_definition name: (_) @name body: (_) @body) @function
(method_declaration name: (_) @name body: (_) @body) @method
(method_declaration name: (_) @name !body) @method
(property_declaration (property_element name: (_) @name)) @field
(property_promotion_parameter name: (_) @name) @field
(const_declaration (const_element (name) @name)) @constant
