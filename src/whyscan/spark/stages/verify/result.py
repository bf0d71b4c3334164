"""The records of a verification: proofs per predicate, lies per table, reads per engine."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from whyscan.fields import (
    Count,
    ErrorText,
    FilePath,
    LevelName,
    Name,
    Outcome,
    Record,
    Sentence,
    Sql,
    TableFormat,
    Word,
)
from whyscan.reports.levels import RowsMatched
from whyscan.reports.rendering import WrittenReport
from whyscan.reports.values import JsonValue

if TYPE_CHECKING:
    from whyscan.reports.view import Blocks

FINE = 0
UNSOUND = 1
NOT_EVALUATED = 3


class Wrong(Record, frozen=True):
    """A container whose verdict some live rows contradict.

    `level` is manifests, files or row_groups. `path` is the path of the data file as the table
    records it. `row_group` is None if the verdict is of a file or manifest. `rows` is the number of
    live rows that contradict; `position` is the number of one of them in the file.
    """

    level: LevelName
    path: FilePath
    row_group: Count | None
    rows: Count
    position: Annotated[Count, Meta(description="The number of one such row in its file, from 0.")]


class Lie(Record, frozen=True, rename={"actual": "found"}):
    """A statistic that the rows contradict: the recorded and the actual value.

    `what` is lower, upper, values, nulls, nan, rows, bytes, deleted, partition lower, upper, nulls
    or values, or bucket lower or upper: the least or greatest bucket of the rows. `row_group` is
    None for a statistic of a file in the table's metadata; `column` is None for a statistic of the
    whole file.
    """

    path: FilePath
    row_group: Count | None
    column: Name | None
    what: Word
    recorded: JsonValue
    actual: JsonValue


class Contradiction(Record, frozen=True):
    """Statistics of a column that contradict themselves, so that whyscan uses none of them.

    `paths` are the first of the files; empty if it is unknown which files they are.
    """

    level: LevelName
    column: Name
    containers: Count
    paths: tuple[FilePath, ...] = ()


class UnreadableFile(Record, frozen=True):
    """A data file whose rows could not be read, and why."""

    path: FilePath
    why: ErrorText


class EngineComparison(StrEnum):
    """Whether an engine read as much as the plan, less or more."""

    EQUAL = "equal"
    FEWER = "fewer"
    MORE = "more"


class PredictedRead(Record, frozen=True):
    """What the profile of an engine predicts that it reads, in the numbers that the engine gives.

    `version` is that of the profile. `reads` compares what was read with what was predicted; it is
    None if the engine gives no number.
    """

    version: Word
    files: Count | None
    row_groups: Count | None
    rows: Count | None
    at_least: Annotated[bool, Meta(description="The engine may read more than these numbers.")]
    rules: Annotated[
        tuple[Word, ...], Meta(description="The rules of the profile that concern the predicate.")
    ]
    reads: Annotated[
        EngineComparison | None, Meta(description="What it read, compared with its profile.")
    ]

    def number(self, by: str) -> int | None:
        """The predicted files, row groups or rows; None if they are not compared."""
        numbers = {"files": self.files, "row_groups": self.row_groups, "rows": self.rows}
        return numbers.get(by)


class EngineRead(Record, frozen=True, rename={"by": "compared_by"}):
    """What an engine read for a predicate; `why` is the reason if the engine did not run it.

    `rows` is the number of rows that it returned. `files`, `row_groups` and `rows_read` are what it
    reports as read, None if it does not report. `by` names the number that `reads` compares with
    the plan, and `more` is the difference. `sql` is the condition in the engine's SQL.
    """

    engine: Name
    why: Annotated[
        Sentence | None, Meta(description="Why the engine did not run it; null if it did.")
    ] = None
    sql: Annotated[Sql | None, Meta(description="The condition in the engine's SQL.")] = None
    rows: Annotated[Count | None, Meta(description="The rows that it returned.")] = None
    files: Count | None = None
    row_groups: Count | None = None
    rows_read: Count | None = None
    sound: Annotated[
        bool | None, Meta(description="It returned as many rows as match; null if unknown.")
    ] = None
    by: Word | None = None
    reads: Annotated[
        EngineComparison | None, Meta(description="What it read, compared with the plan.")
    ] = None
    more: int | None = None
    predicted: Annotated[
        PredictedRead | None,
        Meta(description="What its profile predicts; null if the engine did not run."),
    ] = None

    def number(self, by: str) -> int | None:
        """What was read of files, row groups or rows; None if the engine does not report it."""
        numbers = {"files": self.files, "row_groups": self.row_groups, "rows": self.rows_read}
        return numbers.get(by)


class PlanCounts(Record, frozen=True):
    """The counts of a plan: what is kept, and how many rows match at least and at most."""

    OMITTED: ClassVar = ("at_least", "at_most")
    COMPUTED: ClassVar = {"rows_matched": "rows_matched"}

    files_total: Count
    files_kept: Count
    row_groups_total: Count | None
    row_groups_kept: Count | None
    rows_kept: Count | None
    at_least: int | None
    at_most: int | None

    def number(self, by: str) -> int | None:
        """The kept files, row groups or rows; None if they were not counted."""
        numbers = {
            "files": self.files_kept,
            "row_groups": self.row_groups_kept,
            "rows": self.rows_kept,
        }
        return numbers.get(by)

    @property
    def rows_matched(self) -> RowsMatched:
        """How many rows match, by the plan."""
        return RowsMatched(self.at_least, self.at_most)


class PredicateProof(
    Record,
    frozen=True,
    rename={"planned": "plan", "native": "rows_true_native", "raised": "rows_raising"},
):
    """The verification of one predicate: its plan, its counts, and the wrong verdicts.

    `why` is the reason if it could not be evaluated. `rows_true` is the number of live rows for
    which Spark SQL gives TRUE, with the files read by whyscan; `native` is the same number with
    Spark's reader of the table; `raised` is the number of rows with an error. None if not counted.
    """

    COMPUTED: ClassVar = {"sound": "sound_if_evaluated"}
    QUOTED: ClassVar = ("predicate", "dialect")

    predicate: Sql
    dialect: Name
    why: Annotated[
        Sentence | None, Meta(description="Why it could not be evaluated; null if it was.")
    ] = None
    planned: PlanCounts | None = None
    rows_true: Annotated[
        Count | None,
        Meta(description="Live rows for which Spark gives TRUE, in files that whyscan reads."),
    ] = None
    native: Annotated[
        Count | None, Meta(description="The same with Spark's reader of the table.")
    ] = None
    raised: Annotated[
        Count | None, Meta(description="Live rows on which Spark raises an error.")
    ] = None
    lost: Annotated[
        tuple[Wrong, ...],
        Meta(description="Containers that the plan drops and that have rows that match."),
    ] = ()
    false_all: Annotated[
        tuple[Wrong, ...],
        Meta(description="Containers with verdict all that have rows that do not match."),
    ] = ()
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

    @property
    def sound_if_evaluated(self) -> bool | None:
        """Whether no row contradicts the plan; null if it was not evaluated."""
        return None if self.why is not None else self.sound


class NativeRows(Record, frozen=True):
    """The row count of Spark's reader of the table; `why` is the reason if it could not run."""

    reader: Name
    rows: Count | None = None
    why: Sentence | None = None


