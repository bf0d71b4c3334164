"""The report on a statement in every output format."""

__all__ = ["phrases", "view"]
