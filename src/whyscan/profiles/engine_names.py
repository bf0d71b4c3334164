"""The engines that have a profile, by the names that users write: `duckdb`, `trino@476`, `all`."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from whyscan.errors import UsageError
from whyscan.profiles.rule import EngineProfile, EngineRules, Version
from whyscan.profiles.rules.datafusion import DATAFUSION, DELTA_RS
from whyscan.profiles.rules.documented import DOCUMENTED_RULES
from whyscan.profiles.rules.duckdb import DUCKDB
from whyscan.profiles.rules.iceberg_library import PYICEBERG
from whyscan.profiles.rules.polars import POLARS
from whyscan.profiles.rules.pyarrow_dataset import PYARROW
from whyscan.profiles.rules.spark import SPARK_DELTA, SPARK_ICEBERG, SPARK_PARQUET
from whyscan.profiles.rules.trino import TRINO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whyscan.tables.snapshot import FilterKind

ENGINES: tuple[EngineRules, ...] = (
    SPARK_DELTA,
    SPARK_ICEBERG,
    SPARK_PARQUET,
    TRINO,
    DUCKDB,
    DATAFUSION,
    POLARS,
    PYICEBERG,
    DELTA_RS,
    PYARROW,
)

EVERY = "all"
"""The name of all engines that read a table."""


def named_profiles(names: Sequence[str]) -> tuple[EngineProfile, ...]:
    """The profiles that users name as `NAME` or `NAME@VERSION`, each once.

    Without a version it is that of the installed package, else the newest that is in the profile.
    """
    profiles = [
        profile
        for name in names
        for profile in (
            [default_profile(engine) for engine in ENGINES] if name == EVERY else [_named(name)]
        )
    ]
    return tuple({(p.name, p.version): p for p in profiles}.values())


def engine_rules(name: str) -> EngineRules:
    """The engine of exactly this name."""
    return next(engine for engine in ENGINES if engine.name == name)


def common_profiles(table_format: str) -> tuple[EngineProfile, ...]:
    """The engines that reports name unasked, of those that read a table format."""
    engines = (engine for engine in ENGINES if engine.common and table_format in engine.formats)
    return tuple(default_profile(engine) for engine in engines)


def readers_of_filters(kind: FilterKind, table_format: str) -> tuple[str, ...]:
    """The engines that skip row groups of a table format by such filters of values."""
    return tuple(
        engine.name
        for engine in ENGINES
        if kind in engine.filters and table_format in engine.formats
    )


def default_profile(engine: EngineRules) -> EngineProfile:
    """The engine in the version that is installed, else in the newest that is in its profile."""
    installed = _installed(engine.package) if engine.package else ""
    matching = _exact(engine, installed) if installed else None
    return EngineProfile(rules_of_engine=engine, version=matching or engine.versions[0])


@lru_cache
def _installed(package: str) -> str:
    """The version of a package, which takes a file to find out; empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _named(text: str) -> EngineProfile:
    name, at, written = text.strip().partition("@")
    engine = next((engine for engine in ENGINES if engine.name == name.lower()), None)
    if engine is None:
        by_documentation = {rule.engine.lower(): rule.engine for rule in DOCUMENTED_RULES}
        if name.lower() in by_documentation:
            raise UsageError(
                f"{by_documentation[name.lower()]} was never run, so it has no profile",
                hint="docs/engines.md lists what its documentation says",
            )
        names = ", ".join(engine.name for engine in ENGINES)
        raise UsageError(f"unknown engine {text!r}", hint=f"one of {names}, {EVERY}")
    if not at:
        return default_profile(engine)
    exact = _exact(engine, written)
    if exact is None:
        hint = f"one of {', '.join(engine.versions)}"
        raise UsageError(f"unknown version {written!r} of {engine.name}", hint=hint)
    return EngineProfile(rules_of_engine=engine, version=exact)


def _exact(engine: EngineRules, written: str) -> str | None:
    """The version of the profile that `1.2` or `1.2.3` names.

    Another patch of a line whose rules are in the profile keeps its own number.
    """
    try:
        wanted = Version.of(written)
    except UsageError:
        return None
    for version_text in engine.versions:
        if Version.of(version_text).is_of_line(wanted):
            return version_text
    lines = (Version(Version.of(text).numbers[:2]) for text in engine.versions)
    has_line = any(len(line.numbers) > 1 and wanted.is_of_line(line) for line in lines)
    return written if has_line else None
