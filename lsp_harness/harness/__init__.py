"""The façade of the product in terms of an editor, and the parts that it is made of."""
