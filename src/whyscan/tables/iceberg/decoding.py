"""Avro records to Arrow columns, by whichever decoder is the quicker one.

DataFusion decodes a hundred thousand entries in a third of a second and takes as long to be
imported; fastavro is done before that with a few small files, and reads what DataFusion refuses.
"""

from __future__ import annotations

import io
import sys
import tempfile
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from whyscan.errors import CorruptFile
from whyscan.tables.iceberg.avro import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Future

    from whyscan.tables.iceberg.avro import Block, Container
    from whyscan.tables.iceberg.layouts import Layout

SMALL = 1 << 20
"""Up to so many bytes fastavro is done before DataFusion is imported."""

SMALL_FOR_IMPORTED = 1 << 16
"""Up to so many it is done before DataFusion, already imported, has begun."""

BATCH = 1 << 22
"""How many bytes are decoded at once, so that memory does not follow the table."""


def anticipate(size: int) -> None:
    """Begin to import DataFusion while so many bytes are read, if they will take it."""
    if size > SMALL and "datafusion" not in sys.modules:
        Thread(target=import_module, args=("datafusion",)).start()


@dataclass(frozen=True, slots=True)
class Decoded:
    """Records of some containers: `counts` says how many each of them has, in order."""

    containers: Sequence[Container]
    counts: Sequence[int]
    table: pa.Table


@dataclass(slots=True)
class _Spent:
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Decoder:
    """Decodes some columns of containers; a column that is not there is null.

    `spent` is what was decoded so far: what is small many times is not small.
    """

    columns: Columns
    spent: _Spent = field(default_factory=_Spent)

    def also(self, columns: Columns) -> Decoder:
        """The same, with more columns."""
        return Decoder({**self.columns, **columns}, self.spent)

    def decode(self, containers: Iterable[Container], layout: Layout) -> Iterator[Decoded]:
        """The records of containers of one layout, a batch at a time.

        One batch is decoded while the next is inflated: both leave the interpreter alone.
        """
        with ThreadPoolExecutor(1) as pool:
            pending: deque[Future[Decoded]] = deque()
            for batch in _batches(containers):
                self.spent.bytes += batch.size
                small = SMALL_FOR_IMPORTED if "datafusion" in sys.modules else SMALL
                decoder = _with_fastavro if self.spent.bytes <= small else _with_datafusion
                pending.append(pool.submit(batch.decoded, layout, self.columns, decoder))
                if len(pending) > 1:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()


@dataclass(slots=True)
class _Batch:
    """Containers with their blocks inflated."""

    containers: list[Container] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    size: int = 0

    def add(self, container: Container) -> None:
        blocks = list(container.blocks())
        self.containers.append(container)
        self.counts.append(sum(block.count for block in blocks))
        self.blocks += blocks
        self.size += sum(len(block.data) for block in blocks)

    def decoded(self, layout: Layout, columns: Columns, decoder: DecodeWith) -> Decoded:
        count, path = sum(self.counts), self.containers[0].path
        present = {name: kind for name, kind in columns.items() if name in layout.columns}
        found: dict[str, pa.Array] = {}
        if count and present:
            data = joined(layout.schema, self.blocks)
            try:
                found = decoder(path, data, present)
            except _Refused:
                found = _with_fastavro(path, data, present)
            if (read := len(next(iter(found.values())))) != count:
                raise CorruptFile(path, f"it holds {read} records and counts {count}")
        whole = {n: found[n] if n in found else pa.nulls(count, k) for n, k in columns.items()}
        return Decoded(self.containers, self.counts, pa.table(whole))


def _batches(containers: Iterable[Container]) -> Iterator[_Batch]:
    batch = _Batch()
    for container in containers:
        batch.add(container)
        if batch.size >= BATCH:
            yield batch
            batch = _Batch()
    if batch.containers:
        yield batch


Columns: TypeAlias = "Mapping[str, pa.DataType]"
DecodeWith: TypeAlias = "Callable[[str, Sequence[bytes], Columns], dict[str, pa.Array]]"


class _Refused(Exception):
    """DataFusion cannot read it; fastavro may, or says what is wrong."""


def _with_datafusion(path: str, data: Sequence[bytes], columns: Columns) -> dict[str, pa.Array]:
    import datafusion

    # One partition: the records come as they are written. One batch: nothing is to be joined.
    config = datafusion.SessionConfig().with_target_partitions(1).with_batch_size(BATCH)
    with tempfile.TemporaryDirectory(prefix="whyscan-") as folder:
        place = Path(folder, "records.avro")
        with place.open("wb") as file:
            file.writelines(data)
        try:
            frame = datafusion.SessionContext(config).read_avro(str(place))
            table = frame.select(*(datafusion.col(f'"{n}"') for n in columns)).to_arrow_table()
        # A panic in Rust arrives as a BaseException of no public type.
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
                raise
            raise _Refused from None
    try:
        return {n: whole(table[n]).cast(kind) for n, kind in columns.items()}
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise _of_wrong_types(path, error) from None


def _with_fastavro(path: str, data: Sequence[bytes], columns: Columns) -> dict[str, pa.Array]:
    import fastavro

    try:
        records: list[Any] = list(fastavro.reader(io.BytesIO(b"".join(data))))
    # Damaged bytes surface as whatever the decoder stumbles over first.
    except Exception as error:  # noqa: BLE001
        raise CorruptFile(path, f"its records cannot be read: {error!r}") from None
    try:
        return {n: pa.array([r[n] for r in records], kind) for n, kind in columns.items()}
    except (ValueError, OverflowError, TypeError, AttributeError) as error:
        raise _of_wrong_types(path, error) from None


def whole(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array; Arrow would copy even a single chunk."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _of_wrong_types(path: str, error: Exception) -> CorruptFile:
    return CorruptFile(path, f"its records are of the wrong types: {error}")
