"""Domains: the sets of values for which all conjuncts on one column are TRUE.

In a container with values from 0 to 9, `x > 5` and `x < 3` may each be TRUE, but never both for the
same row. So each conjunct of an AND gives a set of values per column, and the container must
overlap the intersection of these sets. The names are those of Trino's `spi.predicate`.
"""

from whyscan.pruning.domains.domain import Domain
from whyscan.pruning.domains.ranges import ValueRange
from whyscan.pruning.domains.satisfying import may_satisfy_together, where_true

__all__ = ["Domain", "ValueRange", "may_satisfy_together", "ranges", "where_true"]
