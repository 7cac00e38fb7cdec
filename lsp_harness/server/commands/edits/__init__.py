"""The commands about comments that ask, actions of a project, and many fixes at once, one module each."""
