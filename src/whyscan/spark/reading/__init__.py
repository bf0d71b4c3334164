"""The rows of a plan as a DataFrame, by Spark's own reader or by ours."""
