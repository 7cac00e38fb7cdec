"""Shell scripts as simple commands: words, quoting and redirections, as far as a parser can see them."""
