; @from is what is imported from, as it is written; @name what of it, @alias what it is called here. @tree is a
; tree of such names (`a::{b, c}`). One match for every name.

((call !receiver method: (identifier) @_how arguments: (argument_list . (string (string_content) @from)))
  (#any-of? @_how "require" "require_relative" "load"))
((call !receiver method: (identifier) @_how arguments: (argument_list . (simple_symbol) @name . (string (string_content) @from)))
  (#eq? @_how "autoload"))
