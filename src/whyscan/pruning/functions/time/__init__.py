"""Functions of dates and timestamps: where f(x) lies when x lies between two of them."""
