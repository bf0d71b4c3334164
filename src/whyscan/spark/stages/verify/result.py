"""The records of a verification: proofs per predicate, lies per table, reads per engine."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from whyscan.reports.values import JsonValue

    Recorded: TypeAlias = JsonValue

FINE = 0
UNSOUND = 1
NOT_EVALUATED = 3


class Wrong(Struct, frozen=True):
    """A container whose verdict some live rows contradict.

    `level` is manifests, files or row_groups. `path` is the path of the data file as the table
    records it. `row_group` is None if the verdict is of a file or manifest. `rows` is the number of
    live rows that contradict; `position` is the number of one of them in the file.
    """

    level: str
    path: str
    row_group: int | None
    rows: int
    position: int


class Lie(Struct, frozen=True):
    """A statistic that the rows contradict: the recorded and the actual value.

    `what` is lower, upper, values, nulls, nan, rows, bytes, deleted, partition lower, upper, nulls
    or values, or bucket lower or upper: the least or greatest bucket of the rows. `row_group` is
    None for a statistic of a file in the table's metadata; `column` is None for a statistic of the
    whole file.
    """

    path: str
    row_group: int | None
    column: str | None
    what: str
    recorded: JsonValue
    actual: JsonValue


class Contradiction(Struct, frozen=True):
    """Statistics of a column that contradict themselves, so that whyscan uses none of them.

    `paths` are the first of the files; empty if it is unknown which files they are.
    """

    level: str
    column: str
    containers: int
    paths: tuple[str, ...] = ()


class UnreadableFile(Struct, frozen=True):
    """A data file whose rows could not be read, and why."""

    path: str
    why: str


class EngineComparison(StrEnum):
    """Whether an engine read as much as the plan, less or more."""

    EQUAL = "equal"
    FEWER = "fewer"
    MORE = "more"


class EngineRead(Struct, frozen=True):
    """What an engine read for a predicate; `why` is the reason if the engine did not run it.

    `rows` is the number of rows that it returned. `files`, `row_groups` and `rows_read` are what it
    reports as read, None if it does not report. `by` names the number that `reads` compares with
    the plan, and `more` is the difference. `sql` is the condition in the engine's SQL.
    """

    engine: str
    why: str | None = None
    sql: str | None = None
    rows: int | None = None
    files: int | None = None
    row_groups: int | None = None
    rows_read: int | None = None
    sound: bool | None = None
    by: str | None = None
    reads: EngineComparison | None = None
    more: int | None = None


class PlanCounts(Struct, frozen=True):
    """The counts of a plan: what is kept, and how many rows match at least and at most."""

    files_total: int
    files_kept: int
    row_groups_total: int | None
    row_groups_kept: int | None
    rows_kept: int | None
    at_least: int | None
    at_most: int | None


class PredicateProof(Struct, frozen=True):
    """The verification of one predicate: its plan, its counts, and the wrong verdicts.

    `why` is the reason if it could not be evaluated. `rows_true` is the number of live rows for
    which Spark SQL gives TRUE, with the files read by whyscan; `native` is the same number with
    Spark's reader of the table; `raised` is the number of rows with an error. None if not counted.
    """

    predicate: str
    dialect: str
    why: str | None = None
    planned: PlanCounts | None = None
    rows_true: int | None = None
    native: int | None = None
    raised: int | None = None
    lost: tuple[Wrong, ...] = ()
    false_all: tuple[Wrong, ...] = ()
    engines: tuple[EngineRead, ...] = ()

    @property
    def lost_rows(self) -> int:
        return sum(wrong.rows for wrong in self.lost)

    @property
    def outside(self) -> bool:
        """Whether the number of TRUE rows is outside the bounds of the plan."""
        if self.rows_true is None or self.planned is None:
            return False
        least, most = self.planned.at_least, self.planned.at_most
        return (least is not None and self.rows_true < least) or (
            most is not None and self.rows_true > most
        )

    @property
    def disputed(self) -> bool:
        """Whether Spark's reader gives another number of TRUE rows."""
        return None not in {self.rows_true, self.native} and self.rows_true != self.native

    @property
    def unsound_engines(self) -> tuple[EngineRead, ...]:
        return tuple(engine_read for engine_read in self.engines if engine_read.sound is False)

    @property
    def sound(self) -> bool:
        """Whether no row contradicts the plan, and every engine returned the right rows."""
        wrong = (self.lost, self.false_all, self.unsound_engines)
        return not any(wrong) and not self.outside and not self.disputed


class NativeRows(Struct, frozen=True):
    """The row count of Spark's reader of the table; `why` is the reason if it could not run."""

    reader: str
    rows: int | None = None
    why: str | None = None


class TableProof(Struct, frozen=True):
    """The verification of one table: what was read, the predicates and the statistics.

    `rows` counts all rows of the files, `live` those that are not deleted. `columns` are those
    whose statistics were compared. `name` is the name in a workload, else the address.
    """

    name: str
    uri: str
    format: str
    version: int | None
    files_total: int
    files_read: int
    row_groups_read: int
    rows: int
    live: int
    columns: tuple[str, ...]
    native: NativeRows
    predicates: tuple[PredicateProof, ...]
    lies: tuple[Lie, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    unreadable: tuple[UnreadableFile, ...] = ()
    unchecked: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def disputed(self) -> bool:
        """Whether Spark's reader gives another number of live rows."""
        counted = self.native.rows
        all_read = self.files_read == self.files_total
        return all_read and counted is not None and counted != self.live

    @property
    def sound(self) -> bool:
        lying = self.lies or self.contradictions
        return not lying and not self.disputed and all(proof.sound for proof in self.predicates)

    @property
    def evaluated(self) -> bool:
        """Whether all files and predicates could be checked."""
        return not self.unreadable and all(proof.why is None for proof in self.predicates)


class UncheckedTable(Struct, frozen=True):
    """A table or a query that could not be checked at all, and why."""

    name: str
    why: str


class Verification(Struct, frozen=True):
    """The verification of all tables of a run."""

    tables: tuple[TableProof, ...]
    failures: tuple[UncheckedTable, ...] = ()

    @property
    def sound(self) -> bool:
        return all(table.sound for table in self.tables)

    @property
    def evaluated(self) -> bool:
        return not self.failures and all(table.evaluated for table in self.tables)

    @property
    def exit_code(self) -> int:
        """1 if something is unsound or lies, 3 if something could not be evaluated, else 0."""
        if not self.sound:
            return UNSOUND
        return FINE if self.evaluated else NOT_EVALUATED
