; The capture on the whole node is its kind. @name is what it is called; its signature ends before @body or after @head;
; @owner is the type it belongs to although it stands outside of it; @base is what the one around it extends. @outer is a
; node that begins earlier and ends where one of these does: decorators, `export`, `template`.

(function_declaration name: (_) @name body: (_) @body) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (_) @name body: (_) @body) @method
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @struct
(type_spec name: (_) @name type: (interface_type "{" @body)) @interface
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @type
(type_spec type: (struct_type (field_declaration_list (field_declaration !name type: (_) @base))))
(type_spec type: (interface_type (type_elem (_) @base)))
(method_elem name: (_) @name) @method
(field_declaration name: (_) @name) @field
(source_file (const_declaration (const_spec name: (_) @name) @constant))
(source_file (var_declaration (var_spec name: (_) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec name: (_) @name) @variable)))
(type_declaration . (_) .) @outer
(const_declaration . (_) .) @outer
(var_declaration . (_) .) @outer
