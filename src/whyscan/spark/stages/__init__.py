"""The stages of the pipeline: inventory, workload, audit, advise, verify. A folder is a stage."""

__all__ = ["advise", "audit", "inventory", "verify", "workload"]
