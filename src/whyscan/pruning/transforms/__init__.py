"""Partition transforms, read backwards: from a partition value to where its source lies."""

from whyscan.pruning.transforms.buckets import in_bucket

__all__ = ["in_bucket"]
