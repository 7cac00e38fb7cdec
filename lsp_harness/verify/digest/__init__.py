"""What tools print, made short: the problems in the output of tests, linters and compilers, one line each."""
