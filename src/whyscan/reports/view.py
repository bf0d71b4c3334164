"""The view of a report: a list of blocks. One writer each makes text, Markdown and HTML of them.

| block | what it shows |
|---|---|
| `TitleBlock` | the answer in one sentence, and why |
| `FactsBlock` | names with their values |
| `GridBlock` | a table with a head |
| `FunnelBlock` | what is read on each level, with bars |
| `ScansBlock` | what each scan of a statement reads, and which scans are joined |
| `FilesBlock` | every file of a listing |
| `FindingsBlock`, `GatesBlock` | findings with their fixes; the results of gates |
| `CodeBlock` | SQL of several lines |
| `NotesBlock` | one sentence or more, each on a line of its own |
| `Section`, `Fold` | blocks below a title; a fold can be closed |

A text in a block is `str` (a sentence), `CodeSpan` (SQL), `NameSpan` (a path, table or column) or a
tuple of them. The writers escape every text, so a view contains the original ones.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from whyscan.reports.words import percent, sizes

if TYPE_CHECKING:
    from whyscan.reports.distribution import Distribution
    from whyscan.reports.findings import Finding
    from whyscan.reports.gates import Assertion, GatedAmount
    from whyscan.reports.levels import Level
    from whyscan.reports.listing import Listing
    from whyscan.reports.pages.bars import Segment


class CodeSpan(Struct, frozen=True):
    """SQL inside a sentence or a cell; its white space is collapsed."""

    text: str


class NameSpan(Struct, frozen=True):
    """A path, an address, a table or a column. Text shows a path from the reader's folder on."""

    text: str


class Histogram(Struct, frozen=True):
    """A distribution as small bars, on an axis of powers of two from `first` to `last`.

    `noun` is what is counted, `weighs` is true if the numbers are bytes. `ideal` marks one number.
    """

    distribution: Distribution
    noun: str
    first: int
    last: int
    weighs: bool = False
    ideal: int | None = None


Span: TypeAlias = str | CodeSpan | NameSpan | Histogram
Inline: TypeAlias = Span | tuple[Span, ...]


class Tone(StrEnum):
    """How a title is coloured: `bad` for a failure, `warn` for what needs attention."""

    PLAIN = "plain"
    WARN = "warn"
    BAD = "bad"


class TitleBlock(Struct, frozen=True):
    """The answer; `why` follows it behind a colon, on a page in a line of its own.

    Only pages show the other fields: the command, what the report is about, and what was read.
    """

    answer: str
    why: str | None = None
    command: str = ""
    subject: str = ""
    made: str | None = None

    @property
    def sentence(self) -> str:
        return self.answer if self.why is None else f"{self.answer}: {self.why}"


class NamedValue(Struct, frozen=True):
    """A name and its value; `beside` is said in a quieter colour behind it."""

    name: str
    value: Inline
    beside: Inline | None = None


class FactsBlock(Struct, frozen=True):
    """Names with their values."""

    rows: tuple[NamedValue, ...]


class Cell(Struct, frozen=True):
    """A cell of a grid.

    Each text of `below` has a line of its own. Only pages show `beside` and `bar`, and sort by
    `key`. `depth` indents the cell.
    """

    shown: Inline
    below: tuple[Inline, ...] = ()
    beside: Inline | None = None
    bar: tuple[Segment, ...] = ()
    key: float | str | None = None
    depth: int = 0


class Head(Struct, frozen=True):
    """The head of a column; numbers are aligned to the right.

    `meaning` names a column without a name for screen readers.
    """

    name: str
    number: bool = False
    meaning: str = ""


GridRow: TypeAlias = tuple[Cell | Inline, ...]


class GridBlock(Struct, frozen=True):
    """A table. `label` names it for screen readers.

    Text cuts the column at `flexible` where the page is too narrow, shows the first `shown` rows,
    and leaves a `detail` out. A reader can sort a `sortable` grid on a page; `sorted_by` is the
    column of its first order.
    """

    columns: tuple[Head, ...]
    rows: tuple[GridRow, ...]
    label: str = ""
    flexible: int = 0
    shown: int | None = None
    detail: bool = False
    sortable: bool = False
    sorted_by: int | None = None


