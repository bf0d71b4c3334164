"""The row-level oracle: what a predicate is for one row, in Spark's semantics, without `src`.

It shares with the code under test the tree that it walks and nothing else: plain Python values,
one row at a time. Spark itself is its judge (tests/pruning/test_oracle.py).
"""
