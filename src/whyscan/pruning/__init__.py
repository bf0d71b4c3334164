"""The law: a container may be skipped only if the predicate cannot be TRUE for any row in it."""
