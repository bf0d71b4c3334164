"""The reasons for which a condition of a statement does not filter a scan, with their words."""

from __future__ import annotations

from enum import StrEnum


class StayReason(StrEnum):
    """Why a condition stays above a scan instead of filtering it."""

    LIMIT = "LIMIT"
    OFFSET = "OFFSET"
    TABLESAMPLE = "TABLESAMPLE"
    FINAL = "FINAL"
    MATCH_RECOGNIZE = "MATCH_RECOGNIZE"
    CONNECT_BY = "CONNECT_BY"
    SELECT_AS = "SELECT_AS"
    PIVOT = "PIVOT"
    PIVOTED = "PIVOTED"
    DISTINCT_ON = "DISTINCT_ON"
    GROUP_BY = "GROUP_BY"
    WINDOW = "WINDOW"
    NOT_DETERMINISTIC = "NOT_DETERMINISTIC"
    MATCHED_BY_NAME = "MATCHED_BY_NAME"
    RECURSIVE = "RECURSIVE"
    COMPUTED_FROM_MANY_ROWS = "COMPUTED_FROM_MANY_ROWS"
    NOT_UNDERSTOOD = "NOT_UNDERSTOOD"
    SEVERAL_TABLES = "SEVERAL_TABLES"
    JOIN_KEEPS_ROWS = "JOIN_KEEPS_ROWS"
    ROWS_BY_SOURCE = "ROWS_BY_SOURCE"
    NOT_ON_ROWS = "NOT_ON_ROWS"
    AT_RUN_TIME = "AT_RUN_TIME"
    MUST_NOT_MOVE = "MUST_NOT_MOVE"
    """The condition itself is the reason: it has a subquery, or it is not understood."""


REASON_WORDS = {
    StayReason.LIMIT: "it stands above LIMIT",
    StayReason.OFFSET: "it stands above OFFSET",
    StayReason.TABLESAMPLE: "it stands above TABLESAMPLE",
    StayReason.FINAL: "it stands above FINAL, which merges rows",
    StayReason.MATCH_RECOGNIZE: "it stands above MATCH_RECOGNIZE",
    StayReason.CONNECT_BY: "it stands above CONNECT BY",
    StayReason.SELECT_AS: "it stands above SELECT AS",
    StayReason.PIVOT: "it stands above PIVOT",
    StayReason.PIVOTED: "it is pivoted",
    StayReason.DISTINCT_ON: "it stands above DISTINCT ON",
    StayReason.GROUP_BY: "it stands above GROUP BY",
    StayReason.WINDOW: "it stands above a window function",
    StayReason.NOT_DETERMINISTIC: "it stands above what is not deterministic",
    StayReason.MATCHED_BY_NAME: "it is matched by name",
    StayReason.RECURSIVE: "it is recursive",
    StayReason.COMPUTED_FROM_MANY_ROWS: "it is computed from many rows, or by what is not "
    "understood",
    StayReason.NOT_UNDERSTOOD: "it is computed by what is not understood",
    StayReason.SEVERAL_TABLES: "it compares columns of several tables",
    StayReason.JOIN_KEEPS_ROWS: "a join keeps rows that fail it",
    StayReason.ROWS_BY_SOURCE: "WHEN NOT MATCHED BY SOURCE acts on rows that fail it",
    StayReason.NOT_ON_ROWS: "it cannot be evaluated on rows",
    StayReason.AT_RUN_TIME: "its values are known when the query runs",
    StayReason.MUST_NOT_MOVE: "it must not be moved",
}
