"""Verifications for tests: every one rendered, and its JSON held to the schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from support.formats import markdown, text
from support.schemas import valid
from whyscan.reports.document import to_json
from whyscan.spark import verify

if TYPE_CHECKING:
    from whyscan.spark.stages.verify.result import TableProof, Verification


def rendered(verification: Verification) -> dict:
    """The document, once the schema has nothing to say against it and all renderers have run."""
    document = valid("verify", json.loads(to_json(verification)))
    assert text(verification).endswith("\n")
    assert markdown(verification).endswith("\n")
    return document


def verified(spark, table, *predicates: str, **options) -> Verification:
    """A verification of one table, without engines unless they are asked for."""
    verification = verify(spark, str(table), predicates, **{"engines": [], **options})
    rendered(verification)
    return verification


def proven(spark, table, *predicates: str, **options) -> TableProof:
    """The proof of one table, of which nothing is unsound and all was evaluated."""
    verification = verified(spark, table, *predicates, **options)
    assert verification.exit_code == 0, text(verification)
    return verification.tables[0]
