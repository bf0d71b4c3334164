"""The typed predicate: its nodes, types, literals and time zones, and its form as SQL text."""
