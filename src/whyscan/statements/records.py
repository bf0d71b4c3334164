"""The report on a statement: one ordinary report a scan, and what holds between them."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from whyscan.planning.plan.planner import plus
from whyscan.reports.gates import GatedAmount

if TYPE_CHECKING:
    from collections.abc import Iterable

    from whyscan.planning.plan.scan_plan import PlannedSnapshot
    from whyscan.reports.findings import Finding
    from whyscan.reports.gates import Assertion
    from whyscan.reports.report import Report
    from whyscan.statements.reports.gates import StatementGates

SCHEMA_VERSION = "1.0"


class Origin(StrEnum):
    """How a condition came to a scan."""

    WRITTEN = "written"
    """As it stands in the statement."""
    SPREAD = "spread"
    """By an equality with another column, or through a derived table's output."""
    PART = "part"
    """The part of a wider condition that speaks of this table alone."""
    JOIN = "join"
    """By values that another scan supplies at run time."""


class Placed(Struct, frozen=True):
    """A condition of a scan: `sql` as the scan's conjunct has it, and where it came from.

    `written` is the condition of the statement that it follows from, and `via` the equality
    that carried it, None where none did.
    """

    sql: str
    origin: Origin
    written: str
    via: str | None = None


class Stayed(Struct, frozen=True):
    """A condition that names columns of a scan and is not applied there, and why."""

    sql: str
    why: str


class Amount(Struct, frozen=True):
    """What is read. None is not known."""

    files: int
    bytes: int | None
    rows: int | None

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.files + other.files, plus(self.bytes, other.bytes), plus(self.rows, other.rows)
        )


NOTHING = Amount(0, 0, 0)


class Supply(Struct, frozen=True):
    """Values that a join or a subquery supplies to a scan.

    `sql` is the join's condition, `source` the position of the scan that supplies; `column` is
    the scan's own expression that is filtered. `low` and `high` are what the source's plan
    guarantees, as text; `keys` how many distinct values were read, None where nobody did.
    """

    sql: str
    column: str
    source: int | None
    low: str | None = None
    high: str | None = None
    keys: int | None = None


class Dynamic(Struct, frozen=True):
    """Three answers to what is read.

    `static`: without the values that joins supply; `bounded`: with what metadata guarantees of
    them; `actual`: with the values themselves. None is not worked out.
    """

    supplies: tuple[Supply, ...]
    static: Amount
    bounded: Amount | None
    actual: Amount | None


class Role(StrEnum):
    """What a statement does with the table."""

    READ = "read"
    TARGET = "target"


class Rewrite(Struct, frozen=True):
    """What a change does to its target.

    `removed` files go whole, and need not be read; `rewritten` are those that may be copied.
    """

    operation: str
    removed: Amount
    rewritten: Amount


class ScanReport(Struct, frozen=True):
    """One occurrence of a table in a statement.

    `name` is the table's as it was given, `alias` what the statement calls it. `placed` stands
    beside `report.conjuncts`, one each. `limit` says what LIMIT or ORDER BY … LIMIT did here,
    `answer` what metadata answers without a scan; None where there is nothing to say.
    """

    name: str
    alias: str
    columns: tuple[str, ...]
    plan: PlannedSnapshot
    report: Report
    placed: tuple[Placed, ...] = ()
    above: tuple[Stayed, ...] = ()
    dynamic: Dynamic | None = None
    role: Role = Role.READ
    rewrite: Rewrite | None = None
    limit: str | None = None
    answer: str | None = None

    @property
    def title(self) -> str:
        """`sales s`: the table, and what the statement calls it."""
        # Without one of its own, a table goes by the last part of its name.
        plain_aliases = {"", self.name.lower(), self.name.rpartition(".")[2].lower()}
        return self.name if self.alias.lower() in plain_aliases else f"{self.name} {self.alias}"

    @property
    def reading(self) -> GatedAmount:
        """What is read of the table: nothing where metadata answers, no file that goes whole."""
        files = self.report.files_level
        if self.answer is not None:
            return GatedAmount(files.total, 0, files.bytes_total, 0)
        gone = NOTHING if self.rewrite is None else self.rewrite.removed
        unknown = files.bytes_kept is None or gone.bytes is None
        left = None if unknown else (files.bytes_kept or 0) - (gone.bytes or 0)
        return GatedAmount(files.total, files.kept - gone.files, files.bytes_total, left)


class Edge(Struct, frozen=True):
    """A join between two scans, by their positions; `kind` as SQL calls it, in lower case."""

    kind: str
    left: int
    right: int
    sql: str


class StatementReport(Struct, frozen=True):
    """What a statement reads of each of its tables, and why."""

    sql: str
    dialect: str
    timezone: str
    operation: str
    scans: tuple[ScanReport, ...]
    joins: tuple[Edge, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        assertions = (*self.assertions, *(a for scan in self.scans for a in scan.report.assertions))
        return all(assertion.holds for assertion in assertions)

    @property
    def reading(self) -> GatedAmount:
        """What all scans read together: a table that is scanned twice is read twice."""
        parts = [scan.reading for scan in self.scans]
        return GatedAmount(
            sum(part.total for part in parts),
            sum(part.kept for part in parts),
            _sum(part.bytes_total for part in parts),
            _sum(part.bytes_kept for part in parts),
        )

    @property
    def titles(self) -> tuple[str, ...]:
        """The scans' titles, numbered where two are the same: `sales s`, `sales s (2)`."""
        counts = Counter[str]()
        titles = []
        for title in (scan.title for scan in self.scans):
            counts[title] += 1
            titles.append(title if counts[title] == 1 else f"{title} ({counts[title]})")
        return tuple(titles)

    def gated(self, gates: StatementGates) -> StatementReport:
        """The same report with the outcome of each gate."""
        from whyscan.statements.reports.gates import gated

        return gated(self, gates)

    def redacted(self) -> StatementReport:
        """The same report without literals and values, for sharing."""
        from whyscan.statements.reports.redaction import redacted

        return redacted(self)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        from whyscan.statements.reports.document import document

        return document(self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from whyscan.statements.reports.page import fragment

        return fragment(self)

    def __repr__(self) -> str:
        from whyscan.statements.reports.text import text

        return text(self)


def _sum(numbers: Iterable[int | None]) -> int | None:
    """None where one of them is not known."""
    amounts = list(numbers)
    return None if None in amounts else sum(number for number in amounts if number is not None)
