"""Read the rows of a plan as a DataFrame, with Spark's Parquet reader or with whyscan's reader."""

__all__ = ["frames"]
