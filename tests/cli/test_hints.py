"""Mistakes on the command line: one line, a hint that helps, the right exit code."""

import pytest

from whyscan.cli.schema import DOCUMENTS

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
    "a storage option without a value": (
        ("explain", "users", "-w", "age = 1", "--option", "region"),
        (2, "--option takes KEY=VALUE", "write --option KEY=VALUE"),
    ),
    "a partition type without a column": (
        ("explain", "users", "-w", "age = 1", "--partition-type", "int"),
        (2, "--partition-type takes COLUMN=TYPE, not 'int'", "write --partition-type COLUMN=TYPE"),
    ),
    "a table without a name": (
        ("explain", "--sql", "SELECT 1", "--table", "users"),
        (2, "--table takes NAME=URI, not 'users'", "write --table NAME=URI"),
    ),
    "columns without a name": (
        ("scan", "users", "-s", "id,"),
        (2, "--select has an empty name: 'id,'", "write --select a,b"),
    ),
    "a gate of a table that there is not": (
        ("explain", "users", "-w", "age = 1", "--max-files", "x=1"),
        (
            2,
            "a gate is for 'x', but names of tables before gates go with --sql",
            "without --sql, TABLE is the one table: leave the name out",
        ),
    ),
    "a document that there is not": (
        ("schema", "reprot"),
        (
            2,
            "Invalid value for '[DOCUMENT]': 'reprot' is not one of "
            + ", ".join(map(repr, DOCUMENTS))
            + ".",
            "whyscan schema --help shows what there is",
        ),
    ),
    "a version of files": (
        ("explain", "users", "-w", "age = 1", "--at-version", "3"),
        (2, "Parquet tables have no version", "they keep only their newest state"),
    ),
    "a snapshot of a Delta table": (
        ("explain", "users-delta", "-w", "age = 1", "--snapshot", "3"),
        (2, "Delta tables have no snapshot", "name it by version or as_of"),
    ),
    "a branch that there is not": (
        ("explain", "archive", "-w", "mission = 'a'", "--ref", "zzz"),
        (3, "there is no branch or tag 'zzz'", "its branches and tags: main"),
    ),
    "a glob that matches nothing": (
        ("explain", "users/*/*.orc", "-w", "age = 1"),
        (
            3,
            "no file matches users/*/*.orc",
            "* matches a part of one name, ** matches folders of any depth",
        ),
    ),
    "an address without a bucket": (
        ("explain", "s3://", "-w", "age = 1"),
        (2, "s3:// names no bucket or host", "write s3://NAME/PATH"),
    ),
    "no name of a table": (
        ("explain", " ", "-w", "age = 1"),
        (
            2,
            "an empty path names no table",
            (
                "a table is a folder, a metadata.json, a Parquet file, a quoted glob or "
                "catalog.namespace.table"
            ),
        ),
    ),
}
FILES = {
    "a file of 0 bytes": (
        ("a.parquet", b""),
        "{path} is empty",
        "a file of 0 bytes is what a failed writer leaves; Spark skips it, too",
    ),
    "a file that is no Parquet file": (
        ("notes.txt", b"hi\n"),
        "cannot read {path}: 3 bytes are no Parquet file",
        "name the Parquet files by a glob: FOLDER/**/*.parquet",
    ),
    "no file": (
        ("", b""),
        "there is no {path}",
        (
            "a table is a folder, a metadata.json, a Parquet file, a quoted glob or "
            "catalog.namespace.table"
        ),
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


@pytest.mark.parametrize(("file", "message", "hint"), FILES.values(), ids=FILES)
def test_a_file_that_is_no_table_is_named_with_a_hint(whyscan, tmp_path, file, message, hint):
    name, content = file
    path = tmp_path / (name or "zzz")
    if name:
        path.write_bytes(content)

    run = whyscan("explain", path, "-w", "a = 1")

    assert (run.code, run.out) == (3, "")
    assert run.err == f"error: {message.format(path=path)}\nhint: {hint}\n"


def test_names_of_python_are_options_too(whyscan):
    by_name = whyscan("explain", "users-delta", "-w", "age = 1", "--storage", "cache=off")
    at_snapshot = whyscan("explain", "archive", "-w", "mission = 'a'", "--snapshot", "1")

    assert (by_name.code, at_snapshot.code) == (0, 0)
