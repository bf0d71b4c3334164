"""What a verification found: per predicate the proof and the engines, per table what lies."""

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

    `level` is manifests, files or row_groups; `path` is the data file's, as the table records it,
    and `row_group` None where the whole file was judged. `rows` are the live rows that contradict,
    `position` is one of them: its number in the file.
    """

    level: str
    path: str
    row_group: int | None
    rows: int
    position: int


class Lie(Struct, frozen=True):
    """A statistic that the rows contradict: what is recorded, and what is there.

    `what` is lower, upper, values, nulls, nan, rows, bytes, deleted, partition lower, upper, nulls
    or values, or bucket lower or upper: the least or greatest bucket that rows belong into.
    `row_group` is None where the table's metadata says it of the file; `column` is None where it is
    said of all columns.
    """

    path: str
    row_group: int | None
    column: str | None
    what: str
    recorded: JsonValue
    actual: JsonValue


class Contradiction(Struct, frozen=True):
    """Statistics of a column that contradict themselves, so that whyscan believes none of them.

    `paths` are the files, the first of them; none where it cannot be told which they are.
    """

    level: str
    column: str
    containers: int
    paths: tuple[str, ...] = ()


class UnreadableFile(Struct, frozen=True):
    """A data file whose rows could not be read, so that nothing is known of them."""

    path: str
    why: str


class EngineComparison(StrEnum):
    """What an engine read, next to the plan."""

    EQUAL = "equal"
    FEWER = "fewer"
    MORE = "more"


class EngineRead(Struct, frozen=True):
    """What an engine did with a predicate; `why` says why it was not asked or did not answer.

    `rows` are those that it returned. `files`, `row_groups` and `rows_read` are what it says that
    it read, None where it does not say. `by` names the one that `reads` compares with the plan,
    and `more` is how many more than the plan. `sql` is the condition as it was asked.
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
    """What the plan says of a predicate: how much is kept, and how many rows match at least."""

    files_total: int
    files_kept: int
    row_groups_total: int | None
    row_groups_kept: int | None
    rows_kept: int | None
    at_least: int | None
    at_most: int | None


class PredicateProof(Struct, frozen=True):
    """One predicate: the plan, the rows, and every verdict that they contradict.

    `why` says why it could not be evaluated. `found` are the live rows for which Spark says TRUE in
    the files as whyscan reads them, `native` those of Spark's own reader of the table; `raised` are
    those on which Spark raises an error. None where they were not counted.
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
        """More rows match than the plan says at most, or fewer than at least."""
        if self.rows_true is None or self.planned is None:
            return False
        least, most = self.planned.at_least, self.planned.at_most
        return (least is not None and self.rows_true < least) or (
            most is not None and self.rows_true > most
        )

    @property
    def disputed(self) -> bool:
        """Spark's own reader finds other rows than the files hold."""
        return None not in {self.rows_true, self.native} and self.rows_true != self.native

    @property
    def unsound_engines(self) -> tuple[EngineRead, ...]:
        return tuple(engine_read for engine_read in self.engines if engine_read.sound is False)

    @property
    def sound(self) -> bool:
        """Nothing contradicts the plan, nor any engine the rows."""
        wrong = (self.lost, self.false_all, self.unsound_engines)
        return not any(wrong) and not self.outside and not self.disputed


class NativeRows(Struct, frozen=True):
    """Spark's own reader of the table; `why` says why it could not be asked."""

    reader: str
    rows: int | None = None
    why: str | None = None


class TableProof(Struct, frozen=True):
    """One table: what was read, what it says of the predicates and of the statistics.

    `rows` are all that the files hold, `live` those that are not deleted. `columns` are those whose
    statistics were compared. `name` is what a workload calls it, else its address.
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
        """Spark's own reader counts other live rows."""
        counted = self.native.rows
        whole = self.files_read == self.files_total
        return whole and counted is not None and counted != self.live

    @property
    def sound(self) -> bool:
        lying = self.lies or self.contradictions
        return not lying and not self.disputed and all(proof.sound for proof in self.predicates)

    @property
    def evaluated(self) -> bool:
        """All that was asked for could be looked at."""
        return not self.unreadable and all(proof.why is None for proof in self.predicates)


class UncheckedTable(Struct, frozen=True):
    """A table or a query of which nothing could be checked."""

    name: str
    why: str


class Verification(Struct, frozen=True):
    """Every table of a run."""

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
        """1 where something is unsound or lies, 3 where something could not be evaluated."""
        if not self.sound:
            return UNSOUND
        return FINE if self.evaluated else NOT_EVALUATED
