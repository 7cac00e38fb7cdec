; One match for each imported name. @from is the module as it is written, @name the imported name, and @alias its local
; name. @tree is a nested import (`a::{b, c}`).

((call !receiver method: (identifier) @_how arguments: (argument_list . (string (string_content) @from)))
  (#any-of? @_how "require" "require_relative" "load"))
((call !receiver method: (identifier) @_how arguments: (argument_list . (simple_symbol) @name . (string (string_content) @from)))
  (#eq? @_how "autoload"))
