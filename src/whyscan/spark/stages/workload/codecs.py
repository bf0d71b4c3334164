"""Decompress logs to UTF-8 bytes; a log that is cut off gives its whole part and sets `Tail.cut`.

| compression | first bytes |
|---|---|
| zstd, also several frames in a row | 28 B5 2F FD |
| Spark's lz4: blocks, not frames | `LZ4Block` |
| Spark's snappy: blocks behind a header | 82 `SNAPPY` 00 |
| lzf, which is refused | `ZV` 00 or `ZV` 01 |
| gzip, also several members in a row | 1F 8B |
| bzip2 | `BZh` |
| xz | FD `7zXZ` 00 |

A log is decompressed in pieces and read line by line: memory follows the longest line.
"""

from __future__ import annotations

import codecs
import re
import sys
import zlib
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

from whyscan.errors import CorruptFile, WhyscanError
from whyscan.tables import budget
from whyscan.tables.sizes import show_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_LINE = re.compile(rb"[^\n]+")
_ZSTD = b"\x28\xb5\x2f\xfd"
_GZIP = b"\x1f\x8b"
_BZIP2 = b"BZh"
_XZ = b"\xfd7zXZ\x00"
_LZ4 = b"LZ4Block"
_LZ4_HEADER = 21
_LZ4_UNCOMPRESSED = 0x10
_SNAPPY = b"\x82SNAPPY\x00"
_SNAPPY_HEADER = 16
_LZF = b"ZV\x00", b"ZV\x01"
MOST_OF_A_BLOCK = 1 << 26
"""The most bytes of a block: Spark's blocks have 32 or 64 kB, so a larger length is damage."""
PIECE = 1 << 20
"""The most bytes that are decompressed at once."""
INFLATION = 1_000
"""The largest ratio of decompressed to compressed bytes, for logs that do not fit into memory.

It limits the time by the size of the file. Logs with many repetitions reach a few hundred."""


class UnsupportedCodec(WhyscanError):
    """A log is compressed with a codec that whyscan does not read; the message names the codec."""


class Tail(Struct):
    """How a log ends.

    `cut`: its last block or frame is incomplete. `open`: its last line has no line break; the
    parser of that line decides whether it is complete.
    """

    cut: bool = False
    open: bool = False


