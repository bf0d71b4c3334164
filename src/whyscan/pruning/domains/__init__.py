"""Conjuncts on one column must be TRUE of one and the same value.

`x > 5` and `x < 3` may each be TRUE in a container that reaches from 0 to 9, and never both. So the
conjuncts of an AND are read as sets of values, column by column, and their intersection is what
the container must overlap. The words are those of Trino's `spi.predicate`.
"""

from whyscan.pruning.domains.domain import Domain
from whyscan.pruning.domains.ranges import ValueRange
from whyscan.pruning.domains.satisfying import where_true
from whyscan.pruning.domains.together import may_satisfy_together

__all__ = ["Domain", "ValueRange", "may_satisfy_together", "where_true"]
