"""whyscan: the dry run for the lakehouse.

>>> import whyscan
>>> table = whyscan.open("./lake/events")
>>> report = table.explain("country = 'DE' AND age > 40")
>>> plan = table.plan("country = 'DE'", columns=["id", "age"])

Every error derives from `WhyscanError`. Heavy parts are imported when they are used.
"""

from __future__ import annotations

from whyscan.errors import WhyscanError
from whyscan.table import Table, open  # noqa: A004 - `whyscan.open` is the public name

__all__ = ["Table", "WhyscanError", "open"]
