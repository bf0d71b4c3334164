"""Partition transforms, read backwards: from a partition value to where its source lies.

`preimage` is the law, `partition_interval` adds what NULL says, `forward` goes the other way for
literals, and `in_bucket` does so for the one transform that cannot be read backwards.
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
    Transform,
    Truncate,
    Unknown,
    Void,
    Year,
    parse_transform,
    result_type,
    supports,
)

__all__ = [
    "Bucket",
    "Day",
    "Hour",
    "IdentityTransform",
    "Month",
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
    "transform_interval",
]
