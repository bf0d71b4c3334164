"""Why a plan keeps what it keeps: conjuncts, causes, classes. It reads plans only."""

__all__ = [
    "attribution",
    "engine_words",
    "equivalence",
    "implied",
    "obstacles",
    "operands",
    "overlap_depth",
    "pushdown",
    "reason_codes",
    "reasons",
]
