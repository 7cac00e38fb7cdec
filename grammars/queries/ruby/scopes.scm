; @function @class  what a cursor can be inside of     @block     what may hold statements
; @wrapper          belongs to the definition in it
; @statement        the smallest piece an edit may replace

[
  (method)
  (singleton_method)
] @function

[
  (class)
  (module)
  (singleton_class)
] @class

[
  (body_statement)
  (then)
  (do)
  (do_block)
  (block)
  (begin)
] @block

(program (_) @statement)
(body_statement (_) @statement)
(block_body (_) @statement)
(then (_) @statement)
(do (_) @statement)
(begin (_) @statement)
(else (_) @statement)
[
  (elsif)
  (else)
  (when)
  (in_clause)
  (rescue)
  (ensure)
] @statement
