"""Names of transforms in table metadata."""

import pytest

from whyscan.errors import TableError
from whyscan.pruning.transforms import (
    Bucket,
    Day,
    Hour,
    IdentityTransform,
    Month,
    Truncate,
    Unknown,
    Void,
    Year,
    parse_transform,
    result_type,
)
from whyscan.tree.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    UUID,
    DecimalType,
    OtherType,
)

NAMES = {
    "identity": IdentityTransform(),
    "year": Year(),
    "month": Month(),
    "day": Day(),
    "hour": Hour(),
    "bucket[16]": Bucket(16),
    "truncate[4]": Truncate(4),
    "void": Void(),
    "zorder[3]": Unknown("zorder[3]"),
    "bucketV2[16]": Unknown("bucketV2[16]"),
    "": Unknown(""),
}


@pytest.mark.parametrize("text", NAMES)
def test_a_name_is_read_and_written_back(text):
    assert parse_transform(text) == NAMES[text]
    assert str(parse_transform(text)) == text


def test_the_case_of_a_known_name_does_not_matter():
    assert parse_transform("Truncate[10]") == Truncate(10)


@pytest.mark.parametrize(
    "text",
    [
        "bucket",
        "bucket[]",
        "bucket[0]",
        "bucket[-1]",
        "truncate[x]",
        "truncate[1.5]",
        "truncate[4",
        "bucket[4]]",
        "bucket[2147483648]",
        "truncate[" + "9" * 5_000 + "]",
        "truncate[٣]",
    ],
)
def test_a_malformed_width_is_an_error_that_names_it(text):
    with pytest.raises(TableError) as caught:
        parse_transform(text)

    assert text in caught.value.message
    assert "from 1 to 2147483647" in caught.value.hint


@pytest.mark.parametrize(
    ("transform", "source", "expected"),
    [
        (IdentityTransform(), UUID, UUID),
        (Year(), TIMESTAMP, INT),
        (Month(), DATE, INT),
        (Day(), TIMESTAMP, DATE),
        (Hour(), TIMESTAMP, INT),
        (Truncate(5), DecimalType(9, 2), DecimalType(9, 2)),
        (Truncate(5), BINARY, BINARY),
        (Bucket(8), STRING, INT),
        (Void(), DOUBLE, DOUBLE),
        (Unknown("x"), BIGINT, OtherType("x")),
    ],
)
def test_the_type_of_partition_values(transform, source, expected):
    assert result_type(transform, source) == expected


@pytest.mark.parametrize(
    ("transform", "source"), [(Hour(), DATE), (Year(), STRING), (Truncate(3), DOUBLE)]
)
def test_a_transform_of_a_type_it_is_not_defined_on_is_an_error(transform, source):
    with pytest.raises(TableError, match="cannot be partitioned by"):
        result_type(transform, source)
