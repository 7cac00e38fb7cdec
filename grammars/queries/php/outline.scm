; The name of the capture on the whole node is the kind of the declaration. Its line in the outline ends before @body or
; @value, or after @head.

(namespace_definition !body) @import
(namespace_use_declaration) @import
(expression_statement [
  (require_expression) (require_once_expression) (include_expression) (include_once_expression)]) @import

(class_declaration body: (_) @body) @class
(interface_declaration body: (_) @body) @class
(trait_declaration body: (_) @body) @class
(enum_declaration body: (_) @body) @class

(function_definition body: (_) @body) @function
(method_declaration body: (_) @body) @function
(method_declaration !body) @function

(property_declaration (property_element default_value: (_)? @value)) @field
(use_declaration) @field
(enum_case) @field
(const_declaration (const_element (_) (_) @value)) @const
