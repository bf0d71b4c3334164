"""The law: a container may be skipped only if the predicate cannot be TRUE for any of its rows."""

__all__ = [
    "blocks",
    "concatenation",
    "containers",
    "domains",
    "evaluate",
    "exact",
    "functions",
    "interval",
    "mask",
    "same_representation",
    "transforms",
    "truth",
    "unscaled",
    "value_filters",
]
