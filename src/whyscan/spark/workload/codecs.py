"""Logs as plain bytes of UTF-8, however they end: what came whole is given, a cut is told.

| written by | how it begins |
|---|---|
| zstd, also several frames in a row | 28 B5 2F FD |
| Spark's lz4: blocks, not frames | `LZ4Block` |
| Spark's snappy: blocks behind a header | 82 `SNAPPY` 00 |
| lzf: chunks | `ZV` |
| gzip, also several members in a row | 1F 8B |
"""

from __future__ import annotations

import codecs
import sys
import zlib
from typing import TYPE_CHECKING

from msgspec import Struct

from whyscan.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP = b"\x1f\x8b"
_LZ4 = b"LZ4Block"
_LZ4_HEADER = 21
_LZ4_STORED = 0x10
_SNAPPY = b"\x82SNAPPY\x00"
_SNAPPY_HEADER = 16
_LZF = b"ZV"
_LZF_HEADER = 5
_LZF_STORED = _LZF + b"\x00"
_LZF_PACKED = _LZF + b"\x01"
MOST_OF_A_BLOCK = 1 << 26
"""Spark's blocks have 32 or 64 kB; a length beyond this is no length."""


class Tail(Struct):
    """How a log ended: `cut` where its last block or frame is not whole.

    `open` where nothing ends its last line: whoever reads that line can tell whether it is whole.
    """

    cut: bool = False
    open: bool = False


