"""Functions of dates and timestamps: the interval of f(x) from the interval of x."""

__all__ = ["arithmetic", "casts", "fields", "gregorian", "kernels"]
