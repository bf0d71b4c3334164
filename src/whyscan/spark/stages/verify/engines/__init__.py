"""Real engines: what each reads for the same predicate, and whether it returns the same rows."""
