"""How an evaluation of one row ends without a value."""


class SqlError(Exception):
    """ANSI: the query fails on this row."""


class Unsupported(Exception):
    """The oracle does not know: nothing may be concluded, and generators avoid it."""
