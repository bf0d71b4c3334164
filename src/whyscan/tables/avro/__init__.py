"""Avro containers: their headers and blocks, inflated within the memory limit."""

__all__ = ["containers"]
