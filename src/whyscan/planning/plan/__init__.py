"""The plan of a scan: which containers of each level stay, and what each file still needs."""

__all__ = [
    "block_reasons",
    "blockwise",
    "duckdb_sql",
    "evidence",
    "file_scans",
    "judgement",
    "matching_rows",
    "mechanisms",
    "partition_values",
    "planner",
    "replan",
    "request",
    "scan_plan",
    "table_facts",
    "text_lengths",
    "truncated_bounds",
]
