"""The audit of a workload: what each query reads, what it wastes, and what has become worse."""

__all__ = ["openlineage", "openmetrics", "page", "report", "result_tables", "run"]
