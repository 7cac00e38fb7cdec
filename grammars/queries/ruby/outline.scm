; The name of the capture on the whole node is the kind of the declaration. Its line in the outline ends before @body or
; @value, or after @head.

((call !receiver method: (identifier) @name) @import
  (#any-of? @name "require" "require_relative" "load" "autoload"))

(class name: (_) @head !superclass) @class
(class superclass: (_) @head) @class
(module name: (_) @head) @class
(method name: (_) @head !parameters) @function
(method parameters: (_) @head) @function
(singleton_method name: (_) @head !parameters) @function
(singleton_method parameters: (_) @head) @function

((call !receiver method: (identifier) @name) @field
  (#any-of? @name
    "attr_reader" "attr_writer" "attr_accessor" "include" "extend" "prepend" "belongs_to" "has_many" "has_one"))
(assignment left: (constant) right: (_) @value) @const
