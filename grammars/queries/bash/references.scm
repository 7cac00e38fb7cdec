; The names that a text uses. @call is what is called, @base what a type extends, @type what is named as a type, @use any other
; name; @receiver is what is before it. @bound are parameters and variables of functions, @key what only looks like a use.

(command name: (command_name (word) @call))
(command argument: (word) @use)
(variable_name) @use
