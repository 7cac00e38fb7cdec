; Patterns that TypeScript has in addition to those of JavaScript.

[
  (interface_declaration)
  (abstract_class_declaration)
  (enum_declaration)
  (internal_module)
  (module)
] @class

[
  (interface_body)
  (enum_body)
] @block

[
  (public_field_definition)
  (property_signature)
  (method_signature)
  (abstract_method_signature)
] @statement
