"""Avro records to Arrow columns, by whichever decoder is the quicker one.

DataFusion decodes a hundred thousand entries in a third of a second and takes as long to be
imported; fastavro is done before that with a few small files, and reads what DataFusion refuses.
"""

from __future__ import annotations

import io
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from whyscan.errors import CorruptFile
from whyscan.tables.iceberg.avro import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from whyscan.tables.iceberg.avro import Block, Container
    from whyscan.tables.iceberg.layouts import Layout

SMALL = 1 << 20
"""Up to so many bytes fastavro is done before DataFusion is imported."""

SMALL_FOR_IMPORTED = 1 << 16
"""Up to so many it is done before DataFusion, already imported, has begun."""

BATCH = 1 << 26
"""How many bytes are decoded at once, so that memory does not follow the table."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Records of some containers: `counts` says how many each of them has, in order."""

    containers: Sequence[Container]
    counts: Sequence[int]
    table: pa.Table


def decode(
    containers: Iterable[Container], layout: Layout, columns: Mapping[str, pa.DataType]
) -> Iterator[Decoded]:
    """The columns of all records, a batch at a time; a column that is not there is null.

    The containers must be of one layout.
    """
    for batch in _batches(containers):
        blocks = [block for _, some in batch for block in some]
        counts = [sum(block.count for block in some) for _, some in batch]
        path = batch[0][0].path
        try:
            table = _table(path, blocks, layout, columns)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
            raise CorruptFile(path, f"its records are of the wrong types: {error}") from None
        if len(table) != sum(counts):
            raise CorruptFile(path, f"it holds {len(table)} records and counts {sum(counts)}")
        yield Decoded([container for container, _ in batch], counts, table)


def _batches(containers: Iterable[Container]) -> Iterator[list[tuple[Container, list[Block]]]]:
    batch: list[tuple[Container, list[Block]]] = []
    size = 0
    for container in containers:
        blocks = list(container.blocks())
        batch.append((container, blocks))
        size += sum(len(block.data) for block in blocks)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _table(
    path: str, blocks: Sequence[Block], layout: Layout, columns: Mapping[str, pa.DataType]
) -> pa.Table:
    present = {name: kind for name, kind in columns.items() if name in layout.columns}
    if not any(block.count for block in blocks) or not present:
        count = sum(block.count for block in blocks)
        return pa.table({name: pa.nulls(count, kind) for name, kind in columns.items()})
    data = joined(layout.schema, blocks)
    small = SMALL_FOR_IMPORTED if "datafusion" in sys.modules else SMALL
    try:
        found = None if len(data) <= small else _with_datafusion(data, present)
    except _Refused:
        found = None
    if found is None:
        found = _with_fastavro(path, data, present)
    return pa.table(
        {
            name: found[name] if name in found else pa.nulls(len(found[next(iter(found))]), kind)
            for name, kind in columns.items()
        }
    )


class _Refused(Exception):
    """DataFusion cannot read it; fastavro may, or says what is wrong."""


def _with_datafusion(data: bytes, columns: Mapping[str, pa.DataType]) -> dict[str, pa.Array]:
    import datafusion

    with tempfile.TemporaryDirectory(prefix="whyscan-") as folder:
        place = Path(folder, "records.avro")
        place.write_bytes(data)
        try:
            frame = datafusion.SessionContext(_in_order(datafusion)).read_avro(str(place))
            table = frame.select(*(datafusion.col(f'"{n}"') for n in columns)).to_arrow_table()
        # A panic in Rust arrives as a BaseException of no public type.
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
                raise
            raise _Refused from None
    return {n: table[n].combine_chunks().cast(kind) for n, kind in columns.items()}


def _in_order(datafusion: Any) -> Any:
    """One partition: the records come as they are written."""
    return datafusion.SessionConfig().with_target_partitions(1)


def _with_fastavro(
    path: str, data: bytes, columns: Mapping[str, pa.DataType]
) -> dict[str, pa.Array]:
    import fastavro

    try:
        records: list[Any] = list(fastavro.reader(io.BytesIO(data)))
    # Damaged bytes surface as whatever the decoder stumbles over first.
    except Exception as error:  # noqa: BLE001
        raise CorruptFile(path, f"its records cannot be read: {error!r}") from None
    try:
        return {n: pa.array([r[n] for r in records], kind) for n, kind in columns.items()}
    except (OverflowError, TypeError, UnicodeError, AttributeError) as error:
        raise CorruptFile(path, f"its records are of the wrong types: {error}") from None
