"""The report on a statement: one report per scan, the joins between scans, and findings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from whyscan.fields import Count, Name, Outcome, Record, Sentence, Sql, Value, Word, one_of
from whyscan.planning.plan.planner import plus, plus_all
from whyscan.planning.plan.scan_plan import PlannedSnapshot
from whyscan.profiles.rule import RuleEvidence
from whyscan.reports.findings import Finding
from whyscan.reports.first_change import FirstChange, first_change
from whyscan.reports.gates import (
    Assertion,
    CheckedSubject,
    GatedAmount,
    assertions_on,
    most_read,
    scan_assertions,
)
from whyscan.reports.prices import Cost, Prices
from whyscan.reports.rendering import CheckedReport
from whyscan.reports.report import Report
from whyscan.statements.roles import Origin, Role
from whyscan.statements.stay_reasons import REASON_WORDS, StayReason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.reports.gates import StatementGates
    from whyscan.reports.view import Blocks


class Placed(Record, frozen=True):
    """A condition of a scan: its SQL in the scan's words, and the condition that it comes from.

    `written` is that condition of the statement. `via` is the equality that carried it over, None
    where no equality was needed.
    """

    sql: Sql
    origin: Origin
    written: Sql
    via: Sql | None = None


class Stayed(Record, frozen=True):
    """A condition that names columns of a scan but does not filter it, and the reason.

    `detail` says it in words where the code does not say enough.
    """

    OMITTED: ClassVar = ("detail",)
    COMPUTED: ClassVar = {"why": "why"}

    sql: Sql
    reason: StayReason
    detail: Sentence | None = None

    @property
    def why(self) -> Sentence:
        """The reason in words."""
        return REASON_WORDS[self.reason] if self.detail is None else self.detail


class Amount(Record, frozen=True):
    """A number of files, bytes and rows. None means unknown."""

    files: Count
    bytes: Count | None
    rows: Count | None

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.files + other.files, plus(self.bytes, other.bytes), plus(self.rows, other.rows)
        )


NOTHING = Amount(0, 0, 0)


class Supply(Record, frozen=True):
    """The values that a join or a subquery supplies to a scan.

    `sql` is the condition of the join, and `source` the position of the scan that supplies values.
    `column` is the expression that they filter. `low` and `high` are the bounds that the source's
    plan guarantees, as text. `keys` counts the distinct values that were read, None if none were.
    """

    sql: Sql
    column: Sql
    source: Count | None
    low: Value | None = None
    high: Value | None = None
    keys: Count | None = None


class DynamicOfEngine(Record, frozen=True):
    """Which of the amounts an engine reaches by the values of joins that it passes on to scans."""

    engine: Name
    version: Word
    reaches: Annotated[Word, one_of("static", "bounded", "actual")]
    why: Sentence
    source: Name
    evidence: Annotated[
        Word,
        one_of(*RuleEvidence),
        Meta(description="Whether the rule was run, or is known by documentation."),
    ]


class Dynamic(Record, frozen=True):
    """Three amounts that a scan reads, depending on what is known about joined values.

    `static` is without the values that joins supply. `bounded` is with the bounds that metadata
    guarantees for them. `actual` is with the values themselves. None means not computed. `engines`
    are the named engines.
    """

    supplies: tuple[Supply, ...]
    static: Amount
    bounded: Amount | None
    actual: Amount | None
    engines: Annotated[
        tuple[DynamicOfEngine, ...],
        Meta(description="Which of the amounts each named engine reaches, and why."),
    ] = ()


class Rewrite(Record, frozen=True):
    """What a change does to the files of its target.

    `removed` files are dropped without being read. `rewritten` files may be copied.
    """

    operation: Word
    removed: Amount
    rewritten: Amount


class ScanReport(Record, frozen=True):
    """One use of a table in a statement.

    `name` is the name under which the table was passed in, `alias` its name in the statement.
    `plan` lists the files; it is None in an audit, because plans stay on executors. `placed` has
    one entry per entry of `report.conjuncts`. `limit` says what LIMIT or ORDER BY … LIMIT changes
    for this scan, and `answer` is what metadata answers without a scan; both are None where there
    is nothing to say.
    """

    OMITTED: ClassVar = ("plan",)
    FLAT: ClassVar = ("report",)

    name: Name
    alias: Name
    columns: tuple[Name, ...]
    plan: PlannedSnapshot | None
    report: Report
    placed: tuple[Placed, ...] = ()
    above: tuple[Stayed, ...] = ()
    dynamic: Dynamic | None = None
    role: Role = Role.READ
    rewrite: Rewrite | None = None
    limit: Sentence | None = None
    answer: Value | None = None

    @property
    def title(self) -> str:
        """`sales s`: the table and its alias; the alias only if it differs from the name."""
        # A table without an alias is called by the last part of its name.
        plain_aliases = {"", self.name.lower(), self.name.rpartition(".")[2].lower()}
        return self.name if self.alias.lower() in plain_aliases else f"{self.name} {self.alias}"

    @property
    def reading(self) -> GatedAmount:
        """The files and bytes that are read.

        A scan that metadata answers reads nothing; a file that is removed as a whole is not read.
        """
        return self._of_statement(self.report.reading)

    @property
    def gated_reading(self) -> GatedAmount:
        """What gates are for: the most that a named engine reads, else what metadata proves."""
        return self._of_statement(self.report.gated_reading)

    def reading_by(self, engine: str) -> GatedAmount:
        """The same for a named engine; of an engine without a profile what metadata proves."""
        return self._of_statement(self.report.reading_by(engine))

    def _of_statement(self, read: GatedAmount) -> GatedAmount:
        if self.answer is not None:
            return replace(read, kept=0, bytes_kept=0)
        removed = NOTHING if self.rewrite is None else self.rewrite.removed
        unknown = read.bytes_kept is None or removed.bytes is None
        bytes_read = None if unknown else (read.bytes_kept or 0) - (removed.bytes or 0)
        return replace(read, kept=read.kept - removed.files, bytes_kept=bytes_read)


class Edge(Record, frozen=True):
    """A join between two scans, by their positions; `kind` is SQL's word in lower case."""

    kind: Word
    left: Count
    right: Count
    sql: Sql