class FunnelBlock(Struct, frozen=True):
    """What is read on each level, from manifests to row groups."""

    levels: tuple[Level, ...]
    label: str = "What is read"


class ScanRow(Struct, frozen=True):
    """What one scan reads, with its bar."""

    title: str
    read: GatedAmount
    bar: tuple[Segment, ...] = ()


class JoinedScans(Struct, frozen=True):
    """A join between two scans, by their positions; `kind` is SQL's word in lower case."""

    kind: str
    left: int
    right: int
    sql: str


class ScansBlock(Struct, frozen=True):
    """What each scan of a statement reads.

    Pages draw the joins as lines beside the scans, and a title leads to the fold of the scan. Text
    leaves a `detail` out.
    """

    rows: tuple[ScanRow, ...]
    joins: tuple[JoinedScans, ...] = ()
    detail: bool = False

    @property
    def grid(self) -> GridBlock:
        """The scans as a table."""
        heads = (Head("scan"), *(Head(name, number=True) for name in ("files", "share", "bytes")))
        rows = tuple(
            (
                NameSpan(row.title),
                f"{row.read.kept:,} of {row.read.total:,}",
                percent(row.read.kept, row.read.total),
                sizes(row.read.bytes_kept, row.read.bytes_total),
            )
            for row in self.rows
        )
        return GridBlock(heads, rows, label="Scans")


class FilesBlock(Struct, frozen=True):
    """Every file of a listing."""

    listing: Listing
    label: str = "Every file"


class FindingsBlock(Struct, frozen=True):
    """Findings; `change` is `new` or `gone` in a difference."""

    findings: tuple[Finding, ...]
    change: str | None = None


class GatesBlock(Struct, frozen=True):
    """The results of gates."""

    assertions: tuple[Assertion, ...]


class CodeBlock(Struct, frozen=True):
    """SQL under a name. Text shows the first lines, or all if `whole`."""

    name: str
    sql: str
    beside: str | None = None
    whole: bool = False


class NotesBlock(Struct, frozen=True):
    """Sentences; text shows the first `shown`."""

    lines: tuple[Inline, ...]
    shown: int | None = None


class Section(Struct, frozen=True):
    """Blocks below a title.

    Text and Markdown leave the title out if `quiet`. If `aside`, text leaves the title out and
    Markdown folds the section.
    """

    title: str
    blocks: tuple[Block, ...]
    quiet: bool = False
    aside: bool = False
    tone: Tone = Tone.PLAIN


class Fold(Struct, frozen=True):
    """Blocks that a reader opens. Text shows them below the title, and leaves out `detail`s."""

    title: Inline
    blocks: tuple[Block, ...]
    beside: Inline | None = None
    open: bool = False
    detail: bool = False


Block: TypeAlias = (
    TitleBlock
    | FactsBlock
    | GridBlock
    | FunnelBlock
    | ScansBlock
    | FilesBlock
    | FindingsBlock
    | GatesBlock
    | CodeBlock
    | NotesBlock
    | Section
    | Fold
)
Blocks: TypeAlias = tuple[Block, ...]


def cell_of(value: Cell | Inline) -> Cell:
    """Return the value as a cell."""
    return value if isinstance(value, Cell) else Cell(value)


def spans_of(value: Inline) -> tuple[Span, ...]:
    """Return the spans of a text."""
    return value if isinstance(value, tuple) else (value,)


def is_empty(block: Block) -> bool:
    """Say whether a block has nothing to show."""
    match block:
        case FactsBlock() | GridBlock() | ScansBlock():
            return not block.rows
        case FindingsBlock():
            return not block.findings
        case GatesBlock():
            return not block.assertions
        case NotesBlock():
            return not block.lines
        case Section() | Fold():
            return all(map(is_empty, block.blocks))
        case _:
            return False
