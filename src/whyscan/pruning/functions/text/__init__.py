"""Functions of text: the interval of f(x) from the interval of x."""
