"""What an engine reads of a plan's snapshot: its weakened predicate, judged level by level.

The containers are those that the plan has read. An engine that excludes less may keep manifests
and files that the plan left closed: those are opened once for all engines. Two engines that use
the same of a predicate share its evaluation.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct, field
from msgspec.structs import replace

from whyscan.planning.plan.blockwise import kept_groups
from whyscan.planning.plan.evidence import FILES, MANIFESTS, ROW_GROUPS
from whyscan.planning.plan.judgement import UNDECIDED, Evaluation
from whyscan.planning.plan.partition_values import spread
from whyscan.planning.plan.planner import plus, total_of
from whyscan.planning.plan.replan import Metadata
from whyscan.profiles.rule import RuleEffect
from whyscan.profiles.weakened import Weakened, roles_of, weakened
from whyscan.pruning.blocks import Blocks
from whyscan.tables.snapshot import FilterKind
from whyscan.tree.nodes import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.planning.plan.evidence import Evidence, LevelEvidence
    from whyscan.planning.plan.judgement import Decided, Flags
    from whyscan.planning.plan.scan_plan import PlanRequest, ScanPlan
    from whyscan.profiles.rule import EngineProfile
    from whyscan.profiles.weakened import RuleUse
    from whyscan.pruning.containers import Containers
    from whyscan.tables.snapshot import Files, Manifests, RowGroups
    from whyscan.tree.nodes import Predicate

_OF_SOME_COLUMNS = frozenset(
    {Metadata.ONE_VALUE_OR_NULL, Metadata.ONE_VALUE, Metadata.ONE_VALUE_IN_FILE}
)
"""Here partition values may be unused, so what they decide is not known."""

_WITH_VALUES = frozenset({Metadata.ALL, Metadata.NOT_ONLY_NULL, Metadata.WITHOUT_NULL})
"""Here an engine looks up the values of a conjunct in bloom filters, too."""

FOOTERS_AT_MOST = 100
"""Below `--depth auto`, footers are opened for engines if there are no more of them than this."""


class LevelPrediction(Struct, frozen=True):
    """How many containers of a level an engine reads.

    `at_least`: it may read more, because some metadata was not looked at. `rows` are those of the
    containers, None where they are not counted.
    """

    level: str
    kept: int
    at_least: bool = False
    rows: int | None = None

    def __add__(self, other: LevelPrediction) -> LevelPrediction:
        """The sum for two parts of a table."""
        return LevelPrediction(
            self.level,
            self.kept + other.kept,
            self.at_least or other.at_least,
            plus(self.rows, other.rows),
        )


class Prediction(Struct, frozen=True):
    """What an engine reads, level by level, and the rules that concern the predicate.

    `bytes` are those of the files; None where metadata does not say. `files` flags the files of the
    plan's evidence, in their order; `other_files` are the paths of files that the plan left closed.
    """

    levels: tuple[LevelPrediction, ...]
    uses: tuple[RuleUse, ...]
    bytes: int | None
    files: Flags = field(default_factory=lambda: np.zeros(0, np.bool_))

    def level(self, name: str) -> LevelPrediction | None:
        """The numbers of a level; None if it was not looked at."""
        return next((level for level in self.levels if level.level == name), None)

    @property
    def files_kept(self) -> int:
        return sum(level.kept for level in self.levels if level.level == FILES)

    def __add__(self, other: Prediction) -> Prediction:
        """The sum for two parts of a table."""
        levels = tuple(
            mine + theirs for mine in self.levels if (theirs := other.level(mine.level)) is not None
        )
        uses = tuple(dict.fromkeys((*self.uses, *other.uses)))
        flags = np.concatenate([self.files, other.files])
        return Prediction(levels, uses, plus(self.bytes, other.bytes), flags)


def uses_of(request: PlanRequest, profile: EngineProfile) -> tuple[RuleUse, ...]:
    """The rules that concern a predicate at any level; no container is looked at."""
    table_format, roles = request.snapshot.format, roles_of(request.snapshot)
    each = (
        weakened(request.predicate, profile.rules(table_format, level), roles).uses
        for level in (MANIFESTS, FILES, ROW_GROUPS)
    )
    return tuple(dict.fromkeys(use for uses in each for use in uses))


def predictions(
    plan: ScanPlan, profiles: Sequence[EngineProfile], *, open_more: bool = True
) -> tuple[Prediction, ...]:
    """What each engine reads. All read the plan's table format.

    `open_more`: manifests and footers that only engines read are opened; otherwise numbers that
    need them are "at least".
    """
    reader = EngineReader(plan, open_more=open_more)
    return tuple(reader.predict(profile) for profile in profiles)


def prediction(plan: ScanPlan, profile: EngineProfile) -> Prediction:
    """What one engine reads."""
    return predictions(plan, [profile])[0]


class _ClosedFiles(Struct, frozen=True):
    """The files that an engine reads of manifests that the plan left closed.

    `opened` is the key of these manifests, `positions` are those of the files in them; None if they
    were not listed.
    """

    count: LevelPrediction
    opened: bytes = b""
    positions: npt.NDArray[np.int64] | None = None


class EngineReader:
    """Judges the weakened predicates of engines on the containers of one plan."""

    def __init__(self, plan: ScanPlan, *, open_more: bool) -> None:
        self.plan = plan
        self.open_more = open_more
        self.evidence: Evidence = plan.evidence.before_limit
        self.format = plan.snapshot.format
        self.roles = roles_of(plan.snapshot)
        self.flags: dict[tuple[object, ...], Flags] = {}
        self.more_files: dict[bytes, Files] = {}
        self.more_groups: dict[bytes, RowGroups] = {}

    def with_predicate(self, predicate: Predicate) -> EngineReader:
        """The reader for another predicate that is TRUE of the same rows.

        It shares the verdicts and what was opened. Its columns must be among the plan's.
        """
        other = copy(self)
        other.plan = replace(self.plan, predicate=predicate)
        return other

    def predict(self, profile: EngineProfile) -> Prediction:
        """What one engine reads."""
        uses: dict[RuleUse, None] = {}
        levels: list[LevelPrediction] = []
        used = {}
        for name in (MANIFESTS, *(level.name for level in self.evidence.levels_from_files)):
            rules = profile.rules(self.format, name)
            used[name] = weakened(self.plan.predicate, rules, self.roles)
            if not profile.prunes_at(self.format, name):
                used[name] = replace(used[name], conjuncts=())
        closed = _ClosedFiles(LevelPrediction(FILES, 0))
        if (manifest_level := self.evidence.manifest_level) is not None:
            uses.update(dict.fromkeys(used[MANIFESTS].uses))
            manifests = self.kept(MANIFESTS, manifest_level.listed.containers, used[MANIFESTS])
            manifests = manifests | manifest_level.verdicts.kept
            levels.append(LevelPrediction(MANIFESTS, int(manifests.sum())))
            closed = self.in_closed(manifest_level, manifests, used[FILES])
        uses.update(dict.fromkeys(used[FILES].uses))
        kinds = profile.rules_of_engine.filters
        kept = self.files(used, kinds)
        files = LevelPrediction(FILES, int(kept.sum()))
        bytes_kept = total_of(self.evidence.bytes, kept)
        if closed.count.kept or closed.count.at_least:
            files, bytes_kept = files + closed.count, None
        levels.append(files)
        kept_above = kept
        for level in self.evidence.levels_from_files[1:]:
            uses.update(dict.fromkeys(used[level.name].uses))
            prediction, kept_above = self.below(level, kept_above, used[level.name], kinds)
            if closed.count.kept:
                prediction += self.below_closed(level.name, closed, used[level.name])
            levels.append(replace(prediction, at_least=prediction.at_least or files.at_least))
        if any(use.rule.effect is RuleEffect.AT_LEAST for use in uses):
            levels = [replace(level, at_least=True) for level in levels]
        return Prediction(tuple(levels), tuple(uses), bytes_kept, kept)

    def in_closed(
        self, level: LevelEvidence[Manifests], manifests: Flags, used: Weakened
    ) -> _ClosedFiles:
        """The files that the engine reads of manifests that the plan left closed."""
        more = np.flatnonzero(manifests & ~level.opened)
        if not len(more):
            return _ClosedFiles(LevelPrediction(FILES, 0))
        if not used.conjuncts:
            count = sum(level.listed.files.take(pa.array(more)).to_pylist())
            if not self.may_open(count) or len(self.evidence.levels_from_files) == 1:
                return _ClosedFiles(LevelPrediction(FILES, count))
        if not self.open_more:
            return _ClosedFiles(LevelPrediction(FILES, 0, at_least=True))
        opened = more.tobytes()
        if opened not in self.more_files:
            columns = self.plan.predicate.columns()
            self.more_files[opened] = self.plan.snapshot.files(
                columns, self.plan.zone, pa.array(more)
            )
        kept = self.kept(f"files {opened!r}", self.more_files[opened].containers, used, UNDECIDED)
        return _ClosedFiles(LevelPrediction(FILES, int(kept.sum())), opened, np.flatnonzero(kept))

    def below_closed(self, name: str, closed: _ClosedFiles, used: Weakened) -> LevelPrediction:
        """The row groups that the engine reads of files in manifests that the plan left closed."""
        positions = closed.positions
        if name != ROW_GROUPS or positions is None or not self.may_open(len(positions)):
            return LevelPrediction(name, 0, at_least=True)
        key = closed.opened + positions.tobytes()
        if key not in self.more_groups:
            self.more_groups[key] = self.plan.snapshot.row_groups(
                self.more_files[closed.opened],
                pa.array(positions),
                self.plan.predicate.columns(),
                None,
            )
        groups = self.more_groups[key]
        flags = self.kept(f"closed {key!r}", groups.containers, used, owners=groups.owners)
        rows = total_of(groups.rows, flags)
        return LevelPrediction(name, int(flags.sum()), bool(groups.unchecked), rows)

    def files(self, used: dict[str, Weakened], kinds: frozenset[FilterKind]) -> Flags:
        """One flag per file of the plan's evidence: the engine reads some of its rows."""
        level = self.evidence.file_level
        kept = self.kept(FILES, level.listed.containers, used[FILES], self.evidence.decided)
        groups = self.evidence.row_group_level
        if groups is not None and groups.describes_parents:
            inside = self.in_files(groups, used[ROW_GROUPS], kinds)
            inhabited = self.evidence.with_row_group(inside)
            closed = np.flatnonzero(kept & ~level.opened)
            kept = kept & (inhabited | ~level.opened)
            if len(closed) and self.may_open(len(closed)):
                more, flags = self.in_more_groups(closed, used[ROW_GROUPS])
                read = more.owners.to_numpy()[flags]
                kept[np.setdiff1d(more.opened.to_numpy(), read)] = False
        return kept | level.verdicts.kept

    def in_files(self, level: Any, used: Weakened, kinds: frozenset[FilterKind]) -> Flags:
        """One flag per container of a level below the files: the engine does not leave it out.

        `kinds` are the filters of values that the engine reads.
        """
        containers, owners = level.listed.containers, level.listed.owners
        if containers.filters:
            containers = replace(containers, filters={})
        if level.name != ROW_GROUPS:
            # Here owners are row groups, so what all values of a file are is not known.
            conjuncts = (c for c in used.conjuncts if c[1] is not Metadata.ONE_VALUE_IN_FILE)
            return self.kept(level.name, containers, replace(used, conjuncts=tuple(conjuncts)))
        decided = spread(self.evidence.decided, owners)
        kept = self.kept(level.name, containers, used, decided, owners)
        if level.unfiltered is not None and self.is_whole(used):
            kept = kept & ~_removed_by_filters(level, kinds)
        return kept

    def below(
        self, level: Any, above: Flags, used: Weakened, kinds: frozenset[FilterKind]
    ) -> tuple[LevelPrediction, Flags]:
        """The containers of a level below the files that the engine reads."""
        listed = level.listed
        owners = listed.owners.to_numpy()
        kept = (self.in_files(level, used, kinds) | level.verdicts.kept) & above[owners]
        inside = LevelPrediction(level.name, int(kept.sum()), rows=total_of(listed.rows, kept))
        opened = np.zeros(len(above), np.bool_)
        opened[owners] = True
        missing = np.flatnonzero(above & ~opened)
        if not len(missing):
            return inside, kept
        if level.name != ROW_GROUPS or not self.may_open(len(missing)):
            return replace(inside, at_least=True), kept
        groups, more = self.in_more_groups(missing, used)
        added = LevelPrediction(
            level.name, int(more.sum()), bool(groups.unchecked), total_of(groups.rows, more)
        )
        return inside + added, kept

    def is_whole(self, used: Weakened) -> bool:
        """Whether an engine uses every conjunct as it is."""
        conjuncts = self.plan.predicate.conjuncts
        return len(used.conjuncts) == len(conjuncts) and all(
            by in _WITH_VALUES and conjunct is conjuncts[position]
            for position, by, conjunct in used.conjuncts
        )

    def may_open(self, footers: int) -> bool:
        """Whether that many footers are opened only for engines."""
        wanted = self.plan.options.full or self.plan.options.depth.opens_footers
        return self.open_more and (wanted or footers <= FOOTERS_AT_MOST)

    def in_more_groups(
        self, closed: npt.NDArray[np.int64], used: Weakened
    ) -> tuple[RowGroups, Flags]:
        """The row groups of files that the plan left closed; flags of those the engine reads."""
        key = closed.tobytes()
        if key not in self.more_groups:
            self.more_groups[key] = self.plan.snapshot.row_groups(
                self.evidence.files, pa.array(closed), self.plan.predicate.columns(), None
            )
        groups = self.more_groups[key]
        name = f"row groups {key!r}"
        return groups, self.kept(name, groups.containers, used, owners=groups.owners)

    def kept(
        self,
        name: str,
        containers: Containers,
        used: Weakened,
        decided: Decided = UNDECIDED,
        owners: pa.Array | None = None,
    ) -> Flags:
        """One flag per container: what the engine uses of the predicate may be TRUE in it.

        `owners` are the positions of the containers' files, None for files themselves.
        """
        key = (name, used.key)
        if key not in self.flags:
            kept = np.ones(containers.count, np.bool_)
            if self.plan.options.assume_no_nan:
                containers = containers.without_nan()
            for metadata in Metadata:
                chosen = [at for at, (_, by, _) in enumerate(used.conjuncts) if by is metadata]
                if not chosen:
                    continue
                if metadata is Metadata.ONE_VALUE_IN_FILE and owners is not None:
                    files, of_files = _hulls(containers, owners, used, chosen)
                    read = self.verdicts_on(metadata.only_in(files), used, chosen, UNDECIDED)
                    kept &= read[of_files]
                else:
                    by = UNDECIDED if metadata in _OF_SOME_COLUMNS else decided
                    kept &= self.verdicts_on(metadata.only_in(containers), used, chosen, by)
            self.flags[key] = kept
        return self.flags[key]

    def verdicts_on(
        self, containers: Containers, used: Weakened, chosen: list[int], decided: Decided
    ) -> Flags:
        conjuncts = tuple(used.conjuncts[at][2] for at in chosen)
        predicate = replace(self.plan.predicate, conjuncts=conjuncts)
        original = self.plan.predicate.conjuncts
        same = {
            number: decided[position]
            for number, (position, _, conjunct) in enumerate(used.conjuncts[at] for at in chosen)
            if position in decided and conjunct is original[position]
        }
        groups = None if same else kept_groups(predicate, containers, self.plan.zone)
        if groups is not None:
            return groups[0].spread(groups[1])
        return Evaluation.of(predicate, containers, self.plan.zone, same).kept


