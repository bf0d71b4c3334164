"""Functions of text: where f(x) lies when x lies between two strings."""
