"""Binding: syntax trees to typed predicates, names to columns, literals to types."""
