"""From what a user asks to what the planner takes: names resolved, words checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whyscan.errors import UsageError
from whyscan.planning.plan import Depth, Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whyscan.predicate.tree import Path, Predicate
    from whyscan.tables.snapshot import Snapshot
