"""Functions of numbers: the interval of f(x) from the interval of x."""

__all__ = ["arithmetic", "corners", "decimals", "floats", "numeric"]
