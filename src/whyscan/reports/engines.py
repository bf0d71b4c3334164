"""What engines read of a table, beside what metadata proves: one record for each engine."""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeAlias

from msgspec import Meta

from whyscan.fields import Count, LevelName, Name, Record, Sentence, Sql, Word, one_of
from whyscan.planning.plan.evidence import FILES, MANIFESTS
from whyscan.planning.plan.scan_plan import ScanPlan
from whyscan.profiles.engine_names import EVERY, common_profiles, named_profiles
from whyscan.profiles.features import COMPUTED, Feature
from whyscan.profiles.fixes import best_fix
from whyscan.profiles.prediction import EngineReader, uses_of
from whyscan.profiles.rule import RuleEvidence
from whyscan.tables.snapshot import FilterKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from whyscan.planning.plan.scan_plan import PlannedSnapshot
    from whyscan.profiles.fixes import Fix, Written
    from whyscan.profiles.prediction import Prediction
    from whyscan.profiles.rule import EngineProfile, Rule
    from whyscan.profiles.weakened import RuleUse
    from whyscan.reports.levels import Level
    from whyscan.tree.nodes import Predicate


class EngineLevel(Record, frozen=True):
    """How many containers of a level an engine reads."""

    level: LevelName
    kept: Count
    at_least: Annotated[
        bool, Meta(description="It may read more, because some metadata was not looked at.")
    ]


class EngineRule(Record, frozen=True):
    """A rule of an engine that concerns a conjunct.

    `levels` are those of the rule, empty for all. `concerns` names in a few words what it is about.
    """

    OMITTED: ClassVar = ("levels", "concerns")

    id: Word
    conjunct: Sql
    effect: Annotated[Sentence, Meta(description="What the engine does with the conjunct.")]
    source: Annotated[Name, Meta(description="Where the engine says so, or where it was measured.")]
    levels: tuple[LevelName, ...] = ()
    concerns: Word = ""


class EngineChange(Record, frozen=True):
    """One change of a predicate: what is new in it, and what it stands for."""

    sql: Sql
    alternative: Word


class EngineFix(Record, frozen=True):
    """Another predicate that is TRUE of the same rows, and the files that the engine then reads."""

    OMITTED: ClassVar = ("changes",)

    predicate: Annotated[Sql, Meta(description="Text to copy: the whole predicate.")]
    files: Count
    changes: tuple[EngineChange, ...] = ()


class EngineReading(Record, frozen=True):
    """What one engine reads, by its profile.

    `named`: the user asked for it. `bytes` are those of the files, None if unknown.
    `reads_bloom_filters`: the engine skips row groups by bloom filters.
    """

    OMITTED: ClassVar = ("named", "bytes", "reads_bloom_filters")

    engine: Name
    version: Word
    evidence: Annotated[
        Word,
        one_of(*RuleEvidence),
        Meta(description="Whether this version was run, or is known by documentation."),
    ]
    levels: tuple[EngineLevel, ...]
    rules: Annotated[
        tuple[EngineRule, ...], Meta(description="The rules that concern the predicate.")
    ]
    fix: Annotated[
        EngineFix | None,
        Meta(description="What reads fewer files; null if nothing does, or no engine was named."),
    ]
    named: bool = True
    bytes: Count | None = None
    reads_bloom_filters: bool = False

    @property
    def files(self) -> EngineLevel:
        return next(level for level in self.levels if level.level == FILES)

    def level(self, name: str) -> EngineLevel | None:
        """The numbers of a level; None if it was not looked at."""
        return next((level for level in self.levels if level.level == name), None)

    def rules_at(self, level: str) -> tuple[EngineRule, ...]:
        """The rules that hold at a level."""
        return tuple(rule for rule in self.rules if not rule.levels or level in rule.levels)

    @property
    def title(self) -> str:
        """The engine with the first two numbers of its version: `duckdb 2.0`."""
        return f"{self.engine} {'.'.join(self.version.split('.')[:2])}"


def engine_readings(planned: PlannedSnapshot, levels: Sequence[Level]) -> tuple[EngineReading, ...]:
    """What the named engines read; without a name, what common engines read if they differ.

    `levels` are those of the report, with what metadata proves.
    """
    names, table_format = planned.options.engines, planned.snapshot.format
    if names is None:
        return ()
    if names:
        profiles = [profile for profile in named_profiles(names) if profile.reads(table_format)]
    else:
        profiles = list(common_profiles(table_format))
        if not any(uses_of(planned, profile) for profile in profiles):
            return ()
    predict = _predictor(planned, open_more=bool(names))
    read = predict(profiles, planned.predicate) if profiles else []
    if not names and not any(_differs(prediction, levels) for prediction in read):
        return ()
    written: Written = {}
    return tuple(
        _reading(planned, profile, prediction, predict if names else None, written)
        for profile, prediction in zip(profiles, read, strict=True)
    )


