; The name of the capture on the whole node is the kind of the declaration. Its line in the outline ends before @body or
; @value, or after @head.

(import_statement) @import
(import_from_statement) @import
(future_import_statement) @import

(decorator) @decorator
(class_definition body: (_) @body) @class
(function_definition body: (_) @body) @function
(type_alias_statement) @type

(module (expression_statement (assignment left: (identifier) right: (_)? @value)) @const)
(class_definition
  body: (block (expression_statement (assignment left: (identifier) right: (_)? @value)) @field))
