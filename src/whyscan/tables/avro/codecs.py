"""Avro's codecs, with a limit: a block with more inflated bytes is a decompression bomb."""

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
    """The inflated block is larger than the limit."""


def inflate(codec: str, compressed: bytes, limit: int, path: str) -> bytes:
    """The uncompressed bytes of a block; raises Overflow if there are more than `limit`."""
    codec_function = _CODECS.get(codec)
    if codec_function is None:
        raise CorruptFile(path, f"it is compressed with {codec!r}, which whyscan cannot read")
    try:
        inflated = codec_function(compressed, limit)
    except Overflow:
        raise
    # Each codec has its own exceptions; those of cramjam and zstd share no other base class.
    except Exception as error:  # noqa: BLE001
        raise CorruptFile(path, f"its {codec} blocks are damaged: {error}") from None
    return inflated


def _null(compressed: bytes, limit: int) -> bytes:
    if len(compressed) > limit:
        raise Overflow
    return compressed


def _deflate(compressed: bytes, limit: int) -> bytes:
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    # One byte more than the limit shows that a block is too large.
    return _checked(stream.decompress(compressed, limit + 1), limit, ended=stream.eof)


def _snappy(compressed: bytes, limit: int) -> bytes:
    """A snappy block begins with its inflated length; Avro adds a checksum at the end."""
    import cramjam

    length = 0
    for at, byte in enumerate(compressed[:_LENGTH_BYTES]):
        length |= (byte & 0x7F) << 7 * at
        if byte < _MORE:
            break
    else:
        raise ValueError("its length has no end")
    if length > limit:
        raise Overflow
    inflated = bytes(cramjam.snappy.decompress_raw(compressed[:-_CHECKSUM_BYTES]))
    if zlib.crc32(inflated) != int.from_bytes(compressed[-_CHECKSUM_BYTES:], "big"):
        raise ValueError("the checksum is wrong")
    return inflated


def _zstandard(compressed: bytes, limit: int) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    stream = zstd.ZstdDecompressor()
    inflated: bytes = stream.decompress(compressed, max_length=limit + 1)
    return _checked(inflated, limit, ended=stream.eof)


def _bzip2(compressed: bytes, limit: int) -> bytes:
    import bz2

    stream = bz2.BZ2Decompressor()
    inflated = stream.decompress(compressed, max_length=limit + 1)
    return _checked(inflated, limit, ended=stream.eof)


def _xz(compressed: bytes, limit: int) -> bytes:
    import lzma

    stream = lzma.LZMADecompressor(memlimit=1 << 28)
    inflated = stream.decompress(compressed, max_length=limit + 1)
    return _checked(inflated, limit, ended=stream.eof)


def _checked(inflated: bytes, limit: int, *, ended: bool) -> bytes:
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
