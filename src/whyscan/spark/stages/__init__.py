"""The stages of the pipeline: inventory, workload, audit, verify. One folder is one stage."""

__all__ = ["audit", "inventory", "verify", "workload"]
