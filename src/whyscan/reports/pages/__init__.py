"""Reports as HTML files without network access."""

__all__ = ["bars", "data", "page", "shell"]
