; One match for each imported name. @from is the module as it is written, @name the imported name, and @alias its local
; name. @tree is a nested import (`a::{b, c}`).

((command name: (command_name) @_how argument: (_) @from)
  (#any-of? @_how "source" "."))
