; The grammar takes stray reserved words for commands.
((command_name (word) @fault) (#any-of? @fault "then" "elif" "else" "fi" "do" "done" "esac" "}"))
