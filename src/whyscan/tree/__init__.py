"""The typed predicate: its nodes, types, literals and zones, and how it is written as SQL."""
