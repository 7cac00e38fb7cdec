"""Languages for data, markup, style sheets and prose."""