class TableProof(Record, frozen=True):
    """The verification of one table: what was read, the predicates and the statistics.

    `rows` counts all rows of the files, `live` those that are not deleted. `columns` are those
    whose statistics were compared. `name` is the name in a workload, else the address.
    """

    COMPUTED: ClassVar = {"result": "result"}

    name: Name
    uri: Name
    format: TableFormat
    version: int | None
    files_total: Count
    files_read: Count
    row_groups_read: Count
    rows: Annotated[Count, Meta(description="All rows of the files, deleted or not.")]
    live: Annotated[Count, Meta(description="The rows that are not deleted.")]
    columns: Annotated[
        tuple[Name, ...], Meta(description="The columns whose statistics were compared.")
    ]
    native: NativeRows
    predicates: tuple[PredicateProof, ...]
    lies: tuple[Lie, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    unreadable: tuple[UnreadableFile, ...] = ()
    unchecked: tuple[Sentence, ...] = ()
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

    @property
    def result(self) -> Outcome:
        """`pass` if everything was checked and nothing contradicts."""
        return "pass" if self.sound and self.evaluated else "fail"


class UncheckedTable(Record, frozen=True):
    """A table or a query that could not be checked at all, and why."""

    name: Name
    why: ErrorText


class Verification(WrittenReport, frozen=True):
    """The verification of all tables of a run."""

    COMPUTED: ClassVar = {"result": "result", "exit_code": "exit_code"}

    tables: tuple[TableProof, ...]
    failures: Annotated[
        tuple[UncheckedTable, ...],
        Meta(description="Tables and queries of which nothing could be checked."),
    ] = ()

    def redacted(self) -> Verification:
        """The same report without literals and values, for sharing."""
        from whyscan.reports.redaction import redacted

        return redacted(self)

    def view(self) -> Blocks:
        from whyscan.spark.stages.verify.view import view

        return view(self)

    @property
    def sound(self) -> bool:
        return all(table.sound for table in self.tables)

    @property
    def evaluated(self) -> bool:
        return not self.failures and all(table.evaluated for table in self.tables)

    @property
    def result(self) -> Outcome:
        """`pass` if everything was checked and nothing contradicts."""
        return "pass" if self.sound and self.evaluated else "fail"

    @property
    def exit_code(self) -> int:
        """1 if something is unsound or lies, 3 if something could not be evaluated, else 0."""
        if not self.sound:
            return UNSOUND
        return FINE if self.evaluated else NOT_EVALUATED
