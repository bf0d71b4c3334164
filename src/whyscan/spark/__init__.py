"""The pipeline on Spark: a whole lake, a whole query log, and proof against the engines."""

from whyscan.spark.session import session

__all__ = ["session"]
