; The grammar parses a stray `end` as a variable.
((identifier) @fault (#eq? @fault "end"))
