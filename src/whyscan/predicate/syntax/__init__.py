"""Parsing turns SQL text of any dialect into syntax trees, one for each top-level conjunct."""
