"""whyscan: the dry run for the lakehouse.

>>> import whyscan
>>> table = whyscan.open("./lake/events")
>>> report = table.explain("country = 'DE' AND age > 40")
>>> plan = table.plan("country = 'DE'", columns=["id", "age"])
>>> whyscan.explain_sql("SELECT * FROM e JOIN u USING (id)", {"e": table, "u": "./lake/users"})

Every error derives from `WhyscanError`. Heavy parts are imported when they are used.
"""

from __future__ import annotations

from whyscan.errors import WhyscanError
from whyscan.statement import explain_sql
from whyscan.table import Table, open  # noqa: A004 - `whyscan.open` is the public name

__all__ = ["Table", "WhyscanError", "explain_sql", "open"]
