"""The options that several commands share, and functions that read their values."""

from __future__ import annotations

import stat
import sys
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct, structs
from msgspec.structs import asdict

from whyscan.cli import suggestions
from whyscan.cli.output import file_page, terminal_page, write, write_file
from whyscan.cli.parameters import PERCENT, SIZE, TableValue, pairs
from whyscan.errors import UsageError
from whyscan.table import open as open_table
from whyscan.tables import budget
from whyscan.tables.storage.environment import with_variables
from whyscan.terms import SAMPLE_BYTES, PlanTerms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from whyscan.reports.text_layout import Page
    from whyscan.table import Table

Record = TypeVar("Record", bound=Struct)
Code = TypeVar("Code", int, None)

GATE_FAILED = 1
_LONGEST = 1 << 26


class StorageOptions(Struct, frozen=True):
    """The options of `STORAGE`."""

    partition_types: tuple[str, ...]
    storage: tuple[str, ...]
    no_cache: bool
    as_files: bool


class VersionOptions(Struct, frozen=True):
    """The options of `VERSION`."""

    at_version: int | None
    at_snapshot: int | None
    as_of: str | None
    ref: str | None

    def by_option(self) -> dict[str, object]:
        """Return the values by the names of their options."""
        return {f"--{name.replace('_', '-')}": value for name, value in asdict(self).items()}


class PriceOptions(Struct, frozen=True):
    """The options of `PRICES`."""

    price: str | None
    request_price: str | None


class GateOptions(Struct, frozen=True):
    """The options of `GATES`.

    A threshold is a pair: the name of a table, None for all that is read, and the number.
    """

    min_pruning: tuple[tuple[str | None, float], ...]
    min_pruning_bytes: tuple[tuple[str | None, float], ...]
    max_files: tuple[tuple[str | None, int], ...]
    max_bytes: tuple[tuple[str | None, int], ...]
    max_cost: tuple[tuple[str | None, float], ...]
    assert_stats: bool
    assert_stats_columns: str | None
    require_partition_filter: bool
    assert_stats_of: tuple[str, ...]
    require_partition_filter_of: tuple[str, ...]
    baseline: Path | None
    update_baseline: bool


GROUPS = frozenset({StorageOptions, VersionOptions, PriceOptions, GateOptions, PlanTerms})
"""Records of options that several commands share; `PlanTerms` has those of `TERMS`."""


def with_options(record: type[Record]) -> Callable[[Callable[[Record], Code]], Callable[..., Code]]:
    """Make a click callback of a function that takes its options as one record.

    A field of the record is an option, or one of `GROUPS`.
    """

    def decorate(run: Callable[[Record], Code]) -> Callable[..., Code]:
        @wraps(run)
        def called(**values: object) -> Code:
            fields = {
                field.name: _record(field.type, values)
                if field.type in GROUPS
                else values[field.name]
                for field in structs.fields(record)
            }
            return run(record(**fields))

        return called

    return decorate


def _record(group: type[Record], values: Mapping[str, object]) -> Record:
    return group(**{name: values[name] for name in group.__struct_fields__ if name in values})


