"""Damaged footers: a typed error that names the file, or unknown statistics; never a crash."""

from __future__ import annotations

import random
import struct
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tables.by_hand import footer_of, patch, with_footer
from whyscan.errors import CorruptFile, TableError
from whyscan.tables import open_snapshot
from whyscan.tables.parquet.metadata import Decoder
from whyscan.tables.parquet.thrift import MalformedThrift, ThriftReader
from whyscan.tree.nodes import Column
from whyscan.tree.types import BIGINT, STRING

TABLE = pa.table(
    {
        "i": pa.array(range(40)),
        "s": pa.array([f"text {i}" * (i % 7) for i in range(40)]),
        "d": pa.array([i / 3 for i in range(40)]),
        "n": pa.array([None] * 40, pa.int32()),
        "m": pa.array([Decimal(i) for i in range(40)], pa.decimal128(38, 2)),
        "t": pa.array(range(40)).cast(pa.timestamp("us")),
        "a": pa.array([{"b": i, "l": [i]} for i in range(40)]),
    }
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "f.parquet"
    pq.write_table(TABLE, path, row_group_size=10)
    return path.read_bytes()


def mutants(footer: bytes, count: int):
    dice = random.Random(7)  # the same mutants everywhere
    for _ in range(count):
        mutant = bytearray(footer)
        for _ in range(dice.randint(1, 3)):
            at = dice.randrange(len(mutant))
            match dice.randrange(5):
                case 0:
                    mutant[at] ^= 1 << dice.randrange(8)
                case 1:
                    mutant[at] = dice.choice([0, 0x7F, 0x80, 0xFF])
                case 2:
                    del mutant[at : at + dice.randint(1, 20)]
                case 3:
                    mutant[at:at] = dice.randbytes(dice.randint(1, 10))
                case 4:
                    mutant[at : at + 5] = b"\xff\xff\xff\xff\x0f"
        yield bytes(mutant)


def test_a_damaged_footer_is_a_typed_error_or_less_known(tmp_path, whole):
    path = tmp_path / "f.parquet"
    columns = [Column(("i",), BIGINT), Column(("s",), STRING), Column(("a", "b"), BIGINT)]
    refused = []
    for mutant in mutants(footer_of(whole), 300):
        path.write_bytes(with_footer(whole, mutant))
        try:
            snapshot = open_snapshot([str(tmp_path)], {}, {})
            snapshot.schema()
            snapshot.row_groups(snapshot.files(columns), pa.array([0]), columns, None)
        except TableError as error:
            refused.append(str(error))

    assert len(refused) > 100
    assert [message for message in refused if str(path) not in message] == []


def decoded(decoder: Decoder, footer: bytes, selected):
    try:
        return decoder.decode(footer, selected)
    except (MalformedThrift, UnicodeDecodeError) as error:
        return type(error)


@pytest.mark.parametrize("selected", [None, [0], [1, 4]])
def test_a_decoder_that_has_learned_reads_what_a_new_one_reads(whole, selected):
    footer = footer_of(whole)
    learned = Decoder()
    for _ in range(40):
        learned.decode(footer, selected)
    assert all(shape.patterns for shape in learned.layouts[0].patterns.columns)

    for mutant in (footer, *mutants(footer, 300)):
        learned.layouts[:] = learned.layouts[-1:]
        assert decoded(learned, mutant, selected) == decoded(Decoder(), mutant, selected)


def broken(whole: bytes) -> dict[str, tuple[bytes, str]]:
    length = max(len(footer_of(whole)), 1)
    head = whole[:-8]
    return {
        "cut off": (whole[:-1], "no Parquet file"),
        "text": (b"hello, this is plain text", "no Parquet file"),
        "too short": (b"PAR1PAR1", "8 bytes are no Parquet file"),
        "longer than the file": (
            head + struct.pack("<I", len(whole)) + b"PAR1",
            "declares a footer",
        ),
        "as long as can be": (head + b"\xff\xff\xff\xffPAR1", "declares a footer of 4294967295"),
        "empty": (b"PAR1" + bytes(4) + b"PAR1", "damaged"),
        "one byte less": (head + struct.pack("<I", length - 1) + b"PAR1", "damaged"),
        "encrypted": (whole[:-4] + b"PARE", "encrypted"),
    }


@pytest.mark.parametrize("name", broken(b"PAR1" + bytes(20) + bytes(4) + b"PAR1"))
def test_a_file_that_is_none_says_why(tmp_path, whole, name):
    data, why = broken(whole)[name]
    path = tmp_path / "f.parquet"
    path.write_bytes(data)

    with pytest.raises(CorruptFile, match=why) as raised:
        open_snapshot([str(tmp_path)], {}, {}).schema()

    assert raised.value.path == str(path)


def test_a_column_name_that_is_not_unicode_is_refused(tmp_path):
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"x": [1]}), path)

    def rename(metadata):
        metadata[2][1][1][1][4] = (8, b"\xff")

    patch(path, rename)

    with pytest.raises(CorruptFile, match="not UTF-8"):
        open_snapshot([str(tmp_path)], {}, {}).schema()


# The types on the wire: 1 is TRUE, 6 a number.
@pytest.mark.parametrize("rows", [(6, -1), (1, True)], ids=["negative", "a boolean"])
def test_a_row_count_that_is_none_is_refused(tmp_path, rows):
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"x": [1]}), path)

    def lie(metadata):
        metadata[4][1][1][0][3] = rows

    patch(path, lie)
    snapshot = open_snapshot([str(tmp_path)], {}, {})

    with pytest.raises(CorruptFile, match="how many rows"):
        snapshot.row_groups(snapshot.files([]), pa.array([0]), [], None)


@pytest.mark.parametrize(
    "data",
    [
        b"\x19\xfc\xff\xff\xff\xff\x0f",  # a list of 2^32 structs in seven bytes
        b"\x18\xff\xff\xff\xff\x0f",  # a string of that length
        b"\x1c" * 200,  # structs in structs without end
        b"\x16" + b"\xff" * 12,  # a number of more than 64 bits
        b"\x1b\x00",  # a map
        b"",
    ],
)
def test_lengths_are_checked_before_they_are_believed(data):
    with pytest.raises(MalformedThrift):
        ThriftReader(data).struct()


def test_one_bad_file_need_not_stop_a_plan_that_does_not_open_it(tmp_path, whole):
    for at in range(3):
        (tmp_path / f"k={at}").mkdir()
        (tmp_path / f"k={at}" / "f.parquet").write_bytes(whole if at else whole[:-1])
    snapshot = open_snapshot([str(tmp_path)], {}, {})
    files = snapshot.files([])

    assert "k" in snapshot.schema().names()
    assert snapshot.row_groups(files, pa.array([1, 2]), [], None).count == 8
    with pytest.raises(CorruptFile, match="k=0"):
        snapshot.row_groups(files, pa.array([0, 1]), [], None)
