; The grammar takes a stray `end` for a variable.
((identifier) @fault (#eq? @fault "end"))
