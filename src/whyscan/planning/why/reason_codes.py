"""The closed list of reasons for which a file is kept."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Why a file is kept; where several reasons apply, the first of this list is named.

    | code | the file is kept because |
    |---|---|
    | MATCHES_ALL | every row matches |
    | NAN_POSSIBLE | only NaN could match, and no statistic says that there is none |
    | NULLS_UNKNOWN | NULLs were not counted: a count of zero would settle it |
    | TRUNCATED_BOUND | a bound was cut off, and the real value could exclude the file |
    | OLD_SPEC | it was written before the table was partitioned by a column of the predicate |
    | TRANSFORM_LOSSY | its partition is a hash of the column, which says nothing about a range |
    | NO_STATISTICS | a column of the predicate has no bounds in it |
    | TYPE_MISMATCH | the column is compared as another type, in which its bounds are no bounds |
    | UNINTERPRETED | a part of the predicate cannot be evaluated from metadata |
    | DELETE_VECTOR_LOOSE | its bounds are older than its deletes, and may come from deleted rows |
    | STRADDLES | the bounds reach across the condition: some rows may match |
    """

    MATCHES_ALL = "MATCHES_ALL"
    NAN_POSSIBLE = "NAN_POSSIBLE"
    NULLS_UNKNOWN = "NULLS_UNKNOWN"
    TRUNCATED_BOUND = "TRUNCATED_BOUND"
    OLD_SPEC = "OLD_SPEC"
    TRANSFORM_LOSSY = "TRANSFORM_LOSSY"
    NO_STATISTICS = "NO_STATISTICS"
    TYPE_MISMATCH = "TYPE_MISMATCH"
    UNINTERPRETED = "UNINTERPRETED"
    DELETE_VECTOR_LOOSE = "DELETE_VECTOR_LOOSE"
    STRADDLES = "STRADDLES"
