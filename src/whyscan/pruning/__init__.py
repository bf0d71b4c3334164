"""The law: a container may be skipped only if the predicate cannot be TRUE for any of its rows."""
