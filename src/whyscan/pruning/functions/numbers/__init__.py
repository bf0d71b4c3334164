"""Functions of numbers: where f(x) lies when x lies between two numbers."""
