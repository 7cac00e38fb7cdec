; One match for each imported name. @from is the module as it is written, @name the imported name, and @alias its local
; name. @tree is a nested import (`a::{b, c}`).

(namespace_use_declaration (namespace_use_clause . [(qualified_name) (name)] @from alias: (_)? @alias))
(namespace_use_declaration
  (namespace_name) @from body: (namespace_use_group (namespace_use_clause . (_) @name alias: (_)? @alias)))
[(require_expression (encapsed_string (string_content) @from)) (require_expression (string (string_content) @from))
 (require_once_expression (encapsed_string (string_content) @from))
 (require_once_expression (string (string_content) @from))
 (include_expression (string (string_content) @from)) (include_once_expression (string (string_content) @from))]
