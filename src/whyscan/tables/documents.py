"""JSON that tables hold: as Python reads it, but for texts that no file or terminal can take."""

from __future__ import annotations

import json
from typing import Any


def read_json(text: str | bytes) -> Any:
    r"""A document; a ValueError or a RecursionError where it is none.

    An escape such as `\ud800` is half a character: Python reads it, and can write it nowhere.
    """
    document = json.loads(text)
    halves = b"\\ud" if isinstance(text, bytes) else "\\ud"
    if halves in text.lower():  # type: ignore[operator]
        json.dumps(document, ensure_ascii=False).encode()
    return document
