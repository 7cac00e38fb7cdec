; The grammar parses stray reserved words as commands.
((command_name (word) @fault) (#any-of? @fault "then" "elif" "else" "fi" "do" "done" "esac" "}"))
