; The capture on the whole node is its kind. @name is what it is called; its signature ends before @body or after @head;
; @owner is the type it belongs to although it stands outside of it; @base is what the one around it extends. @outer is a
; node that begins earlier and ends where one of these does: decorators, `export`, `template`.

(function_definition name: (_) @name body: (_) @body) @function
(class_definition name: (_) @name body: (_) @body) @class
(class_definition superclasses: (argument_list [(identifier) (attribute) (subscript)] @base))
(type_alias_statement left: (type [(identifier) @name (generic_type (identifier) @name)])) @type
(module (expression_statement (assignment left: (identifier) @name) @variable))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @variable))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @field)))
(decorated_definition) @outer
