"""Forms of output that are not of one tool: prefixes of lines, words of severity, annotations, package managers."""
