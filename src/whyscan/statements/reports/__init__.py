"""The report on a statement in every format."""
