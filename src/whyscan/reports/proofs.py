"""What each kind of evidence proves, and what it does not prove."""

from __future__ import annotations

from whyscan.fields import Record, Word


class Proof(Record, frozen=True):
    """One kind of evidence, what it proves, and what it leaves open."""

    evidence: Word
    proves: Word
    leaves_open: Word


PROOFS = (
    Proof(
        "an engine's plan",
        "that a filter was handed to the scan",
        "that the scan skips anything by it, or that it need not be checked again",
    ),
    Proof(
        "an engine's run",
        "what that run read, with that engine and its settings, of that version",
        "what another predicate, version or engine would read",
    ),
    Proof(
        "partition metadata",
        "what every row of a file has in its partition columns: an exact filter is enforced",
        "anything of other columns, or of a source column within one value of its transform",
    ),
    Proof(
        "file metadata",
        "that no row of a file lies outside the bounds: a file outside the range is skipped",
        "that a row lies inside: bounds may be wide, cut off, or older than deletes",
    ),
    Proof(
        "row-group metadata",
        "the same of a part of a file, from its footer",
        "that an engine reads footers before it reads the rest, or skips by them",
    ),
)
