"""An empty folder to write an Iceberg table into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tables.iceberg.by_hand import Lake

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def lake(tmp_path: Path) -> Callable[..., Lake]:
    def make(columns: dict[str, Any], *fields: dict[str, Any], **more: Any) -> Lake:
        return Lake(tmp_path / "table", columns, list(fields), **more)

    return make
