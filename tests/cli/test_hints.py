"""Mistakes on the command line: one line, a hint that helps, the right exit code."""

import pytest

# Words on the command line, the exit code, what the error says, and its hint.
MISTAKES = {
    "text without quotes": (
        ("explain", "users", "-w", "country = DE"),
        (3, "unknown column 'DE'", "did you mean 'DE'?"),
    ),
    "text without quotes on the left": (
        ("explain", "users", "-w", "DE <> country"),
        (3, "unknown column 'DE'", "did you mean 'DE'?"),
    ),
    "text without quotes in a list": (
        ("explain", "users", "-w", "country IN (DE, 'FR')"),
        (3, "unknown column 'DE'", "did you mean 'DE'?"),
    ),
    "text without quotes in a range": (
        ("explain", "users", "-w", "country BETWEEN 'A' AND Zz"),
        (3, "unknown column 'Zz'", "did you mean 'Zz'?"),
    ),
    "double quotes that are a name": (
        ("explain", "users", "-w", 'country = "DE"', "--dialect", "trino"),
        (3, "unknown column 'DE'", "did you mean 'DE'?"),
    ),
    "a near column comes first": (
        ("explain", "users", "-w", "country = countri"),
        (3, "unknown column 'countri'", "did you mean country or 'countri'?"),
    ),
    "two names that are none": (
        ("explain", "users", "-w", "AIR = SEA"),
        (3, "unknown column 'AIR'", "the columns are id, age, country"),
    ),
    "beside a number quotes do not help": (
        ("explain", "users", "-w", "age = DE"),
        (3, "unknown column 'DE'", "the columns are id, age, country"),
    ),
    "text without quotes in a statement": (
        ("explain", "--sql", "SELECT * FROM u WHERE u.country = DE", "--table", "u=users"),
        (3, "unknown column 'de'", "did you mean 'DE'?"),
    ),
    "a command": (
        ("explian", "users"),
        (2, "No such command 'explian'.", "did you mean explain?"),
    ),
    "another command": (
        ("stat", "users"),
        (2, "No such command 'stat'.", "did you mean stats?"),
    ),
    "no command at all": (
        ("zzz",),
        (2, "No such command 'zzz'.", "whyscan --help shows what there is"),
    ),
    "a command of a command": (
        ("cache", "claer"),
        (2, "No such command 'claer'.", "did you mean clear?"),
    ),
    "an option": (
        ("explain", "users", "--wehre", "age = 1"),
        (2, "No such option '--wehre'.", "did you mean --where?"),
    ),
    "a longer option": (
        ("explain", "users", "-w", "age = 1", "--min-prunning", "3"),
        (2, "No such option '--min-prunning'.", "did you mean --min-pruning?"),
    ),
    "an option like nothing": (
        ("explain", "users", "--zzz"),
        (2, "No such option '--zzz'.", "whyscan explain --help shows what there is"),
    ),
}


@pytest.mark.parametrize(("words", "outcome"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_and_a_hint(whyscan, words, outcome):
    run = whyscan(*words)
    lines = run.err.splitlines()

    assert run.out == ""
    assert (run.code, lines[0], lines[-1]) == (
        outcome[0],
        f"error: {outcome[1]}",
        f"hint: {outcome[2]}",
    )
