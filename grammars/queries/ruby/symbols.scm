; The name of the capture on the whole node is the kind of the declaration. @name is its name. Its signature ends before
; @body or after @head. @owner is the type that it belongs to although it stands outside of it. @base is a type that the
; enclosing type extends. @outer is a node that starts before a declaration and ends with it: decorators, `export`,
; `template`.

(class name: (_) @name @head !superclass) @class
(class name: (_) @name superclass: (_) @head) @class
(class superclass: (superclass (_) @base))
(module name: (_) @name @head) @module
(method name: (_) @name @head !parameters) @method
(method name: (_) @name parameters: (_) @head) @method
(singleton_method name: (_) @name @head !parameters) @method
(singleton_method name: (_) @name parameters: (_) @head) @method
(assignment left: (constant) @name) @constant
(alias name: (_) @name) @method
((call !receiver method: (identifier) @_how arguments: (argument_list (simple_symbol) @name)) @property
  (#any-of? @_how "attr_reader" "attr_writer" "attr_accessor"))
