"""What the command line does not load."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType


class _Without(MetaPathFinder):
    """A module that cannot be found, even where it is installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        del path, target
        if fullname == self._name:
            raise ModuleNotFoundError(f"{fullname} is left out", name=fullname)


def leave_out_pandas() -> None:
    """PyArrow imports pandas wherever it is installed: half a second, and nobody here uses it."""
    sys.meta_path.insert(0, _Without("pandas"))
