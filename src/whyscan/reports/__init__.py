"""In front of the user: one report with every number, and one renderer a format."""
