"""Reports as HTML files without network access."""
