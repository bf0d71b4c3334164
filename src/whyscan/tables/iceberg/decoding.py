"""Decodes Avro records to Arrow columns, with the faster one of two decoders.

DataFusion decodes a hundred thousand entries in a third of a second, and importing it takes as
long. fastavro is faster for a few small files, and reads files that DataFusion rejects.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from msgspec import Struct, field

from whyscan.errors import CorruptFile
from whyscan.tables import budget
from whyscan.tables.avro.containers import Block, joined, overcounted
from whyscan.tables.iceberg.avro_schemas import last_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from whyscan.tables.avro.containers import Container
    from whyscan.tables.iceberg.avro_schemas import RecordLayout

SMALL = 1 << 20
"""Up to this many bytes fastavro is faster than importing DataFusion."""

SMALL_FOR_IMPORTED = 1 << 16
"""Up to this many bytes fastavro is faster than DataFusion that is already imported."""

FULL = 1 << 22
"""The bytes of one batch, so that memory does not grow with the table."""

_AT_ONCE = 2
"""How many batches are decoded in parallel: DataFusion uses one core for each."""

_LARGE = 4 * FULL
"""A larger batch is a single large block of its writer. It is decoded alone."""


def anticipate(size: int) -> None:
    """Start to import DataFusion in a thread if decoding `size` bytes will need it."""
    if size > SMALL and "datafusion" not in sys.modules:
        Thread(target=import_module, args=("datafusion",)).start()


class AvroBatch(Struct):
    """Blocks of several Avro files that have the same layout; they are decoded together.

    `columns` are the columns to decode; a column that the layout lacks is null. `positions` has the
    position of each file in the list of files that are read, and `counts` the number of its records
    in this batch.
    """

    layout: RecordLayout
    columns: Columns
    path: str = ""
    positions: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    size: int = 0

    @property
    def is_full(self) -> bool:
        return self.size >= FULL

    def add(self, position: int, container: Container, block: Block) -> None:
        if block.count * self.layout.least_bytes > len(block.data):
            raise overcounted(container.path, block.count, len(block.data))
        self.path = self.path or container.path
        if not self.positions or self.positions[-1] != position:
            self.positions.append(position)
            self.counts.append(0)
        self.counts[-1] += block.count
        self.blocks.append(block)
        self.size += len(block.data)

    def decoded(self, decoder: DecodeWith) -> pa.Table:
        count = sum(self.counts)
        present = {n: kind for n, kind in self.columns.items() if n in self.layout.columns}
        arrays: dict[str, pa.Array] = {}
        if count and present:
            arrays = _Records(self.path, self.layout, self.blocks).decoded(present, decoder)
        columns = {
            n: arrays[n] if n in arrays else pa.nulls(count, k) for n, k in self.columns.items()
        }
        return pa.table(columns)


NO_RECORDS = Block(0, b"")


def batches_of(layout: RecordLayout, columns: Columns, container: Container) -> Iterator[AvroBatch]:
    """One container in batches, which limit the bytes that are decoded at a time."""
    batch = AvroBatch(layout, columns)
    batch.add(0, container, NO_RECORDS)
    for block in container.blocks():
        batch.add(0, container, block)
        if batch.is_full:
            yield batch
            batch = AvroBatch(layout, columns)
    if batch.positions:
        yield batch


class DecodedSizes(Struct):
    """The memory of each container's records, checked against the limit."""

    sizes: dict[int, int] = field(default_factory=dict)

    def add(self, batch: AvroBatch, records: pa.Table) -> None:
        # Only the last container of a batch may continue in the next batch.
        last = batch.positions[-1]
        self.sizes[last] = self.sizes.get(last, 0) + records.nbytes
        budget.check(_COPIES * self.sizes[last], batch.path, "its records take")


_COPIES = 2
"""Decoded records are in memory while the plan is made from them."""


