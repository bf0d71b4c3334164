"""The list of mutants can be applied: `make mutants` applies it."""

import os

import pytest

from mutants import MUTANTS, SOURCE, path_of


@pytest.mark.skipif("WHYSCAN_SOURCE" in os.environ, reason="a mutant is being tested")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.why)
def test_the_broken_text_stands_exactly_once_in_the_source(mutant):
    assert path_of(mutant, SOURCE).read_text().count(mutant.old) == 1
