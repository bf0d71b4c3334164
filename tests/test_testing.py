"""assert_prunes, as a function and as the fixture that a user's tests ask for."""

import pytest

from support.lakes import delta_users, empty
from whyscan.demo.lake import write_lake
from whyscan.errors import UnknownColumn
from whyscan.table import Table
from whyscan.testing import assert_prunes

pytest_plugins = ["pytester"]

BOTH = "country = 'DE' AND age > 40"


@pytest.mark.parametrize(
    "gates", [{}, {"min_pruning": 80}, {"max_files": 1, "require_partition_filter": True}]
)
def test_what_prunes_passes_and_gives_its_report(gates):
    report = assert_prunes(Table(delta_users()), BOTH, **gates)

    assert report.files_level.kept == 1


@pytest.mark.parametrize(
    ("predicate", "gates"),
    [
        ("age > 0", {}),
        (BOTH, {"min_pruning": 90}),
        ("age > 40", {"require_partition_filter": True}),
    ],
)
def test_what_does_not_fails_with_the_report(predicate, gates):
    with pytest.raises(AssertionError, match="reads too much\n\nreads ") as failure:
        assert_prunes(Table(delta_users()), predicate, **gates)

    assert "conjunct" in str(failure.value)


def test_an_empty_table_reads_nothing():
    assert_prunes(Table(empty()), "x > 1")


def test_a_mistake_is_no_failed_assertion():
    with pytest.raises(UnknownColumn):
        assert_prunes(Table(delta_users()), "aeg > 40")
    with pytest.raises(TypeError):
        assert_prunes(Table(delta_users()), BOTH, min_prunning=90)


def test_the_fixture_works_in_a_users_tests(pytester, tmp_path):
    write_lake(tmp_path, force=False)
    pytester.makepyfile(
        f"""
        def test_good(assert_prunes):
            assert_prunes({str(tmp_path / "users")!r}, "country = 'DE'", max_files=2)

        def test_bad(assert_prunes):
            assert_prunes({str(tmp_path / "users")!r}, "age > 0", min_pruning=50)
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*'age > 0' reads too much*", "*fail  min_pruning: 0 %*"])
