"""Avro's codecs, each with a limit: a block that inflates beyond it is a decompression bomb."""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING

from whyscan.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Callable

_CHECKSUM_BYTES = 4
_LENGTH_BYTES = 5
_MORE = 0x80


class Overflow(Exception):
    """There is more than the limit allows."""


def inflate(codec: str, stored: bytes, limit: int, path: str) -> bytes:
    """A block's bytes as they were before compression; an Overflow where they exceed `limit`."""
    known = _CODECS.get(codec)
    if known is None:
        raise CorruptFile(path, f"it is compressed with {codec!r}, which nobody here knows")
    try:
        inflated = known(stored, limit)
    except Overflow:
        raise
    # Each codec raises its own, and cramjam's and zstd's share no root but this one.
    except Exception as error:  # noqa: BLE001
        raise CorruptFile(path, f"its {codec} blocks are damaged: {error}") from None
    return inflated


def _null(stored: bytes, limit: int) -> bytes:
    if len(stored) > limit:
        raise Overflow
    return stored


def _deflate(stored: bytes, limit: int) -> bytes:
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    # One byte more than allowed tells a block that just fits from one that does not.
    return _whole(stream.decompress(stored, limit + 1), limit, ended=stream.eof)


def _snappy(stored: bytes, limit: int) -> bytes:
    """Snappy says first how long it will be; Avro adds a checksum behind."""
    import cramjam

    length = 0
    for at, byte in enumerate(stored[:_LENGTH_BYTES]):
        length |= (byte & 0x7F) << 7 * at
        if byte < _MORE:
            break
    else:
        raise ValueError("its length has no end")
    if length > limit:
        raise Overflow
    inflated = bytes(cramjam.snappy.decompress_raw(stored[:-_CHECKSUM_BYTES]))
    if zlib.crc32(inflated) != int.from_bytes(stored[-_CHECKSUM_BYTES:], "big"):
        raise ValueError("the checksum is wrong")
    return inflated


def _zstandard(stored: bytes, limit: int) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    stream = zstd.ZstdDecompressor()
    inflated: bytes = stream.decompress(stored, max_length=limit + 1)
    return _whole(inflated, limit, ended=stream.eof)


def _bzip2(stored: bytes, limit: int) -> bytes:
    import bz2

    stream = bz2.BZ2Decompressor()
    inflated = stream.decompress(stored, max_length=limit + 1)
    return _whole(inflated, limit, ended=stream.eof)


def _xz(stored: bytes, limit: int) -> bytes:
    import lzma

    stream = lzma.LZMADecompressor(memlimit=1 << 28)
    inflated = stream.decompress(stored, max_length=limit + 1)
    return _whole(inflated, limit, ended=stream.eof)


def _whole(inflated: bytes, limit: int, *, ended: bool) -> bytes:
    if len(inflated) > limit:
        raise Overflow
    if not ended:
        raise ValueError("cut off")
    return inflated


_CODECS: dict[str, Callable[[bytes, int], bytes]] = {
    "null": _null,
    "deflate": _deflate,
    "snappy": _snappy,
    "zstandard": _zstandard,
    "bzip2": _bzip2,
    "xz": _xz,
}
