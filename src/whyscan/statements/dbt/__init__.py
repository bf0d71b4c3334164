"""A dbt project: its models, which of them a selection names, and the report on what they read."""

__all__ = ["explained", "project", "report"]