def plain(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    """The bytes behind whatever compression the first of them show."""
    stream = iter(chunks)
    first = b""
    while len(first) < _LZ4_HEADER and (more := next(stream, b"")):
        first += more
    whole = _again(first, stream)
    unpack = next((unpack for mark, unpack in _UNPACKED.items() if first.startswith(mark)), None)
    return _utf_8(whole if unpack is None else unpack(whole, tail, name))


def _utf_8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Without the mark that Windows puts before a text, and in UTF-8 where it was in UTF-16."""
    stream = iter(chunks)
    first = b""
    while len(first) < len(codecs.BOM_UTF8) and (more := next(stream, b"")):
        first += more
    if not first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield from _again(first.removeprefix(codecs.BOM_UTF8), stream)
        return
    text = codecs.getincrementaldecoder("utf-16")("replace")
    for chunk in _again(first, stream):
        yield text.decode(chunk).encode()
    yield text.decode(b"", final=True).encode()


def _again(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _zstd(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor, ZstdError
    else:
        from backports.zstd import ZstdDecompressor, ZstdError

    frame = ZstdDecompressor()
    begun = False
    for chunk in chunks:
        data = chunk
        while data:
            if frame.eof:
                frame = ZstdDecompressor()
            begun = True
            try:
                yield frame.decompress(data)
            except ZstdError as error:
                raise CorruptFile(name, f"it is not whole zstd: {error}") from error
            data = frame.unused_data if frame.eof else b""
    tail.cut = tail.cut or (begun and not frame.eof)


def _gzip(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    for chunk in chunks:
        data = chunk
        while data:
            if member.eof:
                member = zlib.decompressobj(wbits=31)
            try:
                yield member.decompress(data)
            except zlib.error as error:
                raise CorruptFile(name, f"it is not whole gzip: {error}") from error
            data = member.unused_data if member.eof else b""
    tail.cut = tail.cut or not member.eof


class _Blocks:
    """Exactly so many bytes at a time; fewer only where the stream ends."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._held = bytearray()

    def take(self, count: int) -> bytes:
        while len(self._held) < count and (more := next(self._chunks, b"")):
            self._held += more
        taken = bytes(self._held[:count])
        del self._held[:count]
        return taken


def _lz4(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    """`LZ4Block`, a token, the two lengths and a checksum, then the block; an empty one ends."""
    import cramjam

    blocks = _Blocks(chunks)
    while header := blocks.take(_LZ4_HEADER):
        if len(header) < _LZ4_HEADER:
            tail.cut = True
            return
        packed, length = (int.from_bytes(header[at : at + 4], "little") for at in (9, 13))
        if not header.startswith(_LZ4) or max(packed, length) > MOST_OF_A_BLOCK:
            raise CorruptFile(name, "a block of lz4 is damaged")
        content = blocks.take(packed)
        if len(content) < packed:
            tail.cut = True
            return
        if header[8] & 0xF0 == _LZ4_STORED or not length:
            yield content
            continue
        try:
            yield bytes(cramjam.lz4.decompress_block(content, output_len=length))
        except cramjam.DecompressionError as error:
            raise CorruptFile(name, f"a block of lz4 is damaged: {error}") from error


def _snappy(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    """A header, then blocks behind their lengths; a stream that was added to has more headers."""
    import cramjam

    blocks = _Blocks(chunks)
    blocks.take(_SNAPPY_HEADER)
    while mark := blocks.take(4):
        if mark == _SNAPPY[:4]:
            blocks.take(_SNAPPY_HEADER - 4)
            continue
        packed = int.from_bytes(mark, "big")
        if len(mark) == 4 and packed > MOST_OF_A_BLOCK:  # noqa: PLR2004 - an int of Java
            raise CorruptFile(name, "a block of snappy is damaged")
        content = blocks.take(packed)
        if len(mark) < 4 or len(content) < packed:  # noqa: PLR2004 - an int of Java
            tail.cut = True
            return
        try:
            yield bytes(cramjam.snappy.decompress_raw(content))
        except cramjam.DecompressionError as error:
            raise CorruptFile(name, f"a block of snappy is damaged: {error}") from error


def _lzf(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    """`ZV`, whether it is packed, its length and, packed, the length that it has unpacked."""
    blocks = _Blocks(chunks)
    while header := blocks.take(_LZF_HEADER):
        is_packed = header.startswith(_LZF_PACKED)
        size = blocks.take(2) if is_packed else header[3:]
        packed = int.from_bytes(header[3:], "big")
        known = is_packed or header.startswith(_LZF_STORED)
        content = blocks.take(packed) if known else b""
        if len(header) < _LZF_HEADER or (known and len(content) < packed):
            tail.cut = True
            return
        found = _unpacked(content) if is_packed else content
        if not known or found is None or len(found) != int.from_bytes(size, "big"):
            raise CorruptFile(name, "a chunk of lzf is damaged")
        yield found


def _unpacked(packed: bytes) -> bytes | None:
    """Runs of bytes as they are, and copies of what came before; None where it is damaged.

    Below 32 a byte says how many follow, less one. Else its upper three bits are how many are
    copied, less two, where 7 adds the next byte; the rest is from how far back, less one.
    """
    found, at = bytearray(), 0
    try:
        while at < len(packed):
            mark = packed[at]
            at += 1
            if mark < 32:  # noqa: PLR2004 - of five bits
                found += packed[at : at + mark + 1]
                at += mark + 1
                continue
            count = mark >> 5
            if count == 7:  # noqa: PLR2004 - of three bits
                count += packed[at]
                at += 1
            back = ((mark & 31) << 8 | packed[at]) + 1
            at += 1
            if back > len(found):
                return None
            run = found[-back:] if back <= count + 2 else found[-back : count + 2 - back]
            # A copy may reach into what it copies: it repeats.
            found += (run * ((count + 2) // back + 1))[: count + 2]
    except IndexError:
        return None
    return bytes(found)


_UNPACKED = {_ZSTD: _zstd, _GZIP: _gzip, _LZ4: _lz4, _SNAPPY: _snappy, _LZF: _lzf}


def lines(chunks: Iterable[bytes], tail: Tail) -> Iterator[bytes]:
    """The lines of a log without their ends; the last one too, though nothing ends it."""
    held: list[bytes] = []
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            yield b"".join((*held, line))
            held.clear()
        held.append(rest)
    last = b"".join(held)
    tail.open = bool(last)
    if last:
        yield last