def _removed_by_filters(level: LevelEvidence[RowGroups], kinds: frozenset[FilterKind]) -> Flags:
    """One flag per row group: filters of values that an engine reads remove it, and nothing else.

    Dictionaries were probed after bloom filters: an engine that reads only dictionaries is not
    told apart.
    """
    assert level.unfiltered is not None  # noqa: S101 - the caller looked
    after = None
    if FilterKind.BLOOM in kinds:
        every = FilterKind.DICTIONARY in kinds or level.by_bloom is None
        after = level.verdicts if every else level.by_bloom
    if after is None:
        return np.zeros(level.count, np.bool_)
    removed: Flags = level.unfiltered.kept & ~after.kept
    return removed


def _hulls(
    containers: Containers, owners: pa.Array, used: Weakened, chosen: Sequence[int]
) -> tuple[Containers, npt.NDArray[np.int64]]:
    """One container per file, and for each row group the position of its file among them."""
    _, of_files, sizes = np.unique(owners.to_numpy(), return_inverse=True, return_counts=True)
    blocks = Blocks(np.argsort(of_files, kind="stable"), np.concatenate([[0], np.cumsum(sizes)]))
    columns = [column for at in chosen for column in columns_of(used.conjuncts[at][2].expression)]
    return blocks.hulls(containers, tuple(dict.fromkeys(columns))), of_files
