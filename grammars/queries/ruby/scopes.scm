; @function, @class  scopes that may contain the cursor
; @block             nodes that contain statements
; @wrapper           nodes that belong to the definition inside of them
; @statement         the smallest nodes that an edit may replace

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