class StatementEffort(Record, frozen=True):
    """How long the run took. The metadata that it read is counted for each scan."""

    seconds: Annotated[float, Meta(ge=0)]


class StatementReport(CheckedReport, frozen=True):
    """What a statement reads from each of its tables, and why."""

    OMITTED: ClassVar = ("seconds",)
    OPTIONAL: ClassVar = ("cost",)
    COMPUTED: ClassVar = {"try_first": "try_first", "metadata": "metadata", "result": "result"}
    QUOTED: ClassVar = ("sql", "dialect")

    sql: Sql
    dialect: Name
    timezone: Name
    operation: Annotated[
        Word, Meta(description="What the statement does: select, merge, update, delete, insert.")
    ]
    scans: tuple[ScanReport, ...]
    joins: tuple[Edge, ...] = ()
    findings: Annotated[
        tuple[Finding, ...], Meta(description="The findings about several tables.")
    ] = ()
    notes: tuple[Sentence, ...] = ()
    assertions: Annotated[
        tuple[Assertion, ...], Meta(description="The gates on the sum of all scans.")
    ] = ()
    seconds: float = 0.0
    cost: Annotated[
        Cost | None, Meta(description="With --price: what all scans cost together.")
    ] = None

    @property
    def passed(self) -> bool:
        assertions = (*self.assertions, *(a for scan in self.scans for a in scan.report.assertions))
        return all(assertion.holds for assertion in assertions)

    @property
    def result(self) -> Outcome:
        """`fail` if a gate of the statement or of a scan fails that no exemption excuses."""
        return "pass" if self.passed else "fail"

    @property
    def metadata(self) -> StatementEffort:
        """How long the run took."""
        return StatementEffort(round(self.seconds, 6))

    @property
    def reading(self) -> GatedAmount:
        """The sum over all scans: a table that is scanned twice counts twice."""
        return self._sum([scan.reading for scan in self.scans])

    @property
    def gated_reading(self) -> GatedAmount:
        """What gates are for: the most that a named engine reads of all scans together."""
        engines = dict.fromkeys(
            engine.title for scan in self.scans for engine in scan.report.engines if engine.named
        )
        sums = [
            replace(self._sum([scan.reading_by(engine) for scan in self.scans]), engine=engine)
            for engine in engines
        ]
        return most_read(sums) if sums else self.reading

    def _sum(self, parts: Sequence[GatedAmount]) -> GatedAmount:
        return GatedAmount(
            sum(part.total for part in parts),
            sum(part.kept for part in parts),
            plus_all(part.bytes_total for part in parts),
            plus_all(part.bytes_kept for part in parts),
            None if self.cost is None else self.cost.total,
        )

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the scans, numbered where two are equal: `sales s`, `sales s (2)`."""
        counts = Counter[str]()
        titles = []
        for title in (scan.title for scan in self.scans):
            counts[title] += 1
            titles.append(title if counts[title] == 1 else f"{title} ({counts[title]})")
        return tuple(titles)

    def priced(self, price: str | None = None, request_price: str | None = None) -> StatementReport:
        """Return this report with what each scan and all of them cost.

        Prices are like `5/TB` for bytes, and `0.0004/1000` for requests.
        """
        prices = Prices.of(price, request_price)
        if prices is None:
            return replace(self, cost=None)
        scans = tuple(
            replace(scan, report=replace(scan.report, cost=prices.cost(scan.gated_reading)))
            for scan in self.scans
        )
        return replace(self, scans=scans, cost=prices.cost(self.gated_reading))

    def gated(self, gates: StatementGates) -> StatementReport:
        """The same report with the outcome of each gate, for the statement and for each scan."""
        scans = tuple(
            replace(scan, report=scan.report.with_assertions(outcomes))
            for scan, outcomes in zip(self.scans, scan_assertions(self.scans, gates), strict=True)
        )
        outcomes = tuple(assertions_on(self.gated_reading, gates.whole))
        return replace(self, scans=scans, assertions=outcomes)

    @property
    def try_first(self) -> FirstChange | None:
        """The change to try first, of all scans and of the statement; null for none."""
        changes = [first_change(self.findings)]
        for position, scan in enumerate(self.scans):
            conjuncts = [line.sql for line in scan.report.conjuncts]
            changes.append(first_change(scan.report.findings, conjuncts, position))
        some = [change for change in changes if change is not None]
        return max(some, key=lambda change: change.rank, default=None)

    @property
    def elapsed(self) -> float:
        return self.seconds

    def subjects(self) -> tuple[CheckedSubject, ...]:
        from whyscan.reports.phrases import share_read
        from whyscan.statements.reports.phrases import answer

        # A finding about several tables is placed at the first table.
        first = self.scans[0].report.table.uri if self.scans else ""
        whole = CheckedSubject("statement", self.sql, answer(self), first, self.sql, self)
        return whole, *(
            CheckedSubject(
                title,
                scan.report.question.predicate,
                share_read(scan.report),
                scan.report.table.uri,
                f"{title}\0{self.sql}",
                scan.report,
            )
            for title, scan in zip(self.titles, self.scans, strict=True)
        )

    def redacted(self) -> StatementReport:
        """The same report without literals and values, for sharing."""
        from whyscan.reports.redaction import redacted

        return redacted(self)

    def to_html(self) -> str:
        from whyscan.reports.pages.page import page
        from whyscan.statements.reports.view import view

        return page(view(self, full=True))

    def view(self) -> Blocks:
        from whyscan.statements.reports.view import view

        return view(self)
