"""Text as it was last read by a person. WHYSCAN_GOLDEN=write renews the files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

RENEWED = os.environ.get("WHYSCAN_GOLDEN") == "write"


def golden(path: Path, text: str) -> str:
    """What the file holds; what was found, and the file with it, where files are renewed."""
    if RENEWED:
        path.write_text(text, "utf-8")
    return path.read_text("utf-8")
