; @from is what is imported from, as it is written; @name what of it, @alias what it is called here. @tree is a
; tree of such names (`a::{b, c}`). One match for every name.

(namespace_use_declaration (namespace_use_clause . [(qualified_name) (name)] @from alias: (_)? @alias))
(namespace_use_declaration
  (namespace_name) @from body: (namespace_use_group (namespace_use_clause . (_) @name alias: (_)? @alias)))
[(require_expression (encapsed_string (string_content) @from)) (require_expression (string (string_content) @from))
 (require_once_expression (encapsed_string (string_content) @from))
 (require_once_expression (string (string_content) @from))
 (include_expression (string (string_content) @from)) (include_once_expression (string (string_content) @from))]
