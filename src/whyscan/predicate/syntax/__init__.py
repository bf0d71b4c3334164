"""Syntax: SQL text to syntax trees, in every dialect, one tree for each top-level conjunct."""
