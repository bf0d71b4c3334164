"""The audit of a workload: what each query reads, what it wastes, and what has become worse."""
