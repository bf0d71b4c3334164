"""Partition transforms: from a partition value to the interval of its source column.

`preimage` maps a partition value to bounds of the source, and `partition_interval` adds NULL.
`forward` maps values of the source to partition values. `in_bucket` uses it for buckets and
substrings, which have no preimage.
"""

from whyscan.pruning.transforms.buckets import in_bucket
from whyscan.pruning.transforms.forward import forward
from whyscan.pruning.transforms.preimage import (
    exactness,
    of_partition_values,
    partition_interval,
    preimage,
)
from whyscan.pruning.transforms.system_functions import is_transform, transform_interval
from whyscan.pruning.transforms.transform import (
    Bucket,
    Day,
    Hour,
    IdentityTransform,
    Month,
    Substring,
    Transform,
    Truncate,
    Unknown,
    Void,
    Year,
    parse_transform,
    result_type,
    supports,
    transform_of_text,
)

__all__ = [
    "Bucket",
    "Day",
    "Hour",
    "IdentityTransform",
    "Month",
    "Substring",
    "Transform",
    "Truncate",
    "Unknown",
    "Void",
    "Year",
    "exactness",
    "forward",
    "in_bucket",
    "is_transform",
    "of_partition_values",
    "parse_transform",
    "partition_interval",
    "preimage",
    "result_type",
    "supports",
    "transform",
    "transform_interval",
    "transform_of_text",
]