def options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Combine several options into one decorator; --help lists them in this order."""

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def predicate(*, required: bool, default: str = "") -> Callable[[Any], Any]:
    """Make the option `--where`; `default` is the text about what happens without it."""
    return click.option(
        "-w",
        "--where",
        "predicate",
        required=required,
        metavar="PREDICATE",
        help="Use this WHERE condition; @FILE reads it from a file, - from standard input."
        f"{default}",
    )


PREDICATE = predicate(required=True)

VERSION = options(
    click.option("--at-version", type=int, metavar="N", help="Read this version of a Delta table."),
    click.option(
        "--at-snapshot",
        "--snapshot",
        type=int,
        metavar="ID",
        help="Read this snapshot of an Iceberg table.",
    ),
    click.option(
        "--as-of", metavar="TIMESTAMP", help="Read the version at this time, in UTC by default."
    ),
    click.option("--ref", metavar="NAME", help="Read this branch or tag of an Iceberg table."),
)

TERMS = options(
    click.option(
        "--dialect",
        default="spark",
        show_default=True,
        help="Read SQL in this dialect.",
        shell_complete=suggestions.dialects,
    ),
    click.option(
        "--timezone",
        default="UTC",
        show_default=True,
        help="Use this session time zone for SQL.",
        shell_complete=suggestions.timezones,
    ),
    click.option(
        "--depth",
        default="auto",
        show_default=True,
        metavar="files|row-groups|pages|dictionary|auto",
        shell_complete=suggestions.depths,
        help="Check containers down to this level; auto opens the footers of at most 1,000 files.",
    ),
    click.option("--full", is_flag=True, help="Open all metadata, so that every number is exact."),
    click.option("--assume-no-nan", is_flag=True, help="Assume that no value is NaN."),
)


def _limit_memory(context: click.Context, _: click.Parameter, size: int | None) -> None:
    """Set the memory limit for the time of the command; child processes inherit it."""
    if size is not None and not context.resilient_parsing:
        context.with_resource(with_variables({budget.VARIABLE: str(size)}))


MEMORY = click.option(
    "--memory",
    type=SIZE,
    metavar="SIZE",
    expose_value=False,
    callback=_limit_memory,
    help="Use at most this much memory for one file. "
    f"[default: WHYSCAN_MEMORY, else {budget.DEFAULT}]",
)

STORAGE = options(
    click.option(
        "--partition-type",
        "partition_types",
        multiple=True,
        metavar="COLUMN=TYPE",
        help="Set the type of a Hive partition column: month=int. [default: inferred]",
    ),
    click.option(
        "--option",
        "--storage",
        "storage",
        multiple=True,
        metavar="KEY=VALUE",
        help="Set an option of the object store, beside those of the environment.",
    ),
    click.option(
        "--no-cache",
        is_flag=True,
        help="Use no cache on this machine for metadata of an object store.",
    ),
    click.option(
        "--as-files",
        is_flag=True,
        help="Open a folder inside a table as plain files, with rows that the table deleted.",
    ),
    MEMORY,
)

SAMPLE = options(
    click.option(
        "--sample",
        type=SIZE,
        default=SAMPLE_BYTES,
        show_default=True,
        metavar="SIZE",
        help="Read at most this many bytes of the table's rows for a layout.",
    ),
    click.option(
        "--no-sample",
        is_flag=True,
        help="Read no row for a layout, and tell what the bounds of today's files prove.",
    ),
)

LAYOUT = options(
    click.option(
        "--layout",
        "layouts",
        multiple=True,
        metavar="[NAME:]LAYOUT",
        help="Plan the table as it would be in another layout: 'partition by day(ts) sort by id "
        "file size 256MB', 'zorder by a, b', 'cluster by a, b'. For a table of a whole "
        "statement, its name stands first: 'events: sort by id'.",
    ),
    SAMPLE,
)

OUTPUT = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the report to this file. [default: standard output]",
)


def gate(name: str, kind: click.ParamType[Any], metavar: str, about: str) -> Callable[[Any], Any]:
    """Make an option for a threshold, for the whole statement or, with a name, for one table."""
    return click.option(
        name, type=TableValue(kind), multiple=True, metavar=f"[NAME=]{metavar}", help=about
    )


class WithColumnsOfStatistics(click.Command):
    """A command that reads `--assert-stats=a,b` as columns, and `--assert-stats` as a flag."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        named = [
            arg.replace("--assert-stats=", "--assert-stats-columns=", 1)
            if arg.startswith("--assert-stats=")
            else arg
            for arg in args[:end]
        ]
        return super().parse_args(ctx, [*named, *args[end:]])


def asserted_statistics(arguments: GateOptions) -> bool | list[str]:
    """Return the columns that need statistics in every file; True means the predicate's."""
    if arguments.assert_stats_columns is not None:
        words = [name.strip() for name in arguments.assert_stats_columns.split(",")]
        names = [word for word in words if word]
        if not names:
            raise UsageError("--assert-stats= names no column", hint="--assert-stats=a,b")
        return names
    return arguments.assert_stats


REDACT = click.option(
    "--redact", is_flag=True, help="Hide literals and values in the report, for sharing."
)

PRICES = options(
    click.option(
        "--price",
        metavar="N/SIZE",
        help="Show what the bytes cost that are read, at this price: 5/TB. [default: no cost]",
    ),
    click.option(
        "--request-price",
        metavar="N/COUNT",
        help="Show what requests cost, one for each file, at this price: 0.0004/1000.",
    ),
)


def refuse_cost_without_price(limit: object, prices: PriceOptions) -> None:
    """Raise an error for `--max-cost` if no price is given."""
    if limit not in {None, ()} and prices.price is None and prices.request_price is None:
        raise UsageError("--max-cost needs a price", hint="add --price 5/TB, for example")


