"""The evidence for the verdict on one file, as one line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.planning.why.reason_codes import Reason
from whyscan.reports.words import counted
from whyscan.tree.nodes import Cast, Opaque, columns_of, walk
from whyscan.tree.types import StringType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.planning.plan.evidence import Limit
    from whyscan.planning.plan.scan_plan import ScanPlan
    from whyscan.reports.values import JsonValue
    from whyscan.tables.snapshot import Snapshot
    from whyscan.tree.nodes import Column, Conjunct

NO_RULE = "no rule says how its values follow from these bounds"


class Cause(Struct, frozen=True):
    """One conjunct, or the whole predicate, as it appears in a line of evidence.

    `unread` says why the conjunct cannot be interpreted, `cast` is the type that a column is cast
    to, `cut` is the number of characters after which text bounds are truncated. Each is None if it
    does not apply.
    """

    sql: str
    columns: tuple[str, ...]
    unread: str | None = None
    cast: str | None = None
    cut: int | None = None


class FileStatistics(Struct, frozen=True):
    """The statistics of one file: bounds and partition values by column, and its spec's number."""

    bounds: Mapping[str, tuple[JsonValue, JsonValue]]
    partition: Mapping[str, JsonValue]
    spec: int | None = None

    def text(self, columns: Sequence[str]) -> str:
        """Write the statistics of some columns: `age [40, 60], country DE`."""
        return ", ".join(
            f"{c} {_shown(self.partition[c])}"
            if c in self.partition
            else f"{c} {_range(*self.bounds[c])}"
            for c in columns
            if c in self.partition or c in self.bounds
        )

    def missing_columns(self, columns: Sequence[str]) -> str:
        return ", ".join(c for c in columns if c not in self.bounds and c not in self.partition)


def causes(plan: ScanPlan) -> tuple[Cause, ...]:
    """Return one cause per conjunct in order, and as the last one the predicate as a whole."""
    each = [_cause(conjunct, plan.snapshot) for conjunct in plan.predicate.conjuncts]
    columns = tuple(".".join(column.path) for column in plan.predicate.columns())
    return (*each, Cause("the conjuncts together", columns))


def unread(conjunct: Conjunct) -> list[tuple[str, str]]:
    """Return the parts of a conjunct that cannot be interpreted, each with the reason."""
    opaque = [node for node in walk(conjunct.expression) if isinstance(node, Opaque)]
    named = list(dict.fromkeys((node.sql, node.reason) for node in opaque))
    return named or [(conjunct.sql, NO_RULE)]


def _cause(conjunct: Conjunct, snapshot: Snapshot) -> Cause:
    columns = columns_of(conjunct.expression)
    sql, why = unread(conjunct)[0]
    casts = [n for n in walk(conjunct.expression) if isinstance(n, Cast)]
    cut = [snapshot.recording(c).prefix for c in columns if isinstance(c.type, StringType)]
    return Cause(
        conjunct.sql,
        tuple(map(_name, columns)),
        why if sql == conjunct.sql else f"{sql}: {why}",
        str(casts[0].type) if casts else None,
        next((length for length in cut if length is not None), None),
    )


def _name(column: Column) -> str:
    return ".".join(column.path)


def of_survivor(reason: Reason, cause: Cause, statistics: FileStatistics) -> str:
    """Write why a file is kept."""
    shown = statistics.text(cause.columns)
    against = f"{shown} against {cause.sql}" if shown else f"against {cause.sql}"
    match reason:
        case Reason.MATCHES_ALL:
            return f"{shown}: every row matches" if shown else "every row matches"
        case Reason.NAN_POSSIBLE:
            return f"{shown} and maybe NaN, against {cause.sql}"
        case Reason.NULLS_UNKNOWN:
            names = shown or statistics.missing_columns(cause.columns)
            return f"{names}, NULLs not counted, against {cause.sql}"
        case Reason.TRUNCATED_BOUND:
            return f"{shown} cut off after {cause.cut} characters, against {cause.sql}"
        case Reason.OLD_SPEC:
            return f"written under spec {statistics.spec}; {against}"
        case Reason.NO_STATISTICS:
            return f"no bounds of {statistics.missing_columns(cause.columns)} for {cause.sql}"
        case Reason.TYPE_MISMATCH:
            return f"{shown}, compared as {cause.cast}, against {cause.sql}"
        case Reason.UNINTERPRETED:
            return f"{cause.sql}: {cause.unread}"
        case Reason.DELETE_VECTOR_LOOSE:
            return f"{shown} from before rows were deleted, against {cause.sql}"
        case Reason.STRADDLES | Reason.TRANSFORM_LOSSY:
            return against


def of_removed(cause: Cause, statistics: FileStatistics) -> str:
    """Write what excluded a file."""
    shown = statistics.text(cause.columns)
    return f"{shown} excluded by {cause.sql}" if shown else f"excluded by {cause.sql}"


def of_unneeded(limit: Limit) -> str:
    """Write why a LIMIT does not need a file."""
    if not limit.rows:
        return "no row of it is needed"
    rows = counted(limit.rows, "matching row")
    ahead = " before the first of its own" if limit.ordered else ""
    return f"others are sure to have {rows}{ahead}"


def _range(lower: JsonValue, upper: JsonValue) -> str:
    return f"[{_end(lower)}, {_end(upper)}]"


def _end(end: JsonValue) -> str:
    return "?" if end is None else str(end)


def _shown(value: JsonValue) -> str:
    return "NULL" if value is None else str(value)
