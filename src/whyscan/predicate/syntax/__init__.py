"""Parsing turns SQL text of any dialect into syntax trees, one for each top-level conjunct."""

__all__ = ["column_guess", "dialects", "parse", "placeholders", "redact", "session", "tokens"]
