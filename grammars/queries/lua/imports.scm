; One match for each imported name. @from is the module as it is written, @name the imported name, and @alias its local
; name. @tree is a nested import (`a::{b, c}`).

((function_call name: (identifier) @_how arguments: (arguments (string content: (_) @from)))
  (#eq? @_how "require"))
