"""Avro containers: their headers and blocks, inflated within the memory limit."""