def decoded(batches: Iterable[AvroBatch]) -> Iterator[tuple[AvroBatch, pa.Table]]:
    """Each batch with its records, in order.

    Decoding runs parallel to reading and inflating: both release the interpreter's lock.
    """
    spent = 0
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        pending: deque[tuple[AvroBatch, Future[pa.Table]]] = deque()
        for batch in batches:
            # Many small batches are as slow as a large one.
            spent += batch.size
            if batch.size > _LARGE:
                while pending:
                    yield _awaited(pending)
            small = SMALL_FOR_IMPORTED if "datafusion" in sys.modules else SMALL
            decoder = _with_fastavro if spent <= small else _with_datafusion
            pending.append((batch, pool.submit(batch.decoded, decoder)))
            if len(pending) > _AT_ONCE or batch.size > _LARGE:
                yield _awaited(pending)
        while pending:
            yield _awaited(pending)


def _awaited(pending: deque[tuple[AvroBatch, Future[pa.Table]]]) -> tuple[AvroBatch, pa.Table]:
    batch, coming = pending.popleft()
    return batch, coming.result()


class _Records(Struct, frozen=True):
    """Records of one layout in blocks; `path` is for error messages.

    Decoders ignore bytes after the last record. So we append a record with a known value: it is
    decoded correctly only if the other records end where their blocks do.
    """

    path: str
    layout: RecordLayout
    blocks: Sequence[Block]

    def decoded(self, columns: Columns, decoder: DecodeWith) -> dict[str, pa.Array]:
        marker = last_record(self.layout)
        blocks = [*self.blocks, Block(1, marker.data)]
        container = Joined(
            self.path, sum(block.count for block in blocks), joined(self.layout.schema, blocks)
        )
        decoded_columns = {marker.field: pa.int64(), **columns}
        try:
            arrays = decoder(container, decoded_columns)
        except _Refused:
            arrays = _with_fastavro(container, decoded_columns)
        marks = arrays[marker.field]
        if len(marks) != container.count or marks[-1].as_py() != marker.value:
            raise CorruptFile(self.path, "its records do not end where its blocks do")
        return {name: arrays[name].slice(0, container.count - 1) for name in columns}


class Joined(Struct, frozen=True):
    """One container in byte parts, with the number of its records."""

    path: str
    count: int
    parts: Sequence[bytes]


Columns: TypeAlias = "Mapping[str, pa.DataType]"
DecodeWith: TypeAlias = "Callable[[Joined, Columns], dict[str, pa.Array]]"


class _Refused(Exception):
    """DataFusion cannot read the file. fastavro reads it, or reports the error."""


def _with_datafusion(container: Joined, columns: Columns) -> dict[str, pa.Array]:
    """Decode with DataFusion, limited to one batch with the counted records.

    Without the limit DataFusion would never end on a block with bytes after its records.
    """
    import datafusion

    # With one partition the records keep their order.
    config = datafusion.SessionConfig().with_target_partitions(1).with_batch_size(container.count)
    with tempfile.TemporaryDirectory(prefix="whyscan-") as folder:
        place = Path(folder, "records.avro")
        with place.open("wb") as file:
            file.writelines(container.parts)
        try:
            frame = datafusion.SessionContext(config).read_avro(str(place))
            chosen = frame.select(*(datafusion.col(f'"{n}"') for n in columns))
            table = chosen.limit(container.count).to_arrow_table()
        # A panic in Rust arrives as a BaseException of no public type.
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
                raise
            raise _Refused from None
    try:
        return {n: one_array(table[n]).cast(kind) for n, kind in columns.items()}
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise _of_wrong_types(container.path, error) from None


def _with_fastavro(container: Joined, columns: Columns) -> dict[str, pa.Array]:
    import fastavro

    path = container.path
    try:
        records: list[Any] = list(fastavro.reader(io.BytesIO(b"".join(container.parts))))
    # Damaged bytes may raise any exception in the decoder.
    except Exception as error:  # noqa: BLE001
        raise CorruptFile(path, f"its records cannot be read: {error!r}") from None
    try:
        return {n: pa.array([r[n] for r in records], kind) for n, kind in columns.items()}
    except (ValueError, OverflowError, TypeError, AttributeError) as error:
        raise _of_wrong_types(path, error) from None


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array, without a copy if it has a single chunk."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _of_wrong_types(path: str, error: Exception) -> CorruptFile:
    return CorruptFile(path, f"its records are of the wrong types: {error}")