GATES = options(
    gate(
        "--min-pruning", PERCENT, "PCT", "Fail when less than this percentage of files is skipped."
    ),
    gate(
        "--min-pruning-bytes",
        PERCENT,
        "PCT",
        "Fail when less than this percentage of bytes is skipped.",
    ),
    gate("--max-files", click.IntRange(min=0), "N", "Fail when more than N files are read."),
    gate("--max-bytes", SIZE, "SIZE", "Fail when more bytes than this are read: 10GB, 500MiB."),
    gate(
        "--max-cost",
        click.FloatRange(min=0),
        "COST",
        "Fail when reading costs more than this, at the prices of --price and --request-price.",
    ),
    click.option(
        "--assert-stats",
        is_flag=True,
        help="Fail when a file lacks statistics of the predicate's columns; without -w, of any "
        "column; with --assert-stats=a,b, of a and b.",
    ),
    click.option("--assert-stats-columns", metavar="COLS", hidden=True),
    click.option(
        "--require-partition-filter",
        is_flag=True,
        help="Fail unless a condition on partition columns can skip files.",
    ),
    click.option(
        "--assert-stats-of",
        multiple=True,
        metavar="NAME",
        help="Fail when a file of this table of --sql lacks statistics of columns that filter it.",
    ),
    click.option(
        "--require-partition-filter-of",
        multiple=True,
        metavar="NAME",
        help="Fail unless a condition on partition columns of this table of --sql can skip files.",
    ),
    click.option(
        "--baseline",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Fail when less is skipped than this file says; it may exempt tables from gates.",
    ),
    click.option(
        "--update-baseline",
        is_flag=True,
        help="Write what is skipped now into the file of --baseline.",
    ),
)


def form(*forms: str, about: str = "Write the report in this format.") -> Callable[[Any], Any]:
    """Make the option `--format` with the formats of one command."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help=about,
    )


def refuse(values: Mapping[str, object], *, beside: str, hint: str) -> None:
    """Raise an error for the first of these options that has a value."""
    for option, value in values.items():
        if value not in {None, ()}:
            raise UsageError(f"{option} does not go with {beside}", hint=hint)


def read_predicate(predicate: str) -> str:
    """Return the text of the predicate: the argument itself, a file or standard input."""
    return _read(
        predicate, "predicate", "-w @FILE reads a file, -w 'a = 1' is the condition itself"
    )


def read_statement(sql: str) -> str:
    """Return the text of the statement: the argument itself, a file or standard input."""
    hint = "--sql @FILE reads a file, --sql 'SELECT 1' is the query itself"
    return _read(sql, "statement", hint)


def _read(word: str, noun: str, hint: str) -> str:
    if word != "-" and not word.startswith("@"):
        return word
    if word == "-":
        where, source = "standard input", sys.stdin.read
    else:
        where, source = word[1:], lambda _: read_regular(Path(word[1:]))
    try:
        text = source(_LONGEST + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        why = "it is not UTF-8" if isinstance(error, UnicodeError) else why
        raise UsageError(f"cannot read the {noun} from {where}: {why}", hint=hint) from error
    if len(text) > _LONGEST:
        raise UsageError(f"the {noun} from {where} is longer than {_LONGEST:,} characters")
    return text.removeprefix("\ufeff").strip()


def read_regular(path: Path) -> str:
    """Return the text of a regular file. A pipe or a device may never end."""
    facts = path.stat()
    if stat.S_ISDIR(facts.st_mode):
        raise ValueError("it is a folder")
    if not stat.S_ISREG(facts.st_mode):
        raise ValueError("it is not a regular file; - reads standard input")
    if facts.st_size > _LONGEST:
        raise ValueError(f"it is longer than {_LONGEST:,} bytes")
    return path.read_text("utf-8-sig")


def columns(select: str | None) -> list[str] | None:
    """Return the columns that `--select` names; None for all."""
    if select is None:
        return None
    names = [name.strip() for name in select.split(",")]
    if not all(names):
        raise UsageError(f"--select has an empty name: {select!r}", hint="write --select a,b")
    return names


def opened(
    places: str | Sequence[str],
    version: VersionOptions,
    store: StorageOptions,
    inventory: str | None = None,
) -> Table:
    """Open the table at the version that the options name."""
    return open_table(
        places,
        version=version.at_version,
        snapshot=version.at_snapshot,
        as_of=version.as_of,
        ref=version.ref,
        storage=storage(store),
        partition_types=partition_types(store),
        inventory=inventory,
    )


def partition_types(store: StorageOptions) -> dict[str, str]:
    """Return the types of Hive partition columns by column name."""
    return pairs("--partition-type", store.partition_types, "COLUMN=TYPE")


def partition_types_of_tables(store: StorageOptions) -> dict[str, dict[str, str]]:
    """Return the types of `NAME.COLUMN=TYPE`, by table and column."""
    types: dict[str, dict[str, str]] = {}
    for word, kind in partition_types(store).items():
        name, dot, column = word.rpartition(".")
        if not dot:
            raise UsageError(f"--partition-type takes NAME.COLUMN=TYPE, not {word}={kind}")
        types.setdefault(name, {})[column] = kind
    return types


def storage(store: StorageOptions) -> dict[str, str]:
    """Return the storage options."""
    cache = {"cache": "off"} if store.no_cache else {}
    as_files = {"as_files": "on"} if store.as_files else {}
    return pairs("--option", store.storage) | cache | as_files


def deliver(render: Callable[[Page], str], output: Path | None) -> None:
    """Write a report to standard output, or to a file."""
    if output is None:
        write(render(terminal_page()))
    else:
        write_file(render(file_page()), output)
