; The capture on the whole node is its kind. @name is what it is called; its signature ends before @body or after @head;
; @owner is the type it belongs to although it stands outside of it; @base is what the one around it extends. @outer is a
; node that begins earlier and ends where one of these does: decorators, `export`, `template`.

(namespace_declaration name: (_) @name body: (_) @body) @namespace
(file_scoped_namespace_declaration name: (_) @name) @namespace
(class_declaration name: (_) @name body: (_) @body) @class
(struct_declaration name: (_) @name body: (_) @body) @struct
(record_declaration name: (_) @name) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_member_declaration name: (_) @name) @member
(delegate_declaration name: (_) @name) @type
(base_list (_) @base)
(method_declaration name: (_) @name body: (_) @body) @method
(method_declaration name: (_) @name !body) @method
(constructor_declaration name: (_) @name body: (_) @body) @constructor
(operator_declaration operator: _ @name) @method
(local_function_statement name: (_) @name body: (_) @body) @function
(property_declaration name: (_) @name) @property
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @field