def engine_notes(planned: PlannedSnapshot) -> Iterator[str]:
    """Yield a sentence for each named engine that does not read the format of the table."""
    table_format = planned.snapshot.format
    for profile in named_profiles([n for n in planned.options.engines or () if n != EVERY]):
        if not profile.reads(table_format):
            yield f"{profile.name} has no profile for {table_format} tables: nothing is said of it"


Predict: TypeAlias = "Callable[[Sequence[EngineProfile], Predicate], list[Prediction]]"


def _predictor(planned: PlannedSnapshot, *, open_more: bool) -> Predict:
    """The function that gives what engines read with a predicate, summed over the parts."""
    if isinstance(planned, ScanPlan):
        reader = EngineReader(planned, open_more=open_more)
        return partial(_by_reader, reader)

    def predict(profiles: Sequence[EngineProfile], predicate: Predicate) -> list[Prediction]:
        # By their names: a question is pickled, and its bytes are the same in each process.
        names = tuple(f"{profile.name}@{profile.version}" for profile in profiles)
        question = partial(_of_part, names=names, predicate=predicate, open_more=open_more)
        return [reduce(add, parts) for parts in zip(*planned.each(question), strict=True)]

    return predict


def _of_part(
    plan: ScanPlan, names: Sequence[str], predicate: Predicate, *, open_more: bool
) -> list[Prediction]:
    return _by_reader(EngineReader(plan, open_more=open_more), named_profiles(names), predicate)


def _by_reader(
    reader: EngineReader, profiles: Sequence[EngineProfile], predicate: Predicate
) -> list[Prediction]:
    changed = reader.with_predicate(predicate)
    return [changed.predict(profile) for profile in profiles]


def _differs(prediction: Prediction, levels: Sequence[Level]) -> bool:
    """Whether an engine surely reads more files or row groups than metadata proves."""
    return any(
        read.kept > level.kept
        for level in levels
        if level.level != MANIFESTS and (read := prediction.level(level.level)) is not None
    )


def _reading(
    planned: PlannedSnapshot,
    profile: EngineProfile,
    prediction: Prediction,
    predict: Predict | None,
    written: Written,
) -> EngineReading:
    fix = None
    if predict is not None:
        fix = best_fix(planned, prediction, lambda other: predict([profile], other)[0], written)
    measured = profile.is_measured_on(planned.snapshot.format) and all(
        use.rule.evidence is RuleEvidence.MEASURED for use in prediction.uses
    )
    return EngineReading(
        engine=profile.name,
        version=profile.version,
        evidence=(RuleEvidence.MEASURED if measured else RuleEvidence.DOCUMENTED).value,
        levels=tuple(
            EngineLevel(level.level, level.kept, level.at_least) for level in prediction.levels
        ),
        rules=tuple(_rule(planned, use) for use in prediction.uses),
        fix=None if fix is None else _fix(fix),
        named=predict is not None,
        bytes=prediction.bytes,
        reads_bloom_filters=FilterKind.BLOOM in profile.rules_of_engine.filters,
    )


def _rule(planned: PlannedSnapshot, use: RuleUse) -> EngineRule:
    rule = use.rule
    conjunct = planned.predicate.conjuncts[use.position].sql
    levels = tuple(sorted(rule.levels))
    return EngineRule(rule.id, conjunct, rule.effect_text, rule.source, levels, _concerns(rule))


_CONCERNS = {
    Feature.LIST: "IN lists",
    Feature.NOT_IN_LIST: "NOT IN",
    Feature.OR: "OR",
    Feature.OR_OF_COLUMNS: "OR across columns",
    Feature.COLUMN_TO_COLUMN: "two columns compared",
    Feature.FUNCTION: "functions on the column",
    Feature.ARITHMETIC: "arithmetic on the column",
    Feature.CAST_OF_NUMBER: "casts of the column",
    Feature.PATTERN: "LIKE",
    Feature.INEQUALITY: "<>",
    Feature.INSTANT: "timestamps",
}


def _concerns(rule: Rule) -> str:
    """What a rule is about, in a few words; by default its effect."""
    features = rule.concerns | rule.any_of
    if rule.functions and not features & COMPUTED:
        features |= {Feature.FUNCTION}
    return next(
        (words for feature, words in _CONCERNS.items() if feature in features), rule.effect_text
    )


def _fix(fix: Fix) -> EngineFix:
    changes = tuple(
        EngineChange(part, change.alternative.value)
        for change in fix.changes
        for part in change.parts
    )
    return EngineFix(fix.sql, fix.prediction.files_kept, changes)