def plain(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    """The decompressed bytes; the first bytes show the compression."""
    stream = _Counted(chunks)
    first = b""
    while len(first) < _LZ4_HEADER and (more := next(stream, b"")):
        first += more
    packed = _with_first(first, stream)
    unpack = next((unpack for mark, unpack in _UNPACKED.items() if first.startswith(mark)), None)
    if unpack is None:
        return _utf_8(packed)
    return _utf_8(_within_ratio(unpack(packed, tail, name), stream, name))


class _Counted:
    """An iterator of chunks that counts their bytes."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self.bytes_taken = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        chunk = next(self._chunks)
        self.bytes_taken += len(chunk)
        return chunk


def _within_ratio(pieces: Iterable[bytes], packed: _Counted, name: str) -> Iterator[bytes]:
    """The decompressed bytes; an error if there are too many for the compressed bytes."""
    size, least = 0, longest_document()
    for piece in pieces:
        size += len(piece)
        if size > max(least, INFLATION * packed.bytes_taken):
            raise CorruptFile(
                name,
                f"it unpacks to more than {INFLATION:,} times its size: what is behind the first "
                f"{show_size(size)} was left",
                hint="unpack a log that can be trusted first",
            )
        yield piece


def _utf_8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The text in UTF-8 without a byte order mark; UTF-16 is converted."""
    stream = iter(chunks)
    first = b""
    while len(first) < len(codecs.BOM_UTF8) and (more := next(stream, b"")):
        first += more
    if not first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield from _with_first(first.removeprefix(codecs.BOM_UTF8), stream)
        return
    text = codecs.getincrementaldecoder("utf-16")("replace")
    for chunk in _with_first(first, stream):
        yield text.decode(chunk).encode()
    yield text.decode(b"", final=True).encode()


def _with_first(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


class _Decompressor(Protocol):
    """The common interface of the zstd, bzip2 and xz decompressors."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /, max_length: int = -1) -> bytes: ...


def _frames(
    chunks: Iterable[bytes], tail: Tail, name: str, kind: str, start: Callable[[], _Decompressor]
) -> Iterator[bytes]:
    """The content of consecutive frames, decompressed in pieces."""
    frame, begun = start(), False
    for chunk in chunks:
        data = chunk
        while data or not frame.needs_input:
            begun = True
            try:
                piece = frame.decompress(data, PIECE)
            except Exception as error:  # each codec raises a class of its own
                raise CorruptFile(name, f"it is not whole {kind}: {error}") from error
            yield piece
            data = b""
            if frame.eof:
                data, frame, begun = frame.unused_data, start(), False
    tail.cut = tail.cut or begun


def _zstd(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdDecompressor
    else:
        from backports.zstd import ZstdDecompressor

    return _frames(chunks, tail, name, "zstd", ZstdDecompressor)


def _bzip2(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    from bz2 import BZ2Decompressor

    return _frames(chunks, tail, name, "bzip2", BZ2Decompressor)


def _xz(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    from lzma import FORMAT_XZ, LZMADecompressor

    def start() -> _Decompressor:
        return LZMADecompressor(FORMAT_XZ, memlimit=longest_document())

    return _frames(chunks, tail, name, "xz", start)


def _gzip(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    try:
        for chunk in chunks:
            data = chunk
            while data:
                if member.eof:
                    member = zlib.decompressobj(wbits=31)
                yield member.decompress(data, PIECE)
                data = member.unused_data if member.eof else member.unconsumed_tail
        while piece := b"" if member.eof else member.decompress(b"", PIECE):
            yield piece
    except zlib.error as error:
        raise CorruptFile(name, f"it is not whole gzip: {error}") from error
    tail.cut = tail.cut or not member.eof


class _Blocks:
    """Reads an exact number of bytes from chunks; fewer only at the end."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._buffer = bytearray()

    def take(self, count: int) -> bytes:
        while len(self._buffer) < count and (more := next(self._chunks, b"")):
            self._buffer += more
        block = bytes(self._buffer[:count])
        del self._buffer[:count]
        return block


def _lz4(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    """Blocks of `LZ4Block`, a token, two lengths, a checksum and the content; the last is empty."""
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
        if header[8] & 0xF0 == _LZ4_UNCOMPRESSED or not length:
            yield content
            continue
        try:
            yield bytes(cramjam.lz4.decompress_block(content, output_len=length))
        except cramjam.DecompressionError as error:
            raise CorruptFile(name, f"a block of lz4 is damaged: {error}") from error


def _snappy(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:
    """A header, then blocks with their length first; an appended stream has further headers."""
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
            if cramjam.snappy.decompress_raw_len(content) > MOST_OF_A_BLOCK:
                raise CorruptFile(name, "a block of snappy is damaged: it claims too many bytes")
            yield bytes(cramjam.snappy.decompress_raw(content))
        except cramjam.DecompressionError as error:
            raise CorruptFile(name, f"a block of snappy is damaged: {error}") from error


def _lzf(chunks: Iterable[bytes], tail: Tail, name: str) -> Iterator[bytes]:  # noqa: ARG001 - as the others
    raise UnsupportedCodec(
        f"cannot read {name}: it is compressed with lzf",
        hint="spark.io.compression.codec of the logs may be zstd, lz4 or snappy",
    )


_UNPACKED = {
    _ZSTD: _zstd,
    _GZIP: _gzip,
    _BZIP2: _bzip2,
    _XZ: _xz,
    _LZ4: _lz4,
    _SNAPPY: _snappy,
    **dict.fromkeys(_LZF, _lzf),
}


class LogLine(NamedTuple):
    """A line of a log without its line break. `content` is None if the line is too long."""

    number: int
    content: bytes | None


def lines(chunks: Iterable[bytes], tail: Tail) -> Iterator[LogLine]:
    """The lines of a log that are not empty; also a last line without a line break."""
    parts: list[bytes] = []
    number, size, longest = 1, 0, longest_line()
    for chunk in chunks:
        behind = 0
        for piece in _LINE.finditer(chunk):
            start, end = piece.span()
            if start > behind:
                if size:
                    yield LogLine(number, None if size > longest else b"".join(parts))
                number += start - behind
                parts, size = [], 0
            size += end - start
            parts = [] if size > longest else [*parts, piece[0]]
            behind = end
        if behind < len(chunk):
            if size:
                yield LogLine(number, None if size > longest else b"".join(parts))
            number += len(chunk) - behind
            parts, size = [], 0
    tail.open = bool(size)
    if size:
        yield LogLine(number, None if size > longest else b"".join(parts))


def longest_line() -> int:
    """The most bytes of one line."""
    return budget.limit() // 16


def longest_document() -> int:
    """The most bytes of a log that is read as one text: decoding takes several times as many."""
    return budget.limit() // 4


def too_long(subject: str = "the line") -> str:
    """The reason for a skipped line."""
    return f"{subject} is longer than {show_size(longest_line())}, and was skipped"


def whole(chunks: Iterable[bytes], name: str) -> bytes:
    """All bytes of a log that is one document; TooLarge if there are too many."""
    return b"".join(budget.bounded(chunks, longest_document(), name))
