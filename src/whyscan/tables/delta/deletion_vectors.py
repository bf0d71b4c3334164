"""The place of a deletion vector (PROTOCOL.md, Deletion Vector Format)."""

from __future__ import annotations

import base64
import uuid
from typing import TYPE_CHECKING

from whyscan.errors import TableError
from whyscan.tables.delta.row_groups import below
from whyscan.tables.file_columns import InlineVector, VectorInFile

if TYPE_CHECKING:
    from whyscan.tables.storage.store import Store

_UUID = 20

# Z85 and Python's base85 differ only in their alphabets.
_Z85 = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
_TO_B85 = bytes.maketrans(_Z85, _B85)


def vector(
    store: Store, kind: str, text: str, offset: int | None, size: int
) -> InlineVector | VectorInFile:
    """The vector that an `add` describes."""
    match kind:
        case "i":
            return InlineVector(_decoded(text)[:size])
        case "u":
            return VectorInFile(store, _relative(text), offset or 0, size)
        case "p":
            place = below(store, text)
            if place is None:
                raise TableError(
                    f"a deletion vector lies outside of the table's folder: {text}",
                    hint="whyscan follows no path that leads out of the table",
                )
            return VectorInFile(store, place, offset or 0, size)
        case _:
            raise TableError(f"a deletion vector is stored in an unknown way: {kind!r}")


def _relative(text: str) -> str:
    """`<prefix><uuid in base 85>` as the name of a file in the table."""
    prefix, encoded = text[:-_UUID], text[-_UUID:]
    name = f"deletion_vector_{uuid.UUID(bytes=_decoded(encoded))}.bin"
    return f"{prefix}/{name}" if prefix else name


def _decoded(text: str) -> bytes:
    try:
        return base64.b85decode(text.encode("ascii").translate(_TO_B85))
    except ValueError:
        raise TableError(f"a deletion vector has no base85 text: {text[:40]!r}") from None
