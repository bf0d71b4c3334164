"""The report on a statement in every output format."""
