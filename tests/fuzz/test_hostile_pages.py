"""Pages, bloom filters and dictionaries of hostile files: an answer that loses no row, or a typed
error.
"""

from __future__ import annotations

import itertools

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import whyscan
from tables.by_hand import (
    BINARY,
    I32,
    I64,
    LIST,
    STRUCT,
    Decoder,
    encode_struct,
    footer_of,
    with_footer,
)
from whyscan.errors import CorruptFile
from whyscan.tables.parquet.bloom_filters import read_header
from whyscan.tables.parquet.thrift import MalformedThrift

ROWS = 80
OUTSIDE = (4, 5, 6, 7)  # The indexes of a chunk (parquet.thrift, ColumnChunk).
INSIDE = (2, 4, 11, 13, 14, 15)  # Encodings, codec, dictionary, bloom filter (ColumnMetaData).
CLAIMS = {
    "nothing": None,
    "0": (I64, 0),
    "-1": (I64, -1),
    "the first page": (I64, 4),
    "2 GiB": (I64, 1 << 31),
    "2^40": (I64, 1 << 40),
    "2^62": (I64, 1 << 62),
    "-2^63": (I64, -(1 << 63)),
    "bytes": (BINARY, b"x" * 9),
    "a list of bytes": (LIST, (BINARY, [b"a"])),
    "a list of structs": (LIST, (STRUCT, [{1: (I64, 2)}])),
    "a struct": (STRUCT, {1: (I64, 5)}),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "f.parquet"
    columns = {"a": [2 * (n % 20) for n in range(ROWS)], "s": [str(n % 7) for n in range(ROWS)]}
    fill = {"ndv": 20, "fpp": 0.01}
    pq.write_table(
        pa.table(columns),
        path,
        compression="zstd",
        row_group_size=ROWS // 2,
        write_page_index=True,
        max_rows_per_page=10,
        write_batch_size=1,
        bloom_filter_options={"a": fill, "s": fill},
    )
    return path.read_bytes()


def answer(folder, data: bytes, where: str):
    (folder / "f.parquet").write_bytes(data)
    return whyscan.open(folder).explain(where, depth="dictionary").to_dict()


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_footer_that_lies_about_pages_loses_no_row(tmp_path, whole, claim):
    """Both row groups have rows with `a = 4`."""
    kept = []
    for inside, field in itertools.chain(
        ((False, field) for field in OUTSIDE), ((True, field) for field in INSIDE)
    ):
        metadata = Decoder(footer_of(whole)).struct()
        for group in metadata[4][1][1]:
            for chunk in group[1][1][1]:
                fields = chunk[3][1] if inside else chunk
                fields.pop(field, None)
                if CLAIMS[claim] is not None:
                    fields[field] = CLAIMS[claim]
        try:
            report = answer(tmp_path, with_footer(whole, encode_struct(metadata)), "a = 4")
        except CorruptFile:
            continue
        kept.append(report["levels"][1]["kept"])
    assert kept
    assert set(kept) == {2}


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd", "lz4", "brotli"])
@pytest.mark.parametrize("field", ["inflated", "compressed", "count"])
def test_a_dictionary_that_claims_too_much_proves_nothing(tmp_path, codec, field):
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"a": [0, 2, 4, 6]}), path, compression=codec)
    data = path.read_bytes()
    begin = pq.read_metadata(path).row_group(0).column(0).dictionary_page_offset
    decoder = Decoder(data)
    decoder.at = begin
    header = decoder.struct()
    for claim in (-1, 1, 2, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 62):
        claimed = {number: value for number, value in header.items() if number != 7}
        page = dict(header[7][1])
        match field:
            case "inflated":
                claimed[2] = (I32, claim)
            case "compressed":
                claimed[3] = (I32, claim)
            case _:
                page[1] = (I32, claim)
        claimed[7] = (STRUCT, page)
        head = encode_struct(claimed)
        changed = data[:begin] + head + data[begin + len(head) :]
        report = answer(tmp_path, changed, "a = 4")
        assert report["levels"][1]["kept"] == 1
        assert "dictionary" in report["unchecked"][0]["why"], (claim, report["unchecked"])


@pytest.mark.parametrize("size", [0, -32, 31, 33, (1 << 31) - 1, -(1 << 31)])
def test_a_bloom_filter_of_no_whole_blocks_is_refused(size):
    kinds = {number: (STRUCT, {1: (STRUCT, {})}) for number in (2, 3, 4)}
    with pytest.raises(MalformedThrift, match="without blocks"):
        read_header(encode_struct({1: (I32, size), **kinds}))
