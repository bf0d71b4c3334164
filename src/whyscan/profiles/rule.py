"""A profile is data: the rules that say what an engine makes of which parts of a predicate.

The planner judges containers by all that metadata proves. An engine does less: it gives up on long
lists, on functions, on OR. A rule names a part of a predicate by its features, and says what is
left of that part for the engine. `weakened.py` applies the rules; the law evaluates the result.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from whyscan.errors import UsageError
from whyscan.planning.plan.evidence import PAGES, ROW_GROUPS
from whyscan.profiles.features import Feature  # noqa: TC001 - msgspec reads the annotations
from whyscan.tables.snapshot import FilterKind  # noqa: TC001 - msgspec reads the annotations

MATRIX = "tests/profiles/test_matrix.py"
"""The test that compares predictions with what the installed engines read."""


class RuleEffect(StrEnum):
    """What an engine makes of a part of a predicate at a level.

    Each makes the part weaker: what the part excludes afterwards it excluded before.
    """

    NOT_USED = "not used"
    """The part becomes TRUE."""
    NOT_NULL = "is not null"
    """Only that its columns are not NULL is used, where the part cannot be TRUE of NULL."""
    RANGE = "range"
    """A list becomes the range from its least to its greatest value."""
    INCLUSIVE = "with its bound"
    """A comparison with `<` or `>` is checked as if it were `<=` or `>=`."""
    COLUMN_BY_COLUMN = "column by column"
    """Of an OR, only what each of its branches says of one same column is used."""
    PARTITION_VALUES_ONLY = "partition values only"
    """The conjunct is evaluated on partition values, and not on statistics."""
    STATISTICS_ONLY = "statistics only"
    """The conjunct is evaluated on statistics, and not on partition values."""
    SEPARATELY = "partition values and statistics separately"
    """The conjunct is evaluated on each of them alone, never on both together."""
    AT_LEAST = "at least"
    """The part stays as it is, and the engine may use less of it: numbers are lower bounds."""
    NOT_ONLY_NULL = "where a value is not NULL"
    """A column that is only NULL in a container excludes nothing there."""
    ONE_VALUE_OR_NULL = "where a column has one value or is only NULL"
    """Columns have no bounds but where all their values are the same, or NULL."""
    ONE_VALUE = "where a column has one value"
    """Columns have no bounds but where all their values are the same, and none is NULL."""
    ONE_VALUE_IN_FILE = "where a column has one value in the file"
    """The same, if all values of the file are the same."""
    WITHOUT_NULL = "where no value is NULL"
    """The bounds of a column that has some NULL in a container are not used there."""
    ALONE = "nothing else is used"
    """The engine uses no part of a predicate that has such a part."""


class RuleEvidence(StrEnum):
    """What a rule rests on."""

    MEASURED = "measured"
    DOCUMENTED = "documented"


class Alternative(StrEnum):
    """What may be written instead. It is planned again before it is offered."""

    RANGE_BESIDE_LIST = "a range beside the list"
    SHORTER_LISTS = "several shorter lists"
    RANGE_OF_COLUMN = "a range of the column"


class Rule(Struct, frozen=True, kw_only=True):
    """What an engine makes of the parts that have all features in `concerns`, and none in `unless`.

    - `any_of`: the part has one of these features, too; empty means no such condition.
    - `id` is unique, and begins with the name of the engine or of its family.
    - `effect_text` says in words what the engine does.
    - `longer_than`: the part is a list of more values.
    - `functions`: the part calls one of these functions; empty means any. `but_not` names functions
      that the engine knows: a part that calls only these is not concerned.
    - `levels` are the levels of the rule; empty means all. `formats` likewise.
    - The rule holds from the version `since` (included) to `until` (excluded); empty means open.
    - `source` is the place in the engine's documentation or tracker.
    - `test` is the case of `tests/profiles` that proves the rule; empty where nothing ran.
    - `unsound`: here the engine reads less than metadata proves, and loses rows. The rule is a
      note, and no number follows it.
    """

    id: str
    effect: RuleEffect
    effect_text: str
    source: str
    evidence: RuleEvidence
    test: str = ""
    concerns: frozenset[Feature] = frozenset()
    any_of: frozenset[Feature] = frozenset()
    unless: frozenset[Feature] = frozenset()
    longer_than: int = 0
    functions: frozenset[str] = frozenset()
    but_not: frozenset[str] = frozenset()
    levels: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset()
    since: str = ""
    until: str = ""
    instead: tuple[Alternative, ...] = ()
    unsound: bool = False

    def holds(self, version: Version, table_format: str, level: str) -> bool:
        """Whether the rule is in force for a version, a format and a level.

        What an engine makes of a predicate for row groups it makes of it for their pages.
        """
        return (
            (
                not self.levels
                or level in self.levels
                or (level == PAGES and ROW_GROUPS in self.levels)
            )
            and (not self.formats or table_format in self.formats)
            and (not self.since or version >= Version.of(self.since))
            and (not self.until or version < Version.of(self.until))
        )


class Version(Struct, frozen=True, order=True):
    """A version of an engine. Only its numbers are compared."""

    numbers: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Version:
        """The version that a text such as `0.12.0` names."""
        try:
            return cls(tuple(int(number) for number in text.split(".")))
        except ValueError:
            raise UsageError(f"{text!r} is no version", hint="write numbers, like 1.2.3") from None

    def is_of_line(self, line: Version) -> bool:
        """Whether this version begins with the numbers of `line`."""
        return self.numbers[: len(line.numbers)] == line.numbers


class EngineRules(Struct, frozen=True, kw_only=True):
    """The profile of an engine: its versions, the tables that it reads, and its rules.

    - `formats` are the table formats that it reads, each with the levels at which it prunes.
    - `versions` are the versions whose rules are known, the newest first.
    - `measured` are for each format those of them that were run on it; the others are by
      documentation.
    - `package` is the Python package whose version is the engine's; empty if there is none.
    - `common`: reports name the engine unasked, where it reads more than metadata proves.
    - `written_for` says what the version counts, where the engine is two products.
    - `filters` are the filters of values that it reads in Parquet files.
    """

    name: str
    title: str
    formats: dict[str, frozenset[str]]
    versions: tuple[str, ...]
    rules: tuple[Rule, ...]
    measured: dict[str, tuple[str, ...]] = {}
    package: str = ""
    common: bool = False
    written_for: str = ""
    filters: frozenset[FilterKind] = frozenset()


class EngineProfile(Struct, frozen=True, kw_only=True):
    """An engine of one version."""

    rules_of_engine: EngineRules
    version: str

    @property
    def name(self) -> str:
        return self.rules_of_engine.name

    def is_measured_on(self, table_format: str) -> bool:
        """Whether this version of the engine was run on tables of this format."""
        return self.version in self.rules_of_engine.measured.get(table_format, ())

    def reads(self, table_format: str) -> bool:
        """Whether the engine reads tables of this format."""
        return table_format in self.rules_of_engine.formats

    def prunes_at(self, table_format: str, level: str) -> bool:
        """Whether the engine leaves out containers of a level."""
        return level in self.rules_of_engine.formats[table_format]

    def rules(self, table_format: str, level: str) -> tuple[Rule, ...]:
        """The rules in force for a format and a level, in their order."""
        version = Version.of(self.version)
        return tuple(
            rule for rule in self.rules_of_engine.rules if rule.holds(version, table_format, level)
        )
