"""Reports: one report with every number, and one renderer per format."""
