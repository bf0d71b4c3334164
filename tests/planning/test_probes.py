"""The values on which a conjunct is tried out before anybody calls it exact."""

from decimal import Decimal

import pytest

from support.memory_table import DataFile, MemoryTable, RowGroup
from support.reports import explained
from whyscan.tree.types import DecimalType

GREATEST = "9" * 36 + ".99"


@pytest.mark.parametrize(
    ("predicate", "kept"),
    [("x > 10.25", 1), (f"x >= {GREATEST}", 1), (f"x < -{GREATEST}", 0), (f"x = {'1' * 36}.5", 1)],
)
def test_a_decimal_as_long_as_they_come_is_tried_out_exactly(predicate, kept):
    bounds = {"x": (Decimal("0.01"), Decimal(GREATEST))}
    table = MemoryTable({"x": DecimalType(38, 2)}, [DataFile("a", {}, [RowGroup(2, bounds)])])

    assert explained(table, predicate)["levels"][0]["kept"] == kept
