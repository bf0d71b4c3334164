"""The tables that are damaged: each small, of one format, and of every kind of file it knows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from fuzz.damage import Kind, Mutant, mutant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Target:
    """A file to be damaged. `lists_files`: cut off, it must not hide a live file.

    `unread`: a plan does not need it, so that no damage to it changes an answer.
    """

    path: str
    kind: Kind
    lists_files: bool = False
    unread: bool = False


@dataclass(frozen=True)
class Victim:
    """A table that `write` puts into a folder, and a predicate that names its columns.

    Without a predicate all columns are asked whether they are NULL. `fast`: manifests go to
    DataFusion, however small they are.
    """

    name: str
    write: Callable[[Path], None]
    predicate: str | None
    targets: tuple[Target, ...]
    fast: bool = False


@dataclass(frozen=True)
class Case:
    """One mutant by name: of which table, of which file, and which of them."""

    victim: str
    target: int
    seed: str
    number: int

    def __str__(self) -> str:
        return f"{self.victim}-{self.target}-{self.seed}-{self.number}"

    def mutant(self, whole: bytes) -> Mutant:
        return mutant(whole, self.aim.kind, str(self))

    @property
    def aim(self) -> Target:
        return victims()[self.victim].targets[self.target]


@cache
def victims() -> Mapping[str, Victim]:
    """Every table by name; those of the zoo where there is one."""
    from fuzz import delta_victims, iceberg_victims, parquet_victims, zoo_victims

    modules = (delta_victims, iceberg_victims, parquet_victims, zoo_victims)
    return {victim.name: victim for module in modules for victim in module.VICTIMS}
