"""Numbers and names as text; every renderer uses the same words."""

from __future__ import annotations

from decimal import Decimal

from whyscan.errors import shortened
from whyscan.planning.why.reason_codes import Reason

UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
SMALLEST_SHOWN = 0.1

REASONS = {
    Reason.MATCHES_ALL: "every row matches",
    Reason.NAN_POSSIBLE: "only NaN could match, and nothing says that there is none",
    Reason.NULLS_UNKNOWN: "NULLs were not counted: a count of none would settle it",
    Reason.TRUNCATED_BOUND: "a bound was cut off: in full it could exclude the file",
    Reason.OLD_SPEC: "written before the table was partitioned by a column of the predicate",
    Reason.TRANSFORM_LOSSY: "its partition is a hash of the column: no help for a range",
    Reason.NO_STATISTICS: "a column of the predicate has no bounds there",
    Reason.TYPE_MISMATCH: "compared as another type, in which its bounds are no bounds",
    Reason.UNINTERPRETED: "a part of the predicate cannot be evaluated from metadata",
    Reason.DELETE_VECTOR_LOOSE: "its bounds are older than its deletes",
    Reason.STRADDLES: "the bounds reach across the condition: some rows may match",
}


VERDICTS = {"none": "skipped", "some": "read", "all": "read"}
"""What becomes of a file, by its verdict."""


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: `1 file`, `1,000 files`, `2 queries`."""
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{number:,} {noun}"


def level_name(level: str) -> str:
    """Return the name of a level as people write it: `row_groups` are `row groups`."""
    return level.replace("_", " ")


def unit(level: str) -> str:
    """Return the name of one container of a level: of `row_groups` it is `row group`."""
    return level_name(level).removesuffix("s")


def staying(files: int) -> str:
    """Write how many files stay: `1 file stays`, `1,000 files stay`."""
    return f"{counted(files, 'file')} {'stays' if files == 1 else 'stay'}"


def size(count: int | None) -> str:
    """Format bytes with powers of 1000: `999 B`, `1.1 kB`, `13 kB`."""
    if count is None:
        return "unknown"
    amount = float(count)
    for unit in UNITS:
        digits = 1 if unit != "B" and amount < 9.95 else 0  # noqa: PLR2004 - two figures are shown
        if round(amount, digits) < 1000 or unit == UNITS[-1]:  # noqa: PLR2004 - the next unit
            return f"{amount:,.{digits}f} {unit}"
        amount /= 1000
    raise AssertionError


def money(amount: float | None) -> str:
    """Format an amount of the user's currency: `1,204.50`, `0.0061`, `0`."""
    if amount is None:
        return "unknown"
    if amount >= 1 or not amount:
        return f"{amount:,.2f}" if amount else "0"
    return f"{Decimal(f'{amount:.2g}'):f}"


def sizes(kept: int | None, total: int | None) -> str:
    """Format `1.1 kB of 13 kB`; the total is left out if it is unknown."""
    if total is None:
        return "" if kept is None else size(kept)
    return f"{size(kept)} of {size(total)}"


def percent(part: int, whole: int) -> str:
    """Format `8.3 %`; never `0 %` for more than nothing, never `100 %` for less than all."""
    share = 100.0 * part / whole if whole else 100.0
    if 0 < share < SMALLEST_SHOWN:
        return f"<{SMALLEST_SHOWN} %"
    if 100 - SMALLEST_SHOWN < share < 100:  # noqa: PLR2004 - percent
        return f">{100 - SMALLEST_SHOWN} %"
    return f"{share:.0f} %" if share in {0, 100} else f"{share:.1f} %"


def short_repr(report: object) -> str:
    """Return `<Report: reads 1 of 6 files …>`: the class, and the first paragraph of the text."""
    first, _, _ = str(report).partition("\n\n")
    return f"<{type(report).__name__}: {shortened(' '.join(first.split()))}>"


def inert(text: str) -> str:
    r"""Escape all characters that a terminal would interpret: `\x1b`, `\u202e`, `\n`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def inert_sql(text: str) -> str:
    """Do the same for SQL on one line, with white space collapsed."""
    return inert(" ".join(text.split()))
