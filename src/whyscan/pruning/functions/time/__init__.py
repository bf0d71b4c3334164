"""Functions of dates and timestamps: the interval of f(x) from the interval of x."""
